"""A ring buffer for each class: the newest samples of every class, an equal share each."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mczsl.memory.base import Memory
from mczsl.protocols import Samples


class Ring(Memory):
    """Keeps the last ``capacity / classes`` samples of each class, fewer as classes come."""

    def _priorities(self, samples: Samples) -> Tensor:
        """Minus the time of arrival, so that the newest have the best claim."""
        clock = -self.priority.min() + 1 if len(self) else torch.tensor(0.0)
        return -(clock + torch.arange(len(samples.labels), dtype=torch.float64))

    def _choose(
        self, labels: NDArray[np.int64], priority: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        by_class = np.lexsort((priority, labels))
        _, starts, counts = np.unique(labels[by_class], return_index=True, return_counts=True)
        rank = np.arange(len(labels)) - np.repeat(starts, counts)
        # By rank, then by age: everybody's newest first. With room for fewer samples than classes
        # the newest classes are kept.
        order = by_class[np.lexsort((priority[by_class], rank))]
        return np.sort(order[: self.capacity])
