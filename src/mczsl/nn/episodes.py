"""Drawing N-way K-shot episodes from labelled samples."""

from __future__ import annotations

import torch
from torch import Tensor


class EpisodeSampler:
    """Draws episodes of ``ways`` classes and ``shots`` samples of each, all classes alike.

    Rare classes (those a memory keeps a few samples of) come up as often as frequent ones; their
    samples repeat within an episode when there are fewer than ``shots``.
    """

    def __init__(self, labels: Tensor, ways: int, shots: int, generator: torch.Generator):
        self.classes, counts = labels.unique(return_counts=True)
        self._by_class = labels.argsort(stable=True)
        self._counts = counts.double()
        self._starts = counts.cumsum(0) - counts
        self.ways, self.shots = min(ways, len(self.classes)), shots
        self._generator = generator

    def draw(self) -> tuple[Tensor, Tensor]:
        """Positions of the chosen classes in ``classes`` (ways,), and of samples (ways, shots)."""
        chosen = torch.randperm(len(self.classes), generator=self._generator)[: self.ways]
        uniform = torch.rand(self.ways, self.shots, generator=self._generator, dtype=torch.float64)
        offset = (uniform * self._counts[chosen, None]).long()
        return chosen, self._by_class[self._starts[chosen, None] + offset]
