"""What all methods share that train a net on a task's samples and on those a memory kept."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator
from typing import Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from mczsl.errors import DivergedError
from mczsl.memory import MEMORIES
from mczsl.methods.base import Method, MethodConfig, Progress, Setting, State
from mczsl.protocols import JoinedSamples, PreparedSamples, Samples, Task
from mczsl.seeding import derive


class ReplayConfig(MethodConfig):
    """Settings of the memory."""

    memory: Literal["reservoir", "ring", "none"] = Field(
        "reservoir", description="how past samples are kept for replay"
    )


class ReplayMethod(Method):
    """A net with a memory of past samples. Subclasses build the net and train it."""

    config: ReplayConfig

    def __init__(self, config: ReplayConfig, setting: Setting):
        super().__init__(config, setting)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(derive(setting.seeds.training, "weights"))
            self.net = self.build_net().to(setting.device)
        capacity = 0 if config.memory == "none" else setting.memory_capacity
        kind = MEMORIES["reservoir" if config.memory == "none" else config.memory]
        self.memory = kind(capacity, setting.feature_dim, setting.seeds.memory)
        self.seen = torch.empty(0, dtype=torch.int64)  # the numbers of the classes learned so far

    @property
    def memory_capacity(self) -> int | None:
        """How many samples of the past may be kept: none without a memory."""
        return self.memory.capacity

    @abstractmethod
    def build_net(self) -> nn.Module:
        """The net, with its first weights."""

    @abstractmethod
    def train(self, samples: Samples, task: Task) -> Iterator[Progress]:
        """Train the net on these prepared samples: the task's own, then those from the memory."""

    def prepare(self, features: Tensor) -> Tensor:
        """Features as training takes them."""
        return features.to(self.setting.device)

    def observe(self, samples: Samples) -> None:
        """Look at the samples that arrive, before anything is trained on them."""

    def learn(self, task: Task) -> Iterator[Progress]:
        """Train on what arrives and what is remembered; then remember some of what arrived."""
        self.observe(task.samples)
        samples = task.samples
        if len(self.memory):
            samples = JoinedSamples(samples, self.memory.samples)
        self.net.train()
        for progress in self.train(PreparedSamples(samples, self.prepare), task):
            if progress.loss is not None and not math.isfinite(progress.loss):
                raise DivergedError(
                    f"{self.name}: the loss is {progress.loss} in task {task.index + 1}, epoch "
                    f"{progress.epoch}; try a lower learning rate"
                )
            yield progress
            self.net.train()  # whoever looked on may have scored, which puts the net in test mode
        self.memory.add(task.samples)
        self.seen = task.seen.ids

    def state(self) -> State:
        """The net's weights, as copies that no further training changes, and the memory."""
        weights = self.net.state_dict().items()
        net = State({name: tensor.to("cpu", copy=True) for name, tensor in weights})
        own = State({"seen": self.seen})
        return own.with_part("net", net).with_part("memory", State(self.memory.state()))

    def load_state(self, state: State) -> None:
        """Take over weights and memory."""
        self.net.load_state_dict(state.part("net").tensors)
        self.memory.load_state(state.part("memory").tensors)
        self.seen = state.tensors["seen"]


def positions(wanted: Tensor, ids: Tensor) -> Tensor:
    """Where each of the ``wanted`` class numbers stands in ``ids``.

    >>> positions(torch.tensor([7, 3]), torch.tensor([3, 5, 7]))
    tensor([2, 0])
    """
    order = ids.argsort()
    return order[torch.searchsorted(ids[order], wanted)]
