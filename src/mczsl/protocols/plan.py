"""A protocol's plan: which classes and rows belong to each stage of a stream."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from mczsl.data import FeatureDataset
from mczsl.errors import ConfigError, DataError
from mczsl.protocols.task import ClassSet, TableSamples, Task
from mczsl.seeding import numpy_generator

Integers = NDArray[np.int64]

# Tasks and memory per class of the paper's five datasets, by folder name in lower case.
PAPER_TASKS = {"awa1": 5, "awa2": 5, "cub": 20, "sun": 15, "apy": 4}
PAPER_MEMORY_PER_CLASS = {"awa1": 25, "awa2": 25, "cub": 10, "sun": 5, "apy": 25}
CLASSES_PER_TASK, MOST_TASKS, MEMORY_PER_CLASS = 10, 20, 10  # the rule for any other dataset


@dataclass(frozen=True, eq=False)
class Stage:
    """One task's classes and rows, and what is tested after it."""

    new_classes: Integers
    train_rows: Integers
    seen: Integers
    unseen: Integers
    test_seen_rows: Integers
    test_unseen_rows: Integers


@dataclass(frozen=True, eq=False)
class Plan:
    """All stages of a protocol. The means are taken over the first ``scored`` of them."""

    protocol: str
    stages: tuple[Stage, ...]
    scored: int
    memory_capacity: int

    def task(self, dataset: FeatureDataset, index: int, with_unseen: bool = False) -> Task:
        """The part of stage ``index`` that a method may see."""
        stage = self.stages[index]
        unseen = stage.unseen if with_unseen else stage.unseen[:0]
        samples = TableSamples(dataset.features, dataset.labels, stage.train_rows)
        seen = class_set(dataset, stage.seen)
        return Task(index, samples, seen, class_set(dataset, unseen), len(stage.unseen))


def class_set(dataset: FeatureDataset, classes: Integers) -> ClassSet:
    """The classes of these numbers, with their attributes."""
    return ClassSet(
        torch.from_numpy(np.array(classes, dtype=np.int64)),
        torch.from_numpy(np.array(dataset.attributes[classes], dtype=np.float32)),
    )


def short_name(dataset: FeatureDataset) -> str:
    """The name in the paper's tables: ``synthetic:cub,difficulty=0.8`` counts as CUB."""
    return dataset.name.lower().removeprefix("synthetic:").partition(",")[0]


def require_test_images(dataset: FeatureDataset) -> None:
    """The published splits must leave something to measure on either side."""
    splits = dataset.splits
    for side, rows in (("a seen", splits.test_seen), ("an unseen", splits.test_unseen)):
        if not len(rows):
            raise DataError(
                f"{dataset.name}: no image of {side} class to test on; add some to the splits, or "
                "use the fixed protocol, which splits the images itself"
            )


def number_of_tasks(dataset: FeatureDataset, tasks: int | None, most: int) -> int:
    """The given K, else the paper's, else the dataset's own hint, else about ten classes a task."""
    if tasks is None:
        hint = PAPER_TASKS.get(short_name(dataset)) or int(dataset.provenance.get("tasks", 0))
        wanted = hint or min(MOST_TASKS, max(2, round(dataset.n_classes / CLASSES_PER_TASK)))
        return min(wanted, most)
    if not 1 <= tasks <= most:
        raise ConfigError(
            f"{tasks} tasks are not possible with {dataset.name}: every task needs a class of its "
            f"own, so choose from 1 to {most}"
        )
    return tasks


def memory_capacity(dataset: FeatureDataset, per_class: int | None, n_classes: int) -> int:
    """How many samples a memory may hold: so many for each class that will ever be seen."""
    if per_class is None:
        per_class = PAPER_MEMORY_PER_CLASS.get(short_name(dataset), MEMORY_PER_CLASS)
    return per_class * n_classes


def ordered(classes: Integers, seed: int | None, which: str) -> Integers:
    """The classes in label order, or shuffled when a class-order seed is given."""
    if seed is None:
        return np.sort(classes)
    return numpy_generator(seed, "class order", which).permutation(np.sort(classes))


def cut_evenly(classes: Integers, parts: int) -> list[Integers]:
    """Consecutive parts whose sizes differ by one at most, the smaller ones first.

    This is the rule behind every task table of the paper.

    >>> [len(part) for part in cut_evenly(np.arange(10), 4)]
    [2, 2, 3, 3]
    """
    size, larger = divmod(len(classes), parts)
    sizes = [size] * (parts - larger) + [size + 1] * larger
    return np.split(classes, np.cumsum(sizes)[:-1])


def rows_of(labels: Integers, classes: Integers, among: Integers) -> Integers:
    """Those of the rows ``among`` whose label is one of ``classes``."""
    return among[np.isin(labels[among], classes)]


def grow(parts: Sequence[Integers]) -> list[Integers]:
    """The classes known after each part: the first, the first two, ..."""
    return [np.concatenate(parts[: count + 1]) for count in range(len(parts))]
