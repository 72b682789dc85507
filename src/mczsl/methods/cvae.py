"""Seq-CVAE and CZSL-CV+res: a conditional variational auto-encoder, without and with replay.

Mishra, Reddy, Mittal and Murthy, "A generative model for zero shot learning using conditional
variational autoencoders", 2018; with a reservoir: Gautam, Parameswaran, Mishra and Sundaram,
"Generalized continual zero-shot learning", 2020. Encoder and decoder both see the attributes a:

    q(z | x, a) = N(mean, variance),   x' = decoder(z, a)
    loss = |x - x'|^2 + beta KL(q || N(0, 1))

Features of any class are generated from noise and its attributes, and a linear softmax on them
classifies.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from mczsl.methods.generative import GenerativeConfig, GenerativeMethod
from mczsl.methods.registry import register_method
from mczsl.nn.vae import GaussianEncoder, perceptron


class CVAEConfig(GenerativeConfig):
    """Settings of the conditional auto-encoder.

    The defaults of the classifier were chosen on validation classes of CUB: trained for longer, it
    gives unseen classes away. The preset ``paper`` trains it out. The papers name no number of
    epochs for the auto-encoder; there it has those of CADA.
    """

    latent: int = Field(50, ge=1, description="dimensions of the latent space")
    hidden: int = Field(512, ge=1, description="width of the hidden layers")
    classifier_rate: float = Field(1.5e-4, gt=0, description="learning rate of the classifier")
    beta: float = Field(1.0, ge=0, description="weight of the Kullback-Leibler divergence")


class SequentialCVAEConfig(CVAEConfig):
    """Settings without a memory."""

    memory: Literal["none"] = "none"


class ConditionalVAE(nn.Module):
    """Encoder [x, a] -> z and decoder [z, a] -> x."""

    def __init__(self, feature_dim: int, attribute_dim: int, hidden: int, latent: int):
        super().__init__()
        self.encoder = GaussianEncoder(feature_dim + attribute_dim, hidden, latent)
        self.decoder = perceptron(latent + attribute_dim, hidden, feature_dim)


@register_method("cvae_res")
class CVAE(GenerativeMethod):
    """Conditional variational auto-encoder with a memory; classifies by generated features."""

    Config: ClassVar[type[CVAEConfig]] = CVAEConfig
    config: CVAEConfig
    net: ConditionalVAE
    presets: ClassVar[dict[str, dict[str, Any]]] = {
        "paper": {"epochs": 100, "classifier_steps": 1000, "classifier_rate": 1e-3}
    }

    def build_net(self) -> nn.Module:
        """Encoder and decoder, both conditioned on the attributes."""
        dims = self.setting.feature_dim, self.setting.attribute_dim
        return ConditionalVAE(*dims, self.config.hidden, self.config.latent)

    def loss(
        self, features: Tensor, attributes: Tensor, share: float, generator: torch.Generator
    ) -> Tensor:
        """Squared error and divergence, as sums over dimensions and means over samples."""
        latent = self.net.encoder(torch.cat([features, attributes], dim=1))
        found = self.net.decoder(torch.cat([latent.sample(generator), attributes], dim=1))
        error = (found - features).square().sum(dim=1)
        total: Tensor = error + self.config.beta * latent.divergence()
        return total.mean()

    def generate(self, attributes: Tensor, shots: int, generator: torch.Generator) -> Tensor:
        """Decoded noise, the same for all classes."""
        noise = torch.randn(shots, 1, self.config.latent, generator=generator)
        noise = noise.to(attributes.device).expand(-1, len(attributes), -1)
        conditions = attributes.expand(shots, -1, -1)
        found: Tensor = self.net.decoder(torch.cat([noise, conditions], dim=2))
        return found

    def represent(self, features: Tensor) -> Tensor:
        """Features are generated where they are."""
        return features


@register_method("seq_cvae")
class SequentialCVAE(CVAE):
    """Conditional variational auto-encoder, trained task after task without memory."""

    Config: ClassVar[type[CVAEConfig]] = SequentialCVAEConfig
