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


class VirtualClasses:
    """Classes that do not exist: half-way between two of an episode, in looks and description.

    They teach the net how prototypes vary between the few classes that have data. The cosine of a
    mean of two samples is the mean of their cosines over its length, so no such mean is ever made.
    """

    def __init__(self, features: Tensor, count: int, generator: torch.Generator):
        """Mix unit-length features (ways, shots, D); of fewer than two classes nothing is made."""
        ways = len(features)
        draws = torch.rand(count if ways > 1 else 0, ways, generator=generator)
        self._pairs = draws.argsort(dim=1)[:, :2].reshape(-1, 2).to(features.device)
        by_shot = features.transpose(0, 1)
        cosines = (by_shot @ by_shot.mT)[:, self._pairs[:, :1], self._pairs[:, 1:]]
        self._lengths = ((1 + cosines.transpose(0, 1)) / 2).clamp_min(1e-12).sqrt()

    def attributes(self, attributes: Tensor) -> Tensor:
        """Their descriptions, from those of the episode's classes: (count, A)."""
        return attributes[self._pairs].mean(dim=1)

    def logits(self, logits: Tensor) -> Tensor:
        """The logits of their samples, from those of the episode's samples (ways x shots, n)."""
        by_class: Tensor = logits.unflatten(0, (-1, self._lengths.shape[1]))
        return (by_class[self._pairs].mean(dim=1) / self._lengths).flatten(0, 1)


def drop(values: Tensor, share: float, generator: torch.Generator) -> Tensor:
    """Set a random share of the values to zero, and scale the rest to make up for it."""
    if not share:
        return values
    kept = torch.rand(values.shape, generator=generator) >= share
    return values * kept.to(values.device) / (1 - share)
