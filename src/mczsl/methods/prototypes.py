"""What all methods share that map a class's attributes to a prototype in feature space."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator
from typing import Literal

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn.functional import normalize

from mczsl.errors import DivergedError
from mczsl.memory import MEMORIES
from mczsl.methods.base import Method, MethodConfig, Progress, Scorer, Setting, State
from mczsl.nn.cosine import scale_attributes
from mczsl.protocols import ClassSet, JoinedSamples, Samples, Task
from mczsl.seeding import derive


class PrototypeConfig(MethodConfig):
    """Settings of a net from attributes to prototypes that are compared by cosine."""

    hidden: int = Field(1024, ge=1, description="width of the hidden layer")
    scale: float = Field(25.0, gt=0, description="factor on the cosine")
    learn_scale: bool = Field(False, description="train that factor with the net")
    attribute_scaling: Literal["l2", "raw"] = Field(
        "l2", description="unit length times the root of their number, or as they are"
    )
    feature_transform: Literal["none", "sqrt"] = Field(
        "none", description="signed square root of every feature before the cosine"
    )
    memory: Literal["reservoir", "ring", "none"] = Field(
        "reservoir", description="how past samples are kept for replay"
    )


class PrototypeMethod(Method):
    """Scores by ``scale * cos(x, net(attributes))``. Subclasses build the net and train it."""

    config: PrototypeConfig

    def __init__(self, config: PrototypeConfig, setting: Setting):
        super().__init__(config, setting)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(derive(setting.seeds.training, "weights"))
            self.net = self.build_net().to(setting.device)
        scale = torch.tensor(config.scale, device=setting.device)
        self.scale = nn.Parameter(scale, requires_grad=config.learn_scale)
        capacity = 0 if config.memory == "none" else setting.memory_capacity
        kind = MEMORIES["reservoir" if config.memory == "none" else config.memory]
        self.memory = kind(capacity, setting.feature_dim, setting.seeds.memory)

    @abstractmethod
    def build_net(self) -> nn.Module:
        """The net from scaled attributes (n, A) to prototypes (n, D)."""

    @abstractmethod
    def train(self, samples: Samples, task: Task) -> Iterator[Progress]:
        """Train the net on these samples: the task's own, then those from the memory."""

    def learn(self, task: Task) -> Iterator[Progress]:
        """Train on what arrives and what is remembered; then remember some of what arrived."""
        samples = task.samples
        if len(self.memory):
            samples = JoinedSamples(samples, self.memory.samples)
        self.net.train()
        for progress in self.train(samples, task):
            if progress.loss is not None and not math.isfinite(progress.loss):
                raise DivergedError(
                    f"{self.name}: the loss is {progress.loss} in task {task.index + 1}, epoch "
                    f"{progress.epoch}; try a lower learning rate"
                )
            yield progress
        self.memory.add(task.samples)

    def parameters(self) -> list[nn.Parameter]:
        """Everything that training may change."""
        return [*self.net.parameters(), self.scale]

    def logits(self, directions: Tensor, inputs: Tensor) -> Tensor:
        """Logits in training: of unit-length features against the net's inputs of some classes."""
        return self.scale * directions @ normalize(self.net(inputs), dim=1).T

    @torch.no_grad()
    def prototypes(self, classes: ClassSet) -> Tensor:
        """Unit-length prototypes (n, D) of any classes."""
        self.net.eval()
        return normalize(self.net(self.net_inputs(classes.attributes)), dim=1)

    def scorer(self, classes: ClassSet) -> Scorer:
        """Scores against the classes' prototypes, which are computed once."""
        weights = self.scale.detach() * self.prototypes(classes).T
        return lambda features: self.directions(features) @ weights

    def net_inputs(self, attributes: Tensor) -> Tensor:
        """Attributes as the net takes them."""
        attributes = attributes.to(self.setting.device)
        return scale_attributes(attributes) if self.config.attribute_scaling == "l2" else attributes

    def directions(self, features: Tensor) -> Tensor:
        """Features as the cosine takes them: transformed, with unit length."""
        features = features.to(self.setting.device)
        if self.config.feature_transform == "sqrt":
            features = features.abs().sqrt().copysign(features)
        return normalize(features, dim=1)

    def state(self) -> State:
        """The net's weights, the scale and the memory."""
        net = State({name: tensor.cpu() for name, tensor in self.net.state_dict().items()})
        own = State({"scale": self.scale.detach().cpu()})
        return own.with_part("net", net).with_part("memory", State(self.memory.state()))

    def load_state(self, state: State) -> None:
        """Take over weights, scale and memory."""
        self.net.load_state_dict(state.part("net").tensors)
        with torch.no_grad():
            self.scale.copy_(state.tensors["scale"])
        self.memory.load_state(state.part("memory").tensors)


def positions(wanted: Tensor, ids: Tensor) -> Tensor:
    """Where each of the ``wanted`` class numbers stands in ``ids``.

    >>> positions(torch.tensor([7, 3]), torch.tensor([3, 5, 7]))
    tensor([2, 0])
    """
    order = ids.argsort()
    return order[torch.searchsorted(ids[order], wanted)]
