"""What a method may see of the world: the samples of one task, and the classes known so far."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mczsl.data.mapped import release_pages

_IN_MEMORY_BYTES = 2**30  # a larger selection is gathered and prepared batch by batch


class Samples(Protocol):
    """Labelled feature vectors that are gathered on demand."""

    labels: Tensor

    def take(self, index: Tensor) -> Tensor:
        """The features at these positions, (len(index), D) in float32."""
        ...


class TableSamples:
    """Some rows of a feature table, which may be larger than memory."""

    def __init__(self, features: NDArray[Any], labels: NDArray[np.int64], rows: NDArray[np.int64]):
        self.labels = torch.from_numpy(np.ascontiguousarray(labels[rows]))
        self._table, self._rows = features, rows

    def take(self, index: Tensor) -> Tensor:
        """See :class:`Samples`."""
        block = self._table[self._rows[index.numpy()]].astype(np.float32, copy=False)
        if isinstance(self._table, np.memmap):
            release_pages(self._table)
        return torch.from_numpy(block)


class TensorSamples:
    """Samples that are held as tensors, such as a memory's."""

    def __init__(self, features: Tensor, labels: Tensor):
        self.features, self.labels = features, labels

    def take(self, index: Tensor) -> Tensor:
        """See :class:`Samples`."""
        return self.features[index]


class SelectedSamples:
    """Those of some samples that stand at the given positions."""

    def __init__(self, samples: Samples, index: Tensor):
        self.labels, self._samples, self._index = samples.labels[index], samples, index

    def take(self, index: Tensor) -> Tensor:
        """See :class:`Samples`."""
        return self._samples.take(self._index[index])


class JoinedSamples:
    """Two sets of samples, one behind the other: a task's own and those a memory kept."""

    def __init__(self, first: Samples, second: Samples):
        self.labels = torch.cat([first.labels, second.labels])
        self._first, self._second, self._border = first, second, len(first.labels)

    def take(self, index: Tensor) -> Tensor:
        """See :class:`Samples`."""
        in_first = index < self._border
        one = self._first.take(index[in_first])
        if len(one) == len(index):
            return one
        two = self._second.take(index[~in_first] - self._border)
        joined = one.new_empty(len(index), two.shape[1])
        joined[in_first], joined[~in_first] = one, two
        return joined


class PreparedSamples:
    """Samples after a transformation, which is done once and for all where they fit in memory."""

    def __init__(self, samples: Samples, transform: Callable[[Tensor], Tensor]):
        self.labels = samples.labels
        self._samples, self._transform = samples, transform
        everything = torch.arange(len(samples.labels))
        size = len(everything) * samples.take(everything[:1]).nbytes
        self._block = transform(samples.take(everything)) if size <= _IN_MEMORY_BYTES else None

    def take(self, index: Tensor) -> Tensor:
        """See :class:`Samples`."""
        if self._block is not None:
            return self._block[index]
        return self._transform(self._samples.take(index))


@dataclass(frozen=True, eq=False)
class ClassSet:
    """Classes by number, each with its attributes: ``ids`` (n,), ``attributes`` (n, A)."""

    ids: Tensor
    attributes: Tensor

    def __len__(self) -> int:
        return len(self.ids)

    def __add__(self, other: ClassSet) -> ClassSet:
        return ClassSet(
            torch.cat([self.ids, other.ids]), torch.cat([self.attributes, other.attributes])
        )

    def select(self, keep: Tensor | slice) -> ClassSet:
        """The classes at these positions (a mask, an index or a slice)."""
        return ClassSet(self.ids[keep], self.attributes[keep])


@dataclass(frozen=True, eq=False)
class Task:
    """One step of a stream.

    ``samples`` is the training data that arrives now; ``seen`` holds every class that has had
    training data up to and with this task. ``n_unseen`` is how many more classes are known by
    description, and ``unseen`` holds them if the method declares that it uses them, else none.
    """

    index: int
    samples: Samples
    seen: ClassSet
    unseen: ClassSet
    n_unseen: int = 0
