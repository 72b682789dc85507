"""The best offset on seen scores, estimated for a world with another number of unseen classes.

The more unseen classes compete, the more often one of them wins by chance, and the smaller the
offset that balances both sides. A few held-out classes tell how often m of them would win, for any
m up to their number: exactly, by counting. For more classes the trend from half of them to all of
them is continued.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_OFFSETS = 161  # how many are tried
_NEARLY_BEST = 0.98  # the middle of all offsets that come this close is steadier than the best one


def best_offset_among(
    known: Floats, held_out: Floats, targets: NDArray[np.int64], n_unseen: int
) -> float:
    """The offset with the best harmonic mean if there were ``n_unseen`` unseen classes.

    ``known`` (n, classes) and ``held_out`` (n, classes) are a sample's scores on either side;
    ``targets`` are its class's position among all of them, the known ones first.
    """
    is_seen = targets < known.shape[1]
    best = known.max(axis=1)
    seen = _SeenSide(best[is_seen], held_out[is_seen], known[is_seen], targets[is_seen])
    unseen = _UnseenSide(best[~is_seen], held_out[~is_seen], targets[~is_seen] - known.shape[1])
    margins = best - held_out.max(axis=1)
    low, high = np.quantile(margins, [0.005, 0.995])
    offsets = np.linspace(float(low), float(high), _OFFSETS)
    count = held_out.shape[1]
    fewer = min(count, n_unseen or count)
    S, U = seen.accuracy(offsets, fewer), unseen.accuracy(offsets, fewer)
    if n_unseen > count >= 2:
        half = count // 2
        steps = math.log2(n_unseen / count) / math.log2(count / half)
        S = S * _ratio(S, seen.accuracy(offsets, half)) ** steps
        U = U * _ratio(U, unseen.accuracy(offsets, half)) ** steps
    harmonic = _ratio(2 * S * U, S + U)
    return float(offsets[harmonic >= _NEARLY_BEST * harmonic.max()].mean())


class _SeenSide:
    """Samples of known classes: right if their class is the best known and no other beats it."""

    def __init__(self, best: Floats, rivals: Floats, known: Floats, targets: NDArray[np.int64]):
        right = known.argmax(axis=1) == targets
        self._weights = _class_weights(targets) * right
        self._lead = best[:, None] - rivals

    def accuracy(self, offsets: Floats, count: int) -> Floats:
        """Mean accuracy inside the classes if ``count`` of the rivals competed."""
        winners = np.stack([(self._lead < offset).sum(axis=1) for offset in offsets])
        return np.asarray(none_of(winners, self._lead.shape[1], count) @ self._weights)


class _UnseenSide:
    """Samples of held-out classes: right if their class beats its rivals and the known ones."""

    def __init__(self, best: Floats, held_out: Floats, targets: NDArray[np.int64]):
        own = held_out[np.arange(len(targets)), targets]
        self._weights = _class_weights(targets)
        self._winners = (held_out > own[:, None]).sum(axis=1)
        self._lead, self._rivals = best - own, held_out.shape[1] - 1

    def accuracy(self, offsets: Floats, count: int) -> Floats:
        """Mean accuracy inside the classes if ``count - 1`` of the rivals competed."""
        alone = none_of(self._winners, self._rivals, count - 1) * self._weights
        return np.asarray((self._lead[None] < offsets[:, None]) @ alone)


def none_of(winners: NDArray[np.int64], pool: int, drawn: int) -> Floats:
    """The chance that ``drawn`` of ``pool`` classes, drawn at random, contain none of the winners.

    >>> none_of(np.array([0, 1, 3]), pool=4, drawn=2)
    array([1. , 0.5, 0. ])
    """
    chance = [math.comb(pool - count, drawn) / math.comb(pool, drawn) for count in range(pool + 1)]
    return np.array(chance)[winners]


def _class_weights(targets: NDArray[np.int64]) -> Floats:
    """Weights of samples that add up to one, every class alike."""
    classes, inverse, counts = np.unique(targets, return_inverse=True, return_counts=True)
    return np.asarray(1.0 / (counts[inverse] * max(1, len(classes))))


def _ratio(above: Floats, below: Floats) -> Floats:
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)
