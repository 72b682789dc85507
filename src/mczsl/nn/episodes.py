"""Drawing N-way K-shot episodes from labelled samples."""

from __future__ import annotations

import torch
from torch import Tensor


class EpisodeSampler:
    """Draws episodes of ``ways`` classes and ``shots`` samples of each, all classes alike.

    Rare classes (those a memory keeps a few samples of) come up as often as frequent ones; their
    samples repeat within an episode when there are fewer than ``shots``. For the classes that are
    ``borrowing``, samples of all classes are drawn; they need not have any of their own.
    """

    def __init__(
        self,
        labels: Tensor,
        ways: int,
        shots: int,
        generator: torch.Generator,
        borrowing: Tensor | None = None,
    ):
        own, counts = labels.unique(return_counts=True)
        self._by_class = labels.argsort(stable=True)
        starts = counts.cumsum(0) - counts
        if borrowing is not None and len(borrowing):
            keep = ~torch.isin(own, borrowing)
            everything = torch.full_like(borrowing, len(labels))
            own, order = torch.cat([own[keep], borrowing]).sort()
            counts = torch.cat([counts[keep], everything])[order]
            starts = torch.cat([starts[keep], torch.zeros_like(borrowing)])[order]
        self.classes, self._counts, self._starts = own, counts.double(), starts
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

    They teach the net how prototypes vary between the few classes that have data. Logits are linear
    in a sample, so those of the mean of two samples are the mean of theirs: no such mean is made.
    """

    def __init__(self, ways: int, count: int, generator: torch.Generator):
        """Pair some of the ``ways`` classes of an episode; of one class alone nothing is made."""
        draws = torch.rand(count if ways > 1 else 0, ways, generator=generator)
        pairs = draws.argsort(dim=1)[:, :2]
        self._shares = torch.zeros_like(draws).scatter_(1, pairs, 0.5)

    def attributes(self, attributes: Tensor) -> Tensor:
        """Their descriptions, from those of the episode's classes: (count, A)."""
        return self._shares.to(attributes.device) @ attributes

    def logits(self, logits: Tensor) -> Tensor:
        """The logits of their samples, from those of the episode's samples (ways, shots, n)."""
        flat = self._shares.to(logits.device) @ logits.flatten(1)
        return flat.view(-1, *logits.shape[1:])


def drop(values: Tensor, share: float, generator: torch.Generator) -> Tensor:
    """Set a random share of the values to zero, and scale the rest to make up for it."""
    if not share:
        return values
    kept = torch.rand(values.shape, generator=generator) >= share
    return values * kept.to(values.device) / (1 - share)
