"""What all methods share that map a class's attributes to a prototype in feature space."""

from __future__ import annotations

from typing import Literal

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn.functional import normalize

from mczsl.methods.base import Scorer, Setting, State
from mczsl.methods.replay import ReplayConfig, ReplayMethod, positions
from mczsl.nn.attributes import scale_attributes
from mczsl.protocols import ClassSet, Samples

__all__ = ["PrototypeConfig", "PrototypeMethod", "positions"]

_LOOKED_AT = 4096  # samples that tell whether features can be negative


class PrototypeConfig(ReplayConfig):
    """Settings of a net from attributes to prototypes that are compared by cosine."""

    hidden: int = Field(1024, ge=1, description="width of the hidden layer")
    scale: float = Field(25.0, gt=0, description="factor on the cosine")
    learn_scale: bool = Field(False, description="train that factor with the net")
    attribute_scaling: Literal["l2", "raw"] = Field(
        "l2", description="unit length times the root of their number, or as they are"
    )
    feature_transform: Literal["none", "sqrt"] = Field(
        "none", description="square root of every feature, if the first ones are never negative"
    )
    bf16: bool = Field(
        False, description="train in bfloat16: faster where the processor has it, slower elsewhere"
    )


class PrototypeMethod(ReplayMethod):
    """Scores by ``scale * cos(x, net(attributes))``. Subclasses build the net and train it."""

    config: PrototypeConfig

    def __init__(self, config: PrototypeConfig, setting: Setting):
        super().__init__(config, setting)
        scale = torch.tensor(config.scale, device=setting.device)
        self.scale = nn.Parameter(scale, requires_grad=config.learn_scale)
        self.rooted = False  # whether the square root is taken

    def observe(self, samples: Samples) -> None:
        """Take the square root of features that are never negative, as those behind a ReLU are."""
        if self.config.feature_transform == "sqrt" and not len(self.seen):
            first = torch.arange(min(len(samples.labels), _LOOKED_AT))
            self.rooted = bool((samples.take(first) >= 0).all())

    def parameters(self) -> list[nn.Parameter]:
        """Everything that training may change."""
        return [*self.net.parameters(), self.scale]

    def logits(self, directions: Tensor, inputs: Tensor) -> Tensor:
        """Logits in training: of prepared features against the net's inputs of some classes."""
        with torch.autocast(directions.device.type, torch.bfloat16, enabled=self.config.bf16):
            prototypes: Tensor = self.net(inputs)
            products = directions @ prototypes.T
        return products.float() * (self.scale / lengths(prototypes.float()))

    @torch.no_grad()
    def prototypes(self, classes: ClassSet) -> Tensor:
        """Unit-length prototypes (n, D) of any classes."""
        self.net.eval()
        return normalize(self.net(self.net_inputs(classes.attributes)), dim=1)

    def scorer(self, classes: ClassSet) -> Scorer:
        """Scores against the classes' prototypes, which are computed once."""
        with torch.no_grad():
            weights = self.class_weights(self.prototypes(classes)).T.contiguous()

        def score(features: Tensor) -> Tensor:
            transformed = self._transform(features)
            return (transformed @ weights).div_(lengths(transformed).unsqueeze(1))

        return score

    def class_weights(self, prototypes: Tensor) -> Tensor:
        """What a sample's direction is multiplied by to score it against unit-length prototypes."""
        return self.scale * prototypes

    def net_inputs(self, attributes: Tensor) -> Tensor:
        """Attributes as the net takes them."""
        attributes = attributes.to(self.setting.device)
        return scale_attributes(attributes) if self.config.attribute_scaling == "l2" else attributes

    def prepare(self, features: Tensor) -> Tensor:
        """Features as the cosine takes them."""
        return self.directions(features)

    def directions(self, features: Tensor) -> Tensor:
        """Features after the square root, if there is one, with unit length."""
        return normalize(self._transform(features), dim=1)

    def _transform(self, features: Tensor) -> Tensor:
        features = super().prepare(features)
        if self.rooted:  # in place, in a third of the time
            return features.abs().sqrt_().copysign_(features)
        return features

    def state(self) -> State:
        """The net's weights, the memory, the scale, and whether there is a square root."""
        shared = super().state()
        scale = self.scale.detach().to("cpu", copy=True)
        return State(shared.tensors | {"scale": scale}, shared.values | {"rooted": self.rooted})

    def load_state(self, state: State) -> None:
        """Take over what :meth:`state` gave."""
        super().load_state(state)
        self.rooted = bool(state.values["rooted"])
        with torch.no_grad():
            self.scale.copy_(state.tensors["scale"])


def lengths(vectors: Tensor) -> Tensor:
    """The Euclidean length of each row, never zero."""
    found: Tensor = torch.linalg.vector_norm(vectors, dim=1).clamp_min(1e-12)
    return found
