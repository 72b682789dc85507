"""Fixed continual GZSL: the set of classes is fixed; with every task some unseen become seen."""

import numpy as np

from mczsl.data import FeatureDataset
from mczsl.errors import ConfigError
from mczsl.protocols.plan import (
    Integers,
    Plan,
    Stage,
    cut_evenly,
    grow,
    memory_capacity,
    number_of_tasks,
    ordered,
    rows_of,
)
from mczsl.seeding import Seeds, numpy_generator

TEST_SHARE = 0.2


def plan(
    dataset: FeatureDataset, tasks: int | None, memory_per_class: int | None, seeds: Seeds
) -> Plan:
    """All classes in label order in K tasks; images 80/20 in each class; means over K - 1 tasks."""
    classes = ordered(np.unique(dataset.labels), seeds.class_order, "all")
    count = number_of_tasks(dataset, tasks, most=len(classes))
    if count < 2:
        raise ConfigError(
            "the fixed protocol needs at least 2 tasks: in its last task no class is unseen, "
            "so with one task there is nothing to measure"
        )
    train, test = split_images(dataset.labels, seeds.image_split)
    parts = cut_evenly(classes, count)
    stages = tuple(
        Stage(
            new_classes=new,
            train_rows=rows_of(dataset.labels, new, train),
            seen=seen,
            unseen=classes[len(seen) :],
            test_seen_rows=rows_of(dataset.labels, seen, test),
            test_unseen_rows=rows_of(dataset.labels, classes[len(seen) :], test),
        )
        for new, seen in zip(parts, grow(parts), strict=True)
    )
    capacity = memory_capacity(dataset, memory_per_class, len(classes))
    return Plan("fixed", stages, scored=count - 1, memory_capacity=capacity)


def split_images(labels: Integers, seed: int) -> tuple[Integers, Integers]:
    """Training and test rows, a fifth of each class for the test; a lone image is trained on."""
    order = numpy_generator(seed, "image split").permutation(len(labels))
    by_class = order[np.argsort(labels[order], kind="stable")]
    _, starts, counts = np.unique(labels[by_class], return_index=True, return_counts=True)
    place = np.arange(len(labels)) - np.repeat(starts, counts)
    n_test = np.maximum(np.round(counts * TEST_SHARE), np.minimum(counts - 1, 1)).astype(np.int64)
    is_test = place < np.repeat(n_test, counts)
    return np.sort(by_class[~is_test]), np.sort(by_class[is_test])
