"""One lesson: what is trained on, what is held back to measure, and what the model becomes."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mczsl.errors import DataError
from mczsl.estimator.inputs import (
    Rows,
    held_back,
    training_table,
    warn_of_scale,
    warn_of_zeros,
)
from mczsl.estimator.lessons import Lesson
from mczsl.estimator.model import Model, padded_table
from mczsl.methods.base import Progress
from mczsl.protocols import TableSamples
from mczsl.seeding import numpy_generator


def teach(
    model: Model, X: NDArray[Any], places: Rows, validation_fraction: float
) -> Generator[Progress, None, Model]:
    """Learn rows of the classes at these places; the result is the model after it."""
    X, usable = _usable(model, X, places)
    seed = model.method.setting.seeds.training
    generator = numpy_generator(seed, "validation", len(model.lessons))
    aside = held_back(places, validation_fraction, generator) & usable
    is_new = ~model.classes.seen.numpy()[places]
    zero_shot = None
    if model.lessons and model.semantics.source != "one-hot":
        zero_shot = model.accuracy(X, places, np.flatnonzero(usable & is_new))
    kept = np.flatnonzero(usable & ~aside)
    samples = TableSamples(padded_table(X), model.classes.ids.numpy()[places], kept)
    taught = yield from model.learning(samples)
    lesson = Lesson(
        samples=len(kept),
        classes=len(np.unique(places)),
        new_classes=len(np.unique(places[is_new])),
        held_back=int(aside.sum()),
        accuracy=taught.accuracy(X, places, np.flatnonzero(aside)),
        zero_shot=zero_shot,
    )
    return replace(taught, lessons=(*model.lessons, lesson))


def _usable(
    model: Model, X: NDArray[Any], places: Rows
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """The rows in usable form, and which of them say anything."""
    X, zeros = training_table(X)
    warn_of_zeros(zeros, "a sample without any feature teaches nothing and is left out")
    usable = np.ones(len(X), dtype=bool)
    usable[zeros] = False
    lost = np.setdiff1d(places, places[usable])
    if len(lost):
        name = model.classes.labels[lost[0]]
        raise DataError(f"X: class {name!r} has only all-zero rows; extract its features again")
    if not model.lessons:  # later it is too late to scale anything
        warn_of_scale(X, len(np.unique(places)))
    return X, usable
