"""Generalized zero-shot learning: one task, then seen and unseen classes tested together."""

import numpy as np

from mczsl.data import FeatureDataset
from mczsl.errors import DataError
from mczsl.protocols.plan import Plan, Stage
from mczsl.seeding import Seeds


def plan(
    dataset: FeatureDataset, tasks: int | None, memory_per_class: int | None, seeds: Seeds
) -> Plan:
    """Train on ``trainval``, test on ``test_seen`` and ``test_unseen``; nothing needs a memory."""
    if not len(dataset.splits.test_unseen):
        raise DataError(f"{dataset.name}: no image of an unseen class to test on")
    stage = Stage(
        new_classes=dataset.seen_classes,
        train_rows=np.sort(dataset.splits.trainval),
        seen=dataset.seen_classes,
        unseen=dataset.unseen_classes,
        test_seen_rows=dataset.splits.test_seen,
        test_unseen_rows=dataset.splits.test_unseen,
    )
    return Plan("gzsl", (stage,), scored=1, memory_capacity=0)
