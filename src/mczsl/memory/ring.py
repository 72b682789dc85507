"""A ring buffer for each class: the newest samples of every class, an equal share each."""

import numpy as np
from numpy.typing import NDArray

from mczsl.memory.base import Memory


class Ring(Memory):
    """Keeps the last ``capacity / classes`` samples of each class, fewer as classes come."""

    def _choose(
        self, labels: NDArray[np.int64], priority: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        age = np.arange(len(labels))[::-1]  # as they are in order of arrival
        by_class = np.lexsort((age, labels))
        _, starts, counts = np.unique(labels[by_class], return_index=True, return_counts=True)
        rank = np.arange(len(labels)) - np.repeat(starts, counts)
        # By rank, then by age: everybody's newest first. With room for fewer samples than classes
        # the newest classes are kept.
        order = by_class[np.lexsort((age[by_class], rank))]
        return np.sort(order[: self.room])
