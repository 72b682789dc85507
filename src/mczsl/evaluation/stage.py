"""Testing a method after a task: every known class, seen and unseen, is a candidate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch

from mczsl.data import FeatureDataset
from mczsl.errors import DivergedError
from mczsl.evaluation.metrics import (
    Outcomes,
    area_under_curve,
    harmonic_mean,
    mean_accuracy,
    per_class_accuracy,
)
from mczsl.methods.base import Method
from mczsl.protocols import Samples, Stage, TableSamples, class_set
from mczsl.protocols.task import ClassSet

Candidates = Literal["joint", "restricted"]
_SCORES_AT_ONCE = 2**22  # bounds memory: samples x classes that are scored in one go


@dataclass(frozen=True)
class StageResult:
    """Seen and unseen accuracy, their harmonic mean, and what is left of each past task.

    NaN stands for what cannot be measured, such as unseen accuracy when no class is unseen.
    """

    seen: float
    unseen: float
    harmonic: float
    ausuc: float
    by_task: tuple[float, ...]


def evaluate(
    method: Method,
    dataset: FeatureDataset,
    stages: Sequence[Stage],
    candidates: Candidates = "joint",
) -> StageResult:
    """Test after the last of these stages."""
    stage = stages[-1]
    outcomes = compare(method, dataset, stage)
    joint = candidates == "joint"
    guesses = outcomes.predictions() if joint else outcomes.restricted_predictions()
    accuracy = per_class_accuracy(outcomes.labels, guesses, np.arange(dataset.n_classes))
    seen, unseen = mean_accuracy(accuracy[stage.seen]), mean_accuracy(accuracy[stage.unseen])
    measurable = len(stage.test_seen_rows) and len(stage.test_unseen_rows)
    return StageResult(
        seen=seen,
        unseen=unseen,
        harmonic=harmonic_mean(seen, unseen),
        ausuc=area_under_curve(outcomes) if measurable else float("nan"),
        by_task=tuple(mean_accuracy(accuracy[past.new_classes]) for past in stages),
    )


def compare(method: Method, dataset: FeatureDataset, stage: Stage) -> Outcomes:
    """Score a stage's test samples against its seen and unseen classes."""
    rows = np.concatenate([stage.test_seen_rows, stage.test_unseen_rows])
    samples = TableSamples(dataset.features, dataset.labels, rows)
    is_seen = np.arange(len(rows)) < len(stage.test_seen_rows)
    seen, unseen = class_set(dataset, stage.seen), class_set(dataset, stage.unseen)
    return compare_samples(method, samples, is_seen, seen, unseen)


@torch.no_grad()
def compare_samples(
    method: Method,
    samples: Samples,
    is_seen: np.ndarray[tuple[int], np.dtype[np.bool_]],
    seen: ClassSet,
    unseen: ClassSet,
) -> Outcomes:
    """Score samples against two sets of classes; one of the sets may be empty."""
    score = method.scorer(seen + unseen)
    rows = torch.arange(len(samples.labels))
    found = []
    for block in rows.split(max(1, _SCORES_AT_ONCE // (len(seen) + len(unseen)))):
        scores = score(samples.take(block)).cpu()
        if not scores.isfinite().all():
            raise DivergedError(
                f"{method.name}: some scores are not finite; try a lower learning rate"
            )
        found.append((*_best(scores[:, : len(seen)]), *_best(scores[:, len(seen) :])))
    seen_best, seen_at, unseen_best, unseen_at = (
        torch.cat(part) for part in zip(*found, strict=True)
    )
    return Outcomes(
        labels=samples.labels.numpy(),
        is_seen=is_seen,
        seen_guess=_ids(seen, seen_at),
        unseen_guess=_ids(unseen, unseen_at),
        margin=(seen_best - unseen_best).double().numpy(),
    )


def _best(scores: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Best score and where it is; minus infinity and -1 when there is no class."""
    if scores.shape[1]:
        best = scores.max(dim=1)
        return best.values, best.indices
    return scores.new_full((len(scores),), -torch.inf), torch.full((len(scores),), -1)


def _ids(classes: ClassSet, positions: torch.Tensor) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    ids = torch.cat([classes.ids, torch.tensor([-1])])  # position -1: no class, no guess
    return ids[positions].numpy()
