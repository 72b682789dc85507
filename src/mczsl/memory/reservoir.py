"""A uniform sample of everything ever offered.

The n-th distinct sample enters with probability M/n, as in Vitter's Algorithm R (1985). Instead of
drawing a slot, every sample is given a random priority and the M lowest stay: the same
distribution, but vectorised, independent of the order, and, as the priority is a keyed hash of the
sample itself, a sample that is offered twice counts once.
"""

import numpy as np
from numpy.typing import NDArray

from mczsl.memory.base import Memory


class Reservoir(Memory):
    """Keeps a uniform random subset of all distinct samples offered so far."""

    def _choose(
        self, labels: NDArray[np.int64], priority: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        return np.sort(np.argsort(priority)[: self.room])
