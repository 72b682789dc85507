"""A uniform sample of everything ever offered.

The n-th distinct sample enters with probability M/n, as in Vitter's Algorithm R (1985). Instead of
drawing a slot, every sample is given a random priority and the M lowest stay: the same
distribution, but vectorised, independent of the order, and, as the priority is a keyed hash of the
sample itself, a sample that is offered twice counts once.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mczsl.memory.base import Memory
from mczsl.protocols import Samples
from mczsl.seeding import numpy_generator

_BLOCK = 2048  # samples hashed in one go


class Reservoir(Memory):
    """Keeps a uniform random subset of all distinct samples offered so far."""

    def _priorities(self, samples: Samples) -> Tensor:
        width = self.features.shape[1] + 1
        key = numpy_generator(self.seed, "reservoir").integers(
            0, 2**64, size=width, dtype=np.uint64
        ) | np.uint64(1)
        rows = torch.arange(len(samples.labels))
        blocks = [
            _keyed_hash(samples.take(block).numpy(), samples.labels[block].numpy(), key)
            for block in rows.split(_BLOCK)
        ]
        return torch.from_numpy(np.concatenate(blocks))

    def _choose(
        self, labels: NDArray[np.int64], priority: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        distinct = np.unique(priority, return_index=True)[1]  # ascending by priority
        return np.sort(distinct[: self.capacity])


def _keyed_hash(
    features: NDArray[np.float32], labels: NDArray[np.int64], key: NDArray[np.uint64]
) -> NDArray[np.float64]:
    """A number in [0, 1) for each row: multilinear hashing modulo 2**64, then a bit mixer."""
    bits = np.ascontiguousarray(features + np.float32(0)).view(np.uint32)  # -0.0 becomes 0.0
    hashed = (bits * key[:-1]).sum(axis=1, dtype=np.uint64) + labels.astype(np.uint64) * key[-1]
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        hashed = (hashed ^ (hashed >> np.uint64(shift))) * np.uint64(factor)
    hashed ^= hashed >> np.uint64(31)
    return (hashed >> np.uint64(11)).astype(np.float64) / 2.0**53
