"""Generalized zero-shot learning: one task, then seen and unseen classes tested together."""

import numpy as np

from mczsl.data import FeatureDataset
from mczsl.errors import ConfigError
from mczsl.protocols.plan import Plan, Stage, require_test_images
from mczsl.seeding import Seeds


def plan(
    dataset: FeatureDataset, tasks: int | None, memory_per_class: int | None, seeds: Seeds
) -> Plan:
    """Train on ``trainval``, test on ``test_seen`` and ``test_unseen``; nothing needs a memory."""
    require_test_images(dataset)
    if tasks not in (None, 1):
        raise ConfigError(f"gzsl has one task, not {tasks}; choose the protocol fixed or dynamic")
    stage = Stage(
        new_classes=dataset.seen_classes,
        train_rows=np.sort(dataset.splits.trainval),
        seen=dataset.seen_classes,
        unseen=dataset.unseen_classes,
        test_seen_rows=dataset.splits.test_seen,
        test_unseen_rows=dataset.splits.test_unseen,
    )
    return Plan("gzsl", (stage,), scored=1, memory_capacity=0)
