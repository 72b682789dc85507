"""The mean of every class so far: of the past, one vector for each class instead of its samples."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from mczsl.protocols import Samples

_BLOCK = 8192  # samples that are summed in one go


class ClassMeans:
    """Sums and counts by class number. Those of several tasks can be put together."""

    def __init__(self, ids: Tensor, counts: Tensor, sums: Tensor):
        """``ids`` (n,) in ascending order, ``counts`` (n,), ``sums`` (n, D)."""
        self.ids, self.counts, self.sums = ids, counts, sums

    @staticmethod
    def empty(width: int, device: str = "cpu") -> ClassMeans:
        """Of no class."""
        none = torch.empty(0, dtype=torch.int64)
        return ClassMeans(none, none.clone(), torch.empty(0, width, device=device))

    @staticmethod
    def of(samples: Samples, transform: Callable[[Tensor], Tensor]) -> ClassMeans:
        """Those of some samples, each transformed first."""
        ids, place, counts = samples.labels.unique(return_inverse=True, return_counts=True)
        sums: Tensor | None = None
        for rows in torch.arange(len(place)).split(_BLOCK):
            block = transform(samples.take(rows))
            if sums is None:
                sums = block.new_zeros(len(ids), block.shape[1])
            sums.index_add_(0, place[rows].to(block.device), block)
        assert sums is not None, "a task has samples"
        return ClassMeans(ids, counts, sums)

    def __len__(self) -> int:
        return len(self.ids)

    def __add__(self, other: ClassMeans) -> ClassMeans:
        ids, place = torch.cat([self.ids, other.ids]).unique(return_inverse=True)
        counts = torch.zeros_like(ids).index_add_(0, place, torch.cat([self.counts, other.counts]))
        both = torch.cat([self.sums, other.sums])
        sums = both.new_zeros(len(ids), both.shape[1]).index_add_(0, place.to(both.device), both)
        return ClassMeans(ids, counts, sums)

    @property
    def means(self) -> Tensor:
        """The mean of each class, (n, D)."""
        return self.sums / self.counts.to(self.sums.device).unsqueeze(1)

    def places(self, labels: Tensor) -> Tensor:
        """Where each label stands in ``ids``; every one must be there."""
        return torch.searchsorted(self.ids, labels)
