"""A memory keeps a bounded number of past samples, for replay."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mczsl.errors import ConfigError, StorageError
from mczsl.protocols import Samples, TensorSamples


class Memory(ABC):
    """At most ``capacity`` samples. ``priority`` is each kept sample's claim to its place."""

    def __init__(self, capacity: int, feature_dim: int, seed: int = 0):
        if capacity < 0:
            raise ConfigError(f"a memory's capacity cannot be negative, but is {capacity}")
        self.capacity, self.seed = capacity, seed
        self.features = torch.empty(0, feature_dim)
        self.labels = torch.empty(0, dtype=torch.int64)
        self.priority = torch.empty(0, dtype=torch.float64)

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def samples(self) -> TensorSamples:
        """What is kept."""
        return TensorSamples(self.features, self.labels)

    def add(self, samples: Samples) -> None:
        """Offer every sample once; duplicates of what is kept or offered are not kept twice."""
        if not self.capacity or not len(samples.labels):
            return
        fresh = self._priorities(samples)
        labels = torch.cat([self.labels, samples.labels])
        priority = torch.cat([self.priority, fresh])
        keep = torch.from_numpy(self._choose(labels.numpy(), priority.numpy()))
        old, new = keep[keep < len(self)], keep[keep >= len(self)] - len(self)
        self.features = torch.cat([self.features[old], samples.take(new)])
        self.labels, self.priority = labels[keep], priority[keep]

    def state(self) -> dict[str, Tensor]:
        """The tensors that a checkpoint keeps."""
        return {"features": self.features, "labels": self.labels, "priority": self.priority}

    def load_state(self, state: dict[str, Tensor]) -> None:
        """Restore; a smaller capacity than before keeps the samples with the best claims."""
        if state["features"].shape[1:] != self.features.shape[1:]:
            raise StorageError(
                f"the stored memory holds {state['features'].shape[1]}-dimensional samples, "
                f"but the data has {self.features.shape[1]} dimensions"
            )
        keep = torch.from_numpy(self._choose(state["labels"].numpy(), state["priority"].numpy()))
        self.features, self.labels = state["features"][keep], state["labels"][keep]
        self.priority = state["priority"][keep]

    @abstractmethod
    def _priorities(self, samples: Samples) -> Tensor:
        """The claim of each offered sample; the lowest are kept. Duplicates get equal claims."""

    @abstractmethod
    def _choose(
        self, labels: NDArray[np.int64], priority: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """Positions of the samples to keep, at most ``capacity`` of them, in ascending order."""
