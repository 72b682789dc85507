"""What a page shows of a run beyond its figures: a map, a curve, and the classes that go wrong.

The map is a plane through the prepared test features, found once (principal components), so that
prototypes can be watched as they move in it from task to task.
"""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import normalize

from mczsl import storage
from mczsl.errors import StorageError
from mczsl.evaluation.calibration import CalibratedMethod
from mczsl.evaluation.metrics import (
    Outcomes,
    best_offset,
    harmonic_mean,
    mean_accuracy,
    per_class_accuracy,
    seen_unseen_curve,
)
from mczsl.evaluation.stage import compare
from mczsl.experiments.folder import read_json
from mczsl.methods.base import Method
from mczsl.methods.prototypes import PrototypeMethod
from mczsl.protocols import Stage, TableSamples, class_set
from mczsl.runs.loop import Run
from mczsl.seeding import numpy_generator

ANALYSIS = "analysis.json"
_EXTENT = 1000  # the map goes from -1000 to 1000, in whole numbers
_POINTS, _CURVE_POINTS, _WORST, _TAKEN_FOR = 400, 100, 10, 3
Integers = NDArray[np.int64]


class Analysis:
    """Grows with every stage of a run, and is kept beside its checkpoint."""

    def __init__(self, run: Run, folder: Path):
        self._run, self._path = run, folder / ANALYSIS
        self._method = _inner(run.method)
        self._rows = _some_rows(run)
        self._stages = [
            stage
            for stage in _read(self._path).get("stages", [])
            if stage["task"] <= len(run.results)
        ]
        if len(self._stages) < len(run.results):  # stopped just before this was written
            self.add_stage()

    @cached_property
    def _plane(self) -> tuple[Tensor, Tensor]:
        """Its centre and its scaled axes, the same for all stages; known after the first task."""
        features = self._directions(self._rows)
        centre, axes = features.mean(dim=0), torch.zeros(features.shape[1], 2)
        found = torch.linalg.svd(features - centre, full_matrices=False).Vh[:2]
        axes[:, : len(found)] = found.T
        spread = float((features - centre).matmul(axes).abs().max())
        return centre, axes * (_EXTENT / max(spread, 1e-12))

    def add_stage(self) -> None:
        """Look at the stage that has just been tested."""
        run, number = self._run, len(self._run.results)
        stage = run.plan.stages[number - 1]
        known = np.concatenate([stage.seen, stage.unseen])
        self._stages.append(
            {
                "task": number,
                "seen": stage.seen.tolist(),
                "unseen": stage.unseen.tolist(),
                "prototypes": self._prototypes(known),
            }
        )
        told: dict[str, Any] = {
            "class_names": run.dataset.class_names,
            "points": self._points(),
            "stages": self._stages,
        }
        if number >= run.plan.scored:
            last = run.plan.stages[run.plan.scored - 1]
            told |= {"task": run.plan.scored, **self._before_or(last, number)}
        storage.write_atomically(self._path, json.dumps(told).encode())

    def _before_or(self, stage: Stage, number: int) -> dict[str, Any]:
        """Curve and worst classes of the last stage that counts: only then is the model right."""
        if number > self._run.plan.scored:
            before = _read(self._path)
            return {key: before[key] for key in ("curve", "worst") if key in before}
        outcomes = compare(self._run.method, self._run.dataset, stage)
        joint = self._run.config.candidates == "joint"
        guesses = outcomes.predictions() if joint else outcomes.restricted_predictions()
        curve = _curve(outcomes, guesses)
        if joint and curve is not None:  # between restricted candidates an offset decides nothing
            curve["best_H"] = _best_harmonic(outcomes)
        return {"curve": curve, "worst": _worst(outcomes, guesses, stage, self._run)}

    def _points(self) -> list[list[int]]:
        places = self._placed(self._directions(self._rows))
        labels = self._run.dataset.labels[self._rows].tolist()
        return [[*place, label] for place, label in zip(places, labels, strict=True)]

    def _prototypes(self, classes: Integers) -> dict[str, list[int]]:
        if not isinstance(self._method, PrototypeMethod):
            return {}
        prototypes = self._method.prototypes(class_set(self._run.dataset, classes))
        with torch.no_grad():
            weights = normalize(self._method.class_weights(prototypes), dim=1)
        places = self._placed(weights.cpu())
        return {str(number): place for number, place in zip(classes, places, strict=True)}

    def _directions(self, rows: Integers) -> Tensor:
        dataset = self._run.dataset
        features = TableSamples(dataset.features, dataset.labels, rows).take(
            torch.arange(len(rows))
        )
        if isinstance(self._method, PrototypeMethod):
            return self._method.directions(features).cpu()
        return normalize(features, dim=1)

    def _placed(self, features: Tensor) -> list[list[int]]:
        centre, axes = self._plane
        places = (features - centre).matmul(axes)
        return [[round(x), round(y)] for x, y in places.tolist()]


def _inner(method: Method) -> Method:
    return method.method if isinstance(method, CalibratedMethod) else method


def _some_rows(run: Run) -> Integers:
    """Some test rows, of every class that is ever tested."""
    stages = run.plan.stages
    parts = [rows for stage in stages for rows in (stage.test_seen_rows, stage.test_unseen_rows)]
    rows = np.unique(np.concatenate(parts))
    if len(rows) <= _POINTS:
        return rows
    return np.sort(numpy_generator(0, "map").choice(rows, _POINTS, replace=False))


def _curve(outcomes: Outcomes, guesses: Integers) -> dict[str, Any] | None:
    """Seen against unseen accuracy in percent, and the point where the method stands."""
    if outcomes.is_seen.all() or not outcomes.is_seen.any():
        return None
    _, seen, unseen = seen_unseen_curve(outcomes)
    kept = np.unique(np.linspace(0, len(seen) - 1, _CURVE_POINTS).astype(int))
    return {
        "seen": (100 * seen[kept]).round(2).tolist(),
        "unseen": (100 * unseen[kept]).round(2).tolist(),
        "here": [round(100 * accuracy, 2) for accuracy in _accuracies(outcomes, guesses)],
    }


def _best_harmonic(outcomes: Outcomes) -> float:
    """H in percent with the offset that the test samples themselves would pick.

    It says how much calibration leaves to be gained, and is never a result.
    """
    guesses = outcomes.predictions(best_offset(outcomes))
    return round(100 * harmonic_mean(*_accuracies(outcomes, guesses)), 2)


def _accuracies(outcomes: Outcomes, guesses: Integers) -> tuple[float, float]:
    """Seen and unseen accuracy of these guesses."""
    seen, unseen = (
        mean_accuracy(
            per_class_accuracy(outcomes.labels, guesses, np.unique(outcomes.labels[side]))
        )
        for side in (outcomes.is_seen, ~outcomes.is_seen)
    )
    return seen, unseen


def _worst(outcomes: Outcomes, guesses: Integers, stage: Stage, run: Run) -> list[dict[str, Any]]:
    """The classes with the lowest accuracy, and what their samples are taken for."""
    names = run.dataset.class_names
    classes = np.unique(outcomes.labels)
    accuracy = per_class_accuracy(outcomes.labels, guesses, classes)
    found = []
    for at in np.argsort(accuracy, kind="stable")[:_WORST]:
        number = classes[at]
        mine = guesses[outcomes.labels == number]
        others, counts = np.unique(mine[mine != number], return_counts=True)
        order = np.argsort(-counts, kind="stable")[:_TAKEN_FOR]
        found.append(
            {
                "class": names[number],
                "seen": bool(np.isin(number, stage.seen)),
                "accuracy": round(100 * float(accuracy[at]), 1),
                "samples": len(mine),
                "taken_for": [
                    [names[others[i]], round(100 * float(counts[i]) / len(mine), 1)] for i in order
                ],
            }
        )
    return found


def _read(path: Path) -> dict[str, Any]:
    try:
        return read_json(path)
    except StorageError:
        return {}
