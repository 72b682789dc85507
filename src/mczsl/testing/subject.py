"""A method under test, and how its scores are taken."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
import torch
from torch import Tensor

from mczsl.evaluation.calibration import build_method
from mczsl.methods import get_method, make_config
from mczsl.methods.base import Method, Progress, Setting
from mczsl.seeding import Seeds
from mczsl.testing.world import ATTRIBUTES, FEATURES, WORLD, World


class CheckError(AssertionError):
    """A method breaks the contract; the message says which part of it."""


@dataclass(frozen=True)
class Subject:
    """A method under test."""

    name: str
    settings: dict[str, Any]
    seed: int = 0
    capacity: int = 40

    def build(self) -> Method:
        """The method, untrained."""
        config = make_config(get_method(self.name), settings=self.settings)
        seeds = Seeds(training=self.seed, memory=self.seed)
        setting = Setting(FEATURES, ATTRIBUTES, self.capacity, seeds)
        return build_method(self.name, config, setting)

    def learned(self, world: World = WORLD, poisoned: bool = True) -> Method:
        """The method after all tasks of a world."""
        method = self.build()
        for index in range(len(world.tasks)):
            for _ in self.steps(method, world, index, poisoned):
                pass
        return method

    def steps(
        self, method: Method, world: World, index: int, poisoned: bool = True
    ) -> Iterator[Progress]:
        """Learn one task, from a global random state that is never the same."""
        shake()
        yield from method.learn(world.task(index, method.uses_unseen_attributes, poisoned))

    def require(self, sound: bool, what: str) -> None:
        """Raise :class:`CheckError` unless sound."""
        if not sound:
            raise CheckError(f"{self.name}: {what}")


_never_the_same = count()


def shake() -> None:
    """Put the global random states where they never were."""
    torch.manual_seed(next(_never_the_same))
    np.random.seed(next(_never_the_same))
    random.seed(next(_never_the_same))


@torch.no_grad()
def scores(method: Method, world: World = WORLD) -> Tensor:
    """Scores of all samples against all classes, seen and unseen."""
    classes = world.classes([*world.seen, *world.unseen])
    return method.scores(world.samples, classes).cpu()
