"""Seq-CADA and CZSL-CA+res: two aligned variational auto-encoders, without and with replay.

Schonfeld, Ebrahimi, Sinha, Darrell and Akata, "Generalized zero- and few-shot learning via aligned
variational autoencoders", 2019; with a reservoir: Gautam, Parameswaran, Mishra and Sundaram,
"Generalized continual zero-shot learning", 2020. One auto-encoder for features x, one for
attributes a, and one latent space, in which each decoder understands the other's encoder:

    loss = sum over both y in {x, a}: |y - D_y(z_y)| + beta KL(q_y || N(0, 1))
         + gamma (|x - D_x(z_a)| + |a - D_a(z_x)|)                       cross-alignment
         + delta sqrt(|mean_x - mean_a|^2 + |deviation_x - deviation_a|^2)   distribution alignment

with L1 norms and weights that rise while training goes on. A linear softmax on latent points drawn
from the attributes' Gaussians classifies the means of the features' Gaussians. The published code
draws those of seen classes from encoded images instead; here images of past tasks are gone, so all
classes are treated alike.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from mczsl.methods.generative import GenerativeConfig, GenerativeMethod
from mczsl.methods.registry import register_method
from mczsl.nn.vae import GaussianEncoder, perceptron


class CADAConfig(GenerativeConfig):
    """Settings of the aligned auto-encoders.

    Fewer epochs at a higher rate, and a classifier that is not trained out, were chosen on
    validation classes of CUB and AWA1; the preset ``paper`` has the published numbers.
    """

    latent: int = Field(64, ge=1, description="dimensions of the latent space")
    rate: float = Field(3e-4, gt=0, description="learning rate of Adam")
    epochs: int = Field(10, ge=1)
    classifier_rate: float = Field(2e-3, gt=0, description="learning rate of the classifier")
    feature_encoder: int = Field(1560, ge=1, description="hidden width of the features' encoder")
    feature_decoder: int = Field(1660, ge=1, description="the same of their decoder")
    attribute_encoder: int = Field(1450, ge=1, description="the same of the attributes' encoder")
    attribute_decoder: int = Field(665, ge=1, description="the same of their decoder")
    beta: float = Field(0.25, ge=0, description="last weight of the divergences")
    gamma: float = Field(2.37, ge=0, description="last weight of the cross-alignment")
    delta: float = Field(8.13, ge=0, description="last weight of the distribution alignment")


class SequentialCADAConfig(CADAConfig):
    """Settings without a memory."""

    memory: Literal["none"] = "none"


class VAE(nn.Module):
    """One of the two auto-encoders."""

    def __init__(self, dim: int, encoder_hidden: int, decoder_hidden: int, latent: int):
        super().__init__()
        self.encoder = GaussianEncoder(dim, encoder_hidden, latent)
        self.decoder = perceptron(latent, decoder_hidden, dim)


class AlignedVAEs(nn.Module):
    """Two auto-encoders that share a latent space."""

    def __init__(self, features: VAE, attributes: VAE):
        super().__init__()
        self.features, self.attributes = features, attributes


@register_method("cada_res")
class CADA(GenerativeMethod):
    """Aligned variational auto-encoders with a memory; classifies by generated latent points."""

    Config: ClassVar[type[CADAConfig]] = CADAConfig
    config: CADAConfig
    net: AlignedVAEs
    presets: ClassVar[dict[str, dict[str, Any]]] = {
        "paper": {
            "epochs": 100,
            "rate": 1.5e-4,
            "classifier_steps": 2000,
            "classifier_rate": 1e-3,
        }
    }

    def build_net(self) -> nn.Module:
        """An auto-encoder for features and one for attributes."""
        config, latent = self.config, self.config.latent
        features, attributes = self.setting.feature_dim, self.setting.attribute_dim
        return AlignedVAEs(
            VAE(features, config.feature_encoder, config.feature_decoder, latent),
            VAE(attributes, config.attribute_encoder, config.attribute_decoder, latent),
        )

    def loss(self, x: Tensor, a: Tensor, share: float, generator: torch.Generator) -> Tensor:
        """Sums over dimensions, means over samples; each alignment sets in at its time."""
        config, of_features, of_attributes = self.config, self.net.features, self.net.attributes
        q_x, q_a = of_features.encoder(x), of_attributes.encoder(a)
        z_x, z_a = q_x.sample(generator), q_a.sample(generator)
        own = _l1(x, of_features.decoder(z_x)) + _l1(a, of_attributes.decoder(z_a))
        cross = _l1(x, of_features.decoder(z_a)) + _l1(a, of_attributes.decoder(z_x))
        total: Tensor = (
            own
            + config.beta * _ramp(share, 0.0, 0.93) * (q_x.divergence() + q_a.divergence())
            + config.gamma * _ramp(share, 0.21, 0.75) * cross
            + config.delta * _ramp(share, 0.06, 0.22) * q_x.distance(q_a)
        )
        return total.mean()

    def generate(self, attributes: Tensor, shots: int, generator: torch.Generator) -> Tensor:
        """Points from the attributes' Gaussians, by the same noise for all classes."""
        q = self.net.attributes.encoder(attributes)
        noise = torch.randn(shots, 1, self.config.latent, generator=generator)
        points: Tensor = q.mean + q.deviation * noise.to(attributes.device)
        return points

    def represent(self, features: Tensor) -> Tensor:
        """The mean of a feature's Gaussian."""
        mean: Tensor = self.net.features.encoder(features).mean
        return mean


@register_method("seq_cada")
class SequentialCADA(CADA):
    """Aligned variational auto-encoders, trained task after task without memory."""

    Config: ClassVar[type[CADAConfig]] = SequentialCADAConfig


def _l1(one: Tensor, other: Tensor) -> Tensor:
    return (one - other).abs().sum(dim=1)


def _ramp(share: float, start: float, end: float) -> float:
    """From 0 at ``start`` to 1 at ``end``, and constant outside.

    >>> [_ramp(share, 0.25, 0.75) for share in (0.0, 0.5, 1.0)]
    [0.0, 0.5, 1.0]
    """
    return min(1.0, max(0.0, (share - start) / (end - start)))
