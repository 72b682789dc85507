"""The field's metrics, as pure functions. Accuracies are shares from 0 to 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Floats = NDArray[np.floating[Any]]


@dataclass(frozen=True, eq=False)
class Outcomes:
    """How test samples compare with the seen and with the unseen classes.

    For every sample: its class, whether that class is seen, the best guess on either side, and
    ``margin``, the best seen score minus the best unseen one.
    """

    labels: Integers
    is_seen: NDArray[np.bool_]
    seen_guess: Integers
    unseen_guess: Integers
    margin: Floats

    def predictions(self, offset: float = 0.0) -> Integers:
        """The best class of all when ``offset`` is taken off every seen score."""
        return np.where(self.margin >= offset, self.seen_guess, self.unseen_guess)

    def restricted_predictions(self) -> Integers:
        """The best class on the side that the sample's own class is on."""
        return np.where(self.is_seen, self.seen_guess, self.unseen_guess)


def per_class_accuracy(labels: Integers, predictions: Integers, classes: Integers) -> Floats:
    """The accuracy inside each of the classes; NaN for a class without samples.

    >>> labels, predictions = np.array([3, 3, 5]), np.array([3, 5, 5])
    >>> per_class_accuracy(labels, predictions, np.array([3, 5, 9]))
    array([0.5, 1. , nan])
    """
    size = int(max(labels.max(initial=0), classes.max(initial=0))) + 1
    total = np.bincount(labels, minlength=size)[classes]
    right = np.bincount(labels[labels == predictions], minlength=size)[classes]
    accuracy = np.full(len(classes), np.nan)
    np.divide(right, total, out=accuracy, where=total > 0)
    return accuracy


def mean_accuracy(accuracies: Floats) -> float:
    """The mean over the classes that have samples; NaN if none has."""
    present = accuracies[~np.isnan(accuracies)]
    return float(present.mean()) if len(present) else float("nan")


def harmonic_mean(seen: float, unseen: float) -> float:
    """``2SU / (S + U)``, and 0 if both are 0.

    >>> round(harmonic_mean(0.789, 0.646), 3)
    0.71
    """
    return 2 * seen * unseen / (seen + unseen) if seen + unseen else seen + unseen


def seen_unseen_curve(outcomes: Outcomes) -> tuple[Floats, Floats, Floats]:
    """Seen and unseen accuracy for every offset that changes anything: (offsets, S, U).

    As the offset rises from -inf, seen accuracy falls and unseen accuracy rises.
    """
    weights = _class_weights(outcomes.labels)
    order = np.argsort(outcomes.margin, kind="stable")
    margin, is_seen = outcomes.margin[order], outcomes.is_seen[order]
    weight, labels = weights[order], outcomes.labels[order]
    seen_right = weight * (is_seen & (outcomes.seen_guess[order] == labels))
    unseen_right = weight * (~is_seen & (outcomes.unseen_guess[order] == labels))
    seen_right /= max(1, len(np.unique(labels[is_seen])))
    unseen_right /= max(1, len(np.unique(labels[~is_seen])))
    # An offset at margin i keeps samples i, i+1, ... on the seen side.
    last_of_ties = np.append(margin[1:] != margin[:-1], True)
    seen = seen_right.sum() - np.concatenate([[0.0], np.cumsum(seen_right)[last_of_ties]])
    unseen = np.concatenate([[0.0], np.cumsum(unseen_right)[last_of_ties]])
    distinct = margin[last_of_ties]
    middles = (distinct[1:] + distinct[:-1]) / 2
    offsets = np.concatenate([[distinct[0] - 1.0], middles, [distinct[-1] + 1.0]])
    return offsets, np.clip(seen, 0.0, 1.0), np.clip(unseen, 0.0, 1.0)


def area_under_curve(outcomes: Outcomes) -> float:
    """AUSUC: the area under seen accuracy as a function of unseen accuracy."""
    _, seen, unseen = seen_unseen_curve(outcomes)
    return float(np.trapezoid(seen, unseen))


def best_offset(outcomes: Outcomes) -> float:
    """The offset on seen scores with the best harmonic mean on these samples."""
    offsets, seen, unseen = seen_unseen_curve(outcomes)
    total = seen + unseen
    harmonic = np.divide(2 * seen * unseen, total, out=np.zeros_like(total), where=total > 0)
    return float(offsets[np.argmax(harmonic)])


def forgetting(history: Sequence[Sequence[float]]) -> float:
    """Mean over past tasks of the best accuracy ever had on it minus the accuracy now.

    ``history[t][j]`` is the accuracy on task j after task t. Tasks without test samples (NaN) are
    left out; NaN if no past task is left.

    >>> round(forgetting([[0.9], [0.6, 0.8]]), 3)
    0.3
    """
    now = history[-1][: len(history) - 1]
    drops = [
        max(past[task] for past in history[:-1] if task < len(past)) - value
        for task, value in enumerate(now)
    ]
    return mean_accuracy(np.array(drops))


def _class_weights(labels: Integers) -> Floats:
    """One over the size of each sample's class."""
    _, inverse, counts = np.unique(labels, return_inverse=True, return_counts=True)
    return np.asarray(1.0 / counts[inverse])
