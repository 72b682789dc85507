"""The record of a lesson: what was learned, and how well."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Lesson:
    """What one call of fit or partial_fit taught, and how well.

    ``accuracy`` is measured after the lesson on samples that were held back from it, and
    ``zero_shot`` before it on the samples of classes that had none until then: per-class accuracies
    with every known class as a candidate, or None where there was nothing to measure.
    """

    samples: int
    classes: int
    new_classes: int
    held_back: int
    accuracy: float | None
    zero_shot: float | None
