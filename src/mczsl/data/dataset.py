"""The one form of data that everything else reads: features, labels, classes and splits."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mczsl.data.checks import (
    Problem,
    attribute_problems,
    blocks,
    class_name_problems,
    error,
    feature_problems,
    label_problems,
    raise_first,
)
from mczsl.data.splits import Rows, Splits, split_problems
from mczsl.errors import DataError

__all__ = ["DatasetParts", "FeatureDataset", "Rows", "Splits", "dataset_problems"]


@dataclass(frozen=True, eq=False)
class FeatureDataset:
    """Feature vectors with labels, and a description of every class.

    ``features`` is (N, D) in float32, or float16 when memory-mapped; ``labels`` is (N,) with class
    numbers 0..C-1; ``attributes`` is (C, A). ``provenance`` says where it all came from: at least
    ``features`` and ``semantics`` name the two files or generators.

    Construction checks everything that can be wrong and raises :class:`~mczsl.errors.DataError`.
    """

    name: str
    features: NDArray[np.floating]
    labels: NDArray[np.int64]
    class_names: tuple[str, ...]
    attributes: NDArray[np.float32]
    splits: Splits
    provenance: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        parts = (self.features, self.labels, self.class_names, self.attributes, self.splits)
        raise_first(dataset_problems(*parts), f"{self.name}: ")

    @property
    def n_classes(self) -> int:
        """How many classes there are, with or without images."""
        return len(self.class_names)

    @cached_property
    def seen_classes(self) -> Rows:
        """Class numbers with training images, ascending."""
        return np.unique(self.labels[self.splits.trainval])

    @cached_property
    def unseen_classes(self) -> Rows:
        """Class numbers that are only tested, ascending."""
        return np.unique(self.labels[self.splits.test_unseen])

    @cached_property
    def fingerprint(self) -> str:
        """A hash of everything that can change a result; equal data have equal fingerprints."""
        digest = hashlib.sha256()
        arrays: list[NDArray[Any]] = [self.labels, self.attributes, *self.splits.sets().values()]
        for array in arrays:
            digest.update(str((array.shape, array.dtype.str)).encode())
            digest.update(np.ascontiguousarray(array).data)
        digest.update(repr((self.class_names, self.splits.validation_classes)).encode())
        digest.update(str((self.features.shape, self.features.dtype.str)).encode())
        for _, block in blocks(self.features):
            digest.update(np.ascontiguousarray(block).data)
        return digest.hexdigest()[:16]


class _Collecting:
    def __init__(self, problems: list[Problem]) -> None:
        self._problems = problems

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, raised: BaseException | None, __: object) -> bool:
        if isinstance(raised, DataError):
            self._problems.append(error(str(raised)))
        return isinstance(raised, DataError)


@dataclass
class DatasetParts:
    """What a reader could read of a dataset, and what was wrong with the files.

    A reader fills in what it can and collects the rest as problems, so that one look shows all of
    them; :meth:`build` is for those who only want the dataset.
    """

    name: str
    features: NDArray[np.floating] | None = None
    labels: NDArray[np.int64] | None = None
    class_names: tuple[str, ...] | None = None
    attributes: NDArray[np.float32] | None = None
    splits: Splits | None = None
    provenance: dict[str, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    further_checks: Callable[[], Iterable[Problem]] = tuple  # too slow for every load

    def collecting(self) -> _Collecting:
        """Keep a :class:`~mczsl.errors.DataError` as a problem and go on with the next part."""
        return _Collecting(self.problems)

    def all_problems(self) -> list[Problem]:
        """What was wrong with the files, then what is wrong with their contents."""
        parts = (self.features, self.labels, self.class_names, self.attributes, self.splits)
        return [*self.problems, *dataset_problems(*parts), *self.further_checks()]

    def build(self) -> FeatureDataset:
        """The dataset, if nothing is wrong with it."""
        raise_first(self.problems, f"{self.name}: ")
        # A reader says why when it leaves out a part.
        assert self.features is not None
        assert self.labels is not None
        assert self.class_names is not None
        assert self.attributes is not None
        assert self.splits is not None
        return FeatureDataset(
            name=self.name,
            features=self.features,
            labels=self.labels,
            class_names=self.class_names,
            attributes=self.attributes,
            splits=self.splits,
            provenance=self.provenance,
        )


def dataset_problems(
    features: NDArray[Any] | None,
    labels: NDArray[Any] | None,
    class_names: Sequence[str] | None,
    attributes: NDArray[Any] | None,
    splits: Splits | None,
) -> Iterator[Problem]:
    """Everything wrong with the parts of a dataset, alone and together; absent ones are skipped."""
    if features is not None:
        yield from feature_problems(features)
    if class_names is None:
        return
    yield from class_name_problems(class_names)
    if attributes is not None:
        yield from attribute_problems(attributes, class_names)
    if labels is not None:
        n_rows = None if features is None else len(features)
        mislabelled = list(label_problems(labels, n_rows, len(class_names)))
        yield from mislabelled
        if splits is not None and not mislabelled:
            yield from split_problems(splits, labels, class_names)
