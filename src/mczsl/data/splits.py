"""Which rows are for training and which for testing, and a default for data that does not say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from mczsl.data.checks import Problem, error, row_problems
from mczsl.errors import DataError
from mczsl.seeding import numpy_generator

Rows = NDArray[np.int64]
SETS = ("trainval", "test_seen", "test_unseen")
DEFAULT_SHARE = 0.2


@dataclass(frozen=True, eq=False)
class Splits:
    """Row numbers (0-based) of the field's three sets.

    ``trainval`` and ``test_seen`` hold images of the same (seen) classes, ``test_unseen`` those of
    classes that have no training image. ``validation_classes`` are lists of seen classes that play
    the unseen ones while hyperparameters are chosen; there may be none.
    """

    trainval: Rows
    test_seen: Rows
    test_unseen: Rows
    validation_classes: tuple[tuple[int, ...], ...] = ()

    def sets(self) -> dict[str, Rows]:
        """The three sets by name."""
        return {name: getattr(self, name) for name in SETS}


def default_splits(
    labels: Rows, class_names: Sequence[str], unseen: Sequence[int] | None = None
) -> Splits:
    """The same split every time: a fifth of the classes unseen, a fifth of the images held back.

    Unseen are the classes given, or else 20 % of those with images (at least one), drawn with seed
    0. Of each seen class 20 % of the images (at least one, unless there is only one) are
    ``test_seen``; a class's draw depends on its name alone, so a further class changes no other.
    """
    present = np.unique(labels)
    if unseen is None:
        if len(present) < 2:
            raise DataError(
                f"images of {len(present)} class(es) cannot be split into seen and unseen classes; "
                "at least two are needed"
            )
        count = max(1, round(DEFAULT_SHARE * len(present)))
        generator = numpy_generator(0, "default split", "unseen classes")
        unseen = sorted(generator.choice(present, count, replace=False).tolist())
    held_back = [np.empty(0, np.int64)]
    rows_by_class = np.split(np.argsort(labels, kind="stable"), np.cumsum(np.bincount(labels)))
    for number in np.setdiff1d(present, list(unseen)):
        rows = rows_by_class[number]
        count = max(1, round(DEFAULT_SHARE * len(rows))) if len(rows) > 1 else 0
        generator = numpy_generator(0, "default split", class_names[number])
        held_back.append(generator.choice(rows, count, replace=False))
    test_seen = np.sort(np.concatenate(held_back))
    is_unseen = np.isin(labels, list(unseen))
    trainval = np.setdiff1d(np.flatnonzero(~is_unseen), test_seen)
    return Splits(trainval, test_seen, np.flatnonzero(is_unseen))


def split_problems(splits: Splits, labels: Rows, class_names: Sequence[str]) -> Iterator[Problem]:
    """Everything wrong with the splits of images that carry sound labels."""
    sets = splits.sets()
    malformed = [
        problem
        for name, rows in sets.items()
        for problem in row_problems(rows, len(labels), f"split {name}")
    ]
    yield from malformed
    if not len(splits.trainval):
        yield error("split trainval: is empty; without training images there is nothing to learn")
    for first, second in combinations(SETS, 2):
        shared = np.intersect1d(sets[first], sets[second])
        if len(shared):
            yield error(
                f"splits {first} and {second} share {len(shared)} rows, the first is row "
                f"{shared[0]}; an image may be in one set only"
            )
    if malformed:
        return
    seen, unseen = np.unique(labels[splits.trainval]), np.unique(labels[splits.test_unseen])
    for number in np.intersect1d(seen, unseen):
        yield error(
            f"class {class_names[number]!r} is in test_unseen but also has training images; a "
            "class is either seen or unseen"
        )
    for number in np.setdiff1d(labels[splits.test_seen], seen):
        yield error(
            f"class {class_names[number]!r} is in test_seen but has no training image; move its "
            "images to test_unseen or some of them to trainval"
        )
    for place, classes in enumerate(splits.validation_classes, start=1):
        if not set(classes) <= set(seen.tolist()):
            yield error(
                f"validation list {place} names classes without training images; it may name "
                "seen classes only"
            )
