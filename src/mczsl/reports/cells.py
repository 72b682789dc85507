"""Cells of tables: figures with their deviation, and which of them is the best."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Cell:
    """A text or a figure; ``rank`` 1 is the best of its column, 2 the second."""

    value: str | float | None
    deviation: float | None = None
    rank: int = 0

    @property
    def number(self) -> float | None:
        """The figure, if it is one."""
        return self.value if isinstance(self.value, float) else None

    def text(self, missing: str = "–") -> str:
        """As people read it."""
        if self.value is None or isinstance(self.value, str):
            return self.value or missing
        spread = "" if self.deviation is None else f" ± {self.deviation:.2f}"
        return f"{self.value:.2f}{spread}"


def mean_cell(numbers: Sequence[float]) -> Cell:
    """Mean and sample deviation; a single number has none.

    >>> mean_cell([1.0, 2.0, 3.0]).text(), mean_cell([2.0]).text(), mean_cell([]).text()
    ('2.00 ± 1.00', '2.00', '–')
    """
    if not numbers:
        return Cell(None)
    deviation = statistics.stdev(numbers) if len(numbers) > 1 else None
    return Cell(statistics.fmean(numbers), deviation)


def ranked(cells: Sequence[Cell], eligible: Sequence[bool], higher_is_better: bool) -> list[Cell]:
    """Mark the best and the second by what is printed; only the eligible compete."""
    values = [
        round(cell.value, 2) if ok and isinstance(cell.value, float) else None
        for cell, ok in zip(cells, eligible, strict=True)
    ]
    order = sorted({value for value in values if value is not None}, reverse=higher_is_better)
    places = {value: place for place, value in enumerate(order[:2], start=1)}
    return [
        replace(cell, rank=places.get(value, 0) if value is not None else 0)
        for cell, value in zip(cells, values, strict=True)
    ]
