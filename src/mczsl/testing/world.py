"""A small stream of tasks for the checks, in which everything out of sight is NaN."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray

from mczsl.protocols import ClassSet, TableSamples, Task
from mczsl.seeding import numpy_generator

FEATURES, ATTRIBUTES = 12, 6


@dataclass(frozen=True)
class World:
    """A stream of tasks: the classes that come with each, and unseen classes."""

    features: NDArray[np.float32]
    labels: NDArray[np.int64]
    attributes: dict[int, NDArray[np.float32]]
    tasks: tuple[tuple[int, ...], ...]
    unseen: tuple[int, ...]

    @property
    def seen(self) -> list[int]:
        """All classes that ever have samples, in order of arrival."""
        return [number for task in self.tasks for number in task]

    @property
    def samples(self) -> torch.Tensor:
        """All features, as a copy that a scorer may spoil."""
        return torch.from_numpy(self.features.copy())

    def classes(self, numbers: Sequence[int]) -> ClassSet:
        """These classes with their attributes."""
        rows = [self.attributes[number] for number in numbers]
        table = np.array(rows, np.float32).reshape(len(rows), ATTRIBUTES)
        return ClassSet(torch.tensor(numbers, dtype=torch.int64), torch.from_numpy(table))

    def task(self, index: int, with_unseen: bool, poisoned: bool = True) -> Task:
        """A task as a method gets it; everything outside of it is NaN if poisoned."""
        rows = np.flatnonzero(np.isin(self.labels, self.tasks[index]))
        table = self.features.copy()
        if poisoned:
            table[np.setdiff1d(np.arange(len(table)), rows)] = np.nan
        seen = [number for task in self.tasks[: index + 1] for number in task]
        unseen = self.classes(self.unseen if with_unseen else ())
        samples = TableSamples(table, self.labels, rows)
        return Task(index, samples, self.classes(seen), unseen, n_unseen=len(self.unseen))

    def relabelled(self, numbers: dict[int, int]) -> World:
        """The same world with other class numbers."""
        return World(
            self.features,
            np.array([numbers[label] for label in self.labels.tolist()]),
            {numbers[number]: row for number, row in self.attributes.items()},
            tuple(tuple(numbers[number] for number in task) for task in self.tasks),
            tuple(numbers[number] for number in self.unseen),
        )


def make_world(tasks: Sequence[Sequence[int]], n_unseen: int = 3) -> World:
    """A world in which each task is given by the sample counts of its new classes."""
    generator = numpy_generator(0, "check method")
    counts = [count for task in tasks for count in task] + [4] * n_unseen
    attributes = generator.random((len(counts), ATTRIBUTES)) ** 2 + 0.05
    mixing = generator.normal(size=(ATTRIBUTES, FEATURES))
    labels = np.repeat(np.arange(len(counts)), counts)
    noise = 0.1 * generator.normal(size=(len(labels), FEATURES))
    features = np.abs(attributes @ mixing)[labels] + np.abs(noise)
    ends = np.cumsum([0, *map(len, tasks)])
    return World(
        features.astype(np.float32),
        labels,
        dict(enumerate(attributes.astype(np.float32))),
        tuple(tuple(range(a, b)) for a, b in pairwise(ends)),
        tuple(range(ends[-1], len(counts))),
    )


WORLD = make_world([[8, 8, 8, 8], [8, 1, 8, 8], [8]])
"""Four classes, four more of which one has a single sample, one alone; three unseen classes."""
