"""Dynamic continual GZSL: every task brings new seen classes and new unseen ones."""

import numpy as np

from mczsl.data import FeatureDataset
from mczsl.protocols.plan import (
    Plan,
    Stage,
    cut_evenly,
    grow,
    memory_capacity,
    number_of_tasks,
    ordered,
    require_test_images,
    rows_of,
)
from mczsl.seeding import Seeds


def plan(
    dataset: FeatureDataset, tasks: int | None, memory_per_class: int | None, seeds: Seeds
) -> Plan:
    """Seen and unseen classes each cut into K tasks; the published image split; means over K."""
    labels, splits = dataset.labels, dataset.splits
    require_test_images(dataset)
    fewest = min(len(dataset.seen_classes), len(dataset.unseen_classes))
    count = number_of_tasks(dataset, tasks, most=fewest)
    new_seen = cut_evenly(ordered(dataset.seen_classes, seeds.class_order, "seen"), count)
    new_unseen = cut_evenly(ordered(dataset.unseen_classes, seeds.class_order, "unseen"), count)
    trainval = np.sort(splits.trainval)
    stages = tuple(
        Stage(
            new_classes=new,
            train_rows=rows_of(labels, new, trainval),
            seen=seen,
            unseen=unseen,
            test_seen_rows=rows_of(labels, seen, splits.test_seen),
            test_unseen_rows=rows_of(labels, unseen, splits.test_unseen),
        )
        for new, seen, unseen in zip(new_seen, grow(new_seen), grow(new_unseen), strict=True)
    )
    capacity = memory_capacity(dataset, memory_per_class, len(dataset.seen_classes))
    return Plan("dynamic", stages, scored=count, memory_capacity=capacity)
