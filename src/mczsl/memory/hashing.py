"""A random number for every sample that depends on the sample and a seed alone."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mczsl.protocols import Samples
from mczsl.seeding import numpy_generator

_BLOCK = 2048  # samples hashed in one go


def keyed_hash(samples: Samples, width: int, seed: int) -> Tensor:
    """A number in [0, 1) for each sample of ``width`` features; equal samples get equal ones."""
    key = numpy_generator(seed, "reservoir").integers(0, 2**64, size=width + 1, dtype=np.uint64)
    key |= np.uint64(1)
    blocks = [
        _hash_rows(samples.take(block).numpy(), samples.labels[block].numpy(), key)
        for block in torch.arange(len(samples.labels)).split(_BLOCK)
    ]
    return torch.from_numpy(np.concatenate(blocks))


def _hash_rows(
    features: NDArray[np.float32], labels: NDArray[np.int64], key: NDArray[np.uint64]
) -> NDArray[np.float64]:
    """Multilinear hashing modulo 2**64, then a bit mixer."""
    bits = np.ascontiguousarray(features + np.float32(0)).view(np.uint32)  # -0.0 becomes 0.0
    # Never 0 times the key: a row of zeros would have the same number under every seed.
    hashed = (labels.astype(np.uint64) + np.uint64(1)) * key[-1]
    hashed += (bits * key[:-1]).sum(axis=1, dtype=np.uint64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        hashed = (hashed ^ (hashed >> np.uint64(shift))) * np.uint64(factor)
    hashed ^= hashed >> np.uint64(31)
    return np.asarray((hashed >> np.uint64(11)) / 2.0**53)
