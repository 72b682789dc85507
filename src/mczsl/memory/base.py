"""A memory keeps a bounded number of past samples, for replay."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mczsl.errors import ConfigError, StorageError
from mczsl.memory.hashing import keyed_hash
from mczsl.protocols import Samples, TensorSamples


class Memory(ABC):
    """At most ``capacity`` distinct samples, in order of arrival, each with a random priority."""

    def __init__(self, capacity: int, feature_dim: int, seed: int = 0):
        if capacity < 0:
            raise ConfigError(f"a memory's capacity cannot be negative, but is {capacity}")
        self.capacity, self.seed = capacity, seed
        self.taken = 0  # of the capacity, by something else than samples
        self.features = torch.empty(0, feature_dim)
        self.labels = torch.empty(0, dtype=torch.int64)
        self.priority = torch.empty(0, dtype=torch.float64)

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def room(self) -> int:
        """How many samples may be kept."""
        return max(0, self.capacity - self.taken)

    @property
    def samples(self) -> TensorSamples:
        """What is kept."""
        return TensorSamples(self.features, self.labels)

    def add(self, samples: Samples) -> None:
        """Offer samples. One that is offered again counts once, and as the newest."""
        if not self.capacity or not len(samples.labels):  # (even without room: old ones must go)
            return
        fresh = keyed_hash(samples, self.features.shape[1], self.seed)
        labels = torch.cat([self.labels, samples.labels])
        priority = torch.cat([self.priority, fresh])
        newest = _last_of_equals(priority.numpy())
        chosen = self._choose(labels.numpy()[newest], priority.numpy()[newest])
        keep = torch.from_numpy(newest[chosen])
        old, new = keep[keep < len(self)], keep[keep >= len(self)] - len(self)
        self.features = torch.cat([self.features[old], samples.take(new)])
        self.labels, self.priority = labels[keep], priority[keep]

    def state(self) -> dict[str, Tensor]:
        """The tensors that a checkpoint keeps."""
        return {"features": self.features, "labels": self.labels, "priority": self.priority}

    def load_state(self, state: dict[str, Tensor]) -> None:
        """Restore; a smaller capacity than before keeps what would have been kept with it."""
        if state["features"].shape[1:] != self.features.shape[1:]:
            raise StorageError(
                f"the stored memory holds {state['features'].shape[1]}-dimensional samples, "
                f"but the data has {self.features.shape[1]} dimensions"
            )
        keep = torch.from_numpy(self._choose(state["labels"].numpy(), state["priority"].numpy()))
        self.features, self.labels = state["features"][keep], state["labels"][keep]
        self.priority = state["priority"][keep]

    @abstractmethod
    def _choose(
        self, labels: NDArray[np.int64], priority: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """Positions of the samples to keep, at most ``room`` of them, in ascending order.

        The samples to choose from are distinct and in order of arrival.
        """


def _last_of_equals(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Positions of the last occurrence of each value, in ascending order.

    >>> _last_of_equals(np.array([5.0, 7.0, 5.0]))
    array([1, 2])
    """
    return np.sort(len(values) - 1 - np.unique(values[::-1], return_index=True)[1])
