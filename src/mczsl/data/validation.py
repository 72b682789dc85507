"""A dataset made of another's training images alone, for choosing hyperparameters."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from mczsl.data.dataset import FeatureDataset
from mczsl.data.splits import default_splits
from mczsl.errors import ConfigError
from mczsl.seeding import numpy_generator

FOLDS, HELD_OUT_SHARE = 3, 0.25


def number_of_folds(dataset: FeatureDataset) -> int:
    """As many as there are published validation lists; three where there are none."""
    return len(dataset.splits.validation_classes) or FOLDS


def validation_dataset(
    dataset: FeatureDataset, fold: int = 0, without: Iterable[int] = ()
) -> FeatureDataset:
    """Some seen classes play the unseen ones; test images and unseen classes are not in it at all.

    The classes of published validation list ``fold`` become the unseen ones, or a random quarter of
    the seen classes where no list is published. A fifth of the other training images becomes the
    seen test set. The rows ``without`` are left out as well.
    """
    if not 0 <= fold < number_of_folds(dataset):
        raise ConfigError(f"{dataset.name}: fold {fold} of {number_of_folds(dataset)} (from 0)")
    rows = np.setdiff1d(dataset.splits.trainval, np.array([*without], dtype=np.int64))
    classes = dataset.seen_classes
    labels = np.searchsorted(classes, dataset.labels[rows])
    names = tuple(dataset.class_names[number] for number in classes)
    held_out = np.searchsorted(classes, _held_out(dataset, fold))
    return FeatureDataset(
        name=dataset.name,
        features=dataset.features[rows],
        labels=labels,
        class_names=names,
        attributes=dataset.attributes[classes],
        splits=default_splits(labels, names, held_out.tolist()),
        provenance={**dataset.provenance, "validation": f"fold {fold}"},
    )


def _held_out(dataset: FeatureDataset, fold: int) -> list[int]:
    if dataset.splits.validation_classes:
        return list(dataset.splits.validation_classes[fold])
    seen = dataset.seen_classes
    count = max(1, round(HELD_OUT_SHARE * len(seen)))
    if count >= len(seen):
        raise ConfigError(f"{dataset.name}: too few seen classes to hold some out for validation")
    drawn = numpy_generator(0, "validation", fold).permutation(seen)[:count]
    return [int(number) for number in drawn]
