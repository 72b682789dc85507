"""What a dataset is, and everything that is wrong with it, in words and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mczsl.data import xlsa17
from mczsl.data.catalog import find_path, is_file_dataset, open_dataset
from mczsl.data.checks import Problem, warning
from mczsl.data.dataset import DatasetParts, FeatureDataset
from mczsl.errors import printable

_SHOWN = 5  # class names given as examples


@dataclass(frozen=True)
class CheckReport:
    """The facts about a dataset and its problems; ``ok`` when it can be used."""

    name: str
    facts: dict[str, Any]
    problems: tuple[Problem, ...]

    @property
    def ok(self) -> bool:
        """Whether no problem is an error."""
        return all(problem.level != "error" for problem in self.problems)

    def to_json(self) -> dict[str, Any]:
        """The report as plain values."""
        problems = [problem._asdict() for problem in self.problems]
        return {"name": self.name, "ok": self.ok, "facts": self.facts, "problems": problems}

    def __str__(self) -> str:
        lines = [self.name, *(f"  {key:<17}{_words(fact)}" for key, fact in self.facts.items())]
        lines += [f"{problem.level}: {problem.message}" for problem in self.problems]
        errors = sum(problem.level == "error" for problem in self.problems)
        lines.append(f"{_count(errors, 'error')}, {_count(len(self.problems) - errors, 'warning')}")
        return "\n".join(map(printable, lines))


def check(
    name: str,
    *,
    features: str | None = None,
    semantics: str | None = None,
    root: Path | str | None = None,
) -> CheckReport:
    """Look at everything in the dataset of that name or at that path.

    Without ``features`` and ``semantics`` the usual ones are looked at, or else the first there.
    """
    others: list[str] = []
    if is_file_dataset(name) and xlsa17.is_dataset(path := find_path(name, root)):
        in_folder = {"features": xlsa17.features_in(path), "semantics": xlsa17.semantics_in(path)}
        features = features or _usual(in_folder["features"], xlsa17.FEATURES)
        semantics = semantics or _usual(in_folder["semantics"], xlsa17.SEMANTICS)
        others = [
            f"--{kind} {each}"
            for kind, names in in_folder.items()
            for each in names
            if each not in (features, semantics)
        ]
    found = open_dataset(name, features=features, semantics=semantics, root=root)
    problems = found.all_problems() if isinstance(found, DatasetParts) else []
    problems += _attribute_warnings(found)
    if isinstance(found, DatasetParts) and all(each.level != "error" for each in problems):
        found = found.build()
    if isinstance(found, FeatureDataset):
        problems += _image_warnings(found)
    facts = describe(found) | ({"not checked": others} if others else {})
    return CheckReport(found.name, facts, tuple(problems))


def describe(dataset: FeatureDataset | DatasetParts) -> dict[str, Any]:
    """What a dataset is, as far as it could be read."""
    facts: dict[str, Any] = dict(dataset.provenance)
    features, labels, names = dataset.features, dataset.labels, dataset.class_names
    if features is not None and features.ndim == 2:
        facts["samples"], facts["dimensions"] = features.shape
        facts["stored as"] = str(features.dtype)
    if names is not None:
        facts["classes"] = len(names)
        facts["such as"] = list(names[:_SHOWN])
    if isinstance(dataset, FeatureDataset):
        facts["seen classes"] = len(dataset.seen_classes)
        facts["unseen classes"] = len(dataset.unseen_classes)
    if dataset.attributes is not None and dataset.attributes.ndim == 2:
        facts["attributes"] = dataset.attributes.shape[1]
    if labels is not None and len(labels) and labels.min() >= 0:
        counts = np.bincount(labels)
        facts["images per class"] = _spread(counts[counts > 0])
    if dataset.splits is not None:
        facts["splits"] = {name: len(rows) for name, rows in dataset.splits.sets().items()}
        facts["validation lists"] = [len(each) for each in dataset.splits.validation_classes]
    if isinstance(dataset, FeatureDataset):
        facts["fingerprint"] = dataset.fingerprint
    return facts


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _usual(names: list[str], usual: str) -> str:
    return usual if usual in names or not names else names[0]


def _spread(counts: NDArray[np.int64]) -> dict[str, float]:
    return {
        "min": int(counts.min()),
        "median": float(np.median(counts)),
        "max": int(counts.max()),
    }


def _words(fact: Any) -> str:
    if isinstance(fact, dict):
        return ", ".join(f"{key} {value:g}" for key, value in fact.items())
    return ", ".join(map(str, fact)) or "none" if isinstance(fact, list) else str(fact)


def _attribute_warnings(dataset: FeatureDataset | DatasetParts) -> Iterator[Problem]:
    attributes = dataset.attributes
    if attributes is None or attributes.ndim != 2 or not attributes.size:
        return
    constant = np.flatnonzero((attributes == attributes[0]).all(axis=0))
    if len(constant) and len(attributes) > 1:
        yield warning(
            f"attributes: column {constant[0]} is the same for every class and says nothing "
            f"({len(constant)} such columns); drop it"
        )
    negative = attributes[attributes < 0]
    # Few negative values, or -1 alone in a table that reaches beyond 1, mark what is not known.
    marks = len(negative) < 0.01 * attributes.size or (
        bool((negative == -1).all()) and attributes.max() > 1
    )
    if len(negative) and marks:
        row, column = np.argwhere(attributes < 0)[0]
        yield warning(
            f"attributes: {attributes[row, column]:.4g} at row {row}, column {column} looks like a "
            f"mark for a missing value ({len(negative)} negative values); replace it if so"
        )


def _image_warnings(dataset: FeatureDataset) -> Iterator[Problem]:
    """What sound data can still lack."""
    labels, names, splits = dataset.labels, dataset.class_names, dataset.splits
    counts = {
        set_name: np.bincount(labels[rows], minlength=len(names))
        for set_name, rows in splits.sets().items()
    }
    for set_name in ("test_seen", "test_unseen"):
        if not counts[set_name].any():
            yield warning(f"split {set_name} is empty; what it measures cannot be measured")
    trained = counts["trainval"] > 0
    findings = {
        "no image": np.bincount(labels, minlength=len(names)) == 0,
        "a single training image": counts["trainval"] == 1,
        "no image in test_seen": trained & (counts["test_seen"] == 0),
    }
    for what, where in findings.items():
        if where.any():
            first = names[int(np.argmax(where))]
            yield warning(f"class {first!r} has {what} ({np.count_nonzero(where)} such classes)")
    unused = len(labels) - sum(len(rows) for rows in splits.sets().values())
    if unused:
        yield warning(f"{unused} images are in no split and are not used")
    if not splits.validation_classes:
        yield warning(
            "no validation lists: to choose hyperparameters, some seen classes must play the unseen"
        )
