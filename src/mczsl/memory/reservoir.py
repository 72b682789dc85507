"""A uniform sample of everything ever offered.

The n-th distinct sample enters with probability M/n, as in Vitter's Algorithm R (1985). Instead of
drawing a slot, every sample is given a random priority and the M lowest stay: the same
distribution, but vectorised, independent of the order, and, as the priority is a keyed hash of the
sample itself, a sample that is offered twice counts once.

If room is given back, samples of the past that would belong there now are gone. New ones alone must
not fill it, so what is not below the lowest priority ever turned away stays out: the sample is
uniform all the while, and whole again as soon as enough has been offered. Without any room nothing
of the past is left that a sample could be uniform over, and a new one begins.
"""

import math

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mczsl.memory.base import Memory


class Reservoir(Memory):
    """Keeps a uniform random subset of all distinct samples offered so far."""

    _turned_away = math.inf  # the lowest priority that ever was

    def state(self) -> dict[str, Tensor]:
        """The tensors that a checkpoint keeps."""
        bound = torch.tensor(self._turned_away, dtype=torch.float64)
        return {**super().state(), "turned_away": bound}

    def load_state(self, state: dict[str, Tensor]) -> None:
        """See :class:`Memory`."""
        self._turned_away = state["turned_away"].item()
        super().load_state(state)

    def _choose(
        self, labels: NDArray[np.int64], priority: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        order = np.argsort(priority)
        order = order[priority[order] < self._turned_away]
        kept, refused = order[: self.room], order[self.room :]
        if not self.room:
            self._turned_away = math.inf
        elif len(refused):
            self._turned_away = float(priority[refused[0]])
        return np.sort(kept)
