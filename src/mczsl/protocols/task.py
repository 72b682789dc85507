"""What a method may see of the world: the samples of one task, and the classes known so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

_IN_MEMORY_BYTES = 2**30  # a larger selection is gathered row by row from the (mapped) table


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
        size = len(rows) * features.shape[1] * 4
        self._block = self._gather(rows) if size <= _IN_MEMORY_BYTES else None

    def take(self, index: Tensor) -> Tensor:
        """See :class:`Samples`."""
        if self._block is not None:
            return self._block[index]
        return self._gather(self._rows[index.numpy()])

    def _gather(self, rows: NDArray[np.int64]) -> Tensor:
        return torch.from_numpy(self._table[rows].astype(np.float32, copy=False))


class TensorSamples:
    """Samples that are held as tensors, such as a memory's."""

    def __init__(self, features: Tensor, labels: Tensor):
        self.features, self.labels = features, labels

    def take(self, index: Tensor) -> Tensor:
        """See :class:`Samples`."""
        return self.features[index]


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

    def select(self, keep: Tensor) -> ClassSet:
        """The classes at these positions (a mask or an index)."""
        return ClassSet(self.ids[keep], self.attributes[keep])


@dataclass(frozen=True, eq=False)
class Task:
    """One step of a stream.

    ``samples`` is the training data that arrives now; ``seen`` holds every class that has had
    training data up to and with this task. ``unseen`` holds the known classes without data, and is
    empty unless the method declares that it uses them.
    """

    index: int
    samples: Samples
    seen: ClassSet
    unseen: ClassSet
