"""A random part of more samples than fit in memory, prepared once for many draws."""

from __future__ import annotations

import torch
from torch import Tensor

from mczsl.protocols.task import Samples

POOLED_FROM = 2**30  # bytes of float32 samples: fewer are prepared once and for all anyway
POOL_BYTES = 2**27  # of the pool, in half precision: 32,768 samples of 2048 dimensions
_BLOCK = 2048  # samples that are prepared in one go


class PooledSamples:
    """Those of some samples that stand at the given positions, held in half precision."""

    def __init__(self, samples: Samples, index: Tensor):
        self.labels = samples.labels[index]
        first = samples.take(index[:1])
        self._block = first.new_empty(len(index), first.shape[1], dtype=torch.float16)
        for rows in torch.arange(len(index)).split(_BLOCK):
            self._block[rows[0] : rows[-1] + 1] = samples.take(index[rows])

    def take(self, index: Tensor) -> Tensor:
        """See :class:`Samples`."""
        return self._block[index].float()


def pool_of(samples: Samples, width: int, generator: torch.Generator) -> Samples:
    """The samples themselves, or a pool of them if there are too many of this width.

    An epoch draws a few thousand samples. To gather and prepare each one for one draw takes longer
    than to learn from it; a pool is drawn from again and again, as a small dataset is.
    """
    if 4 * width * len(samples.labels) <= POOLED_FROM:
        return samples
    most = POOL_BYTES // (2 * width)
    quota = max(1, most // len(samples.labels.unique()))
    return PooledSamples(samples, some_of_each_class(samples.labels, quota, generator))


def some_of_each_class(labels: Tensor, quota: int, generator: torch.Generator) -> Tensor:
    """Positions of at most ``quota`` random samples of every class, in ascending order.

    >>> labels = torch.tensor([7, 7, 3, 7])
    >>> chosen = some_of_each_class(labels, 2, torch.Generator().manual_seed(0))
    >>> labels[chosen].sort().values
    tensor([3, 7, 7])
    """
    shuffled = torch.randperm(len(labels), generator=generator)
    by_class = shuffled[labels[shuffled].argsort(stable=True)]
    _, counts = labels.unique(return_counts=True)
    first = (counts.cumsum(0) - counts).repeat_interleave(counts)
    return by_class[torch.arange(len(labels)) - first < quota].sort().values
