"""Which of a paper's claims hold here: a claim is that one method is ahead of another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Standing(NamedTuple):
    """A row's name, the method of the paper that it stands for, its figure and the paper's."""

    label: str
    method: str
    ours: float | None
    reported: float | None


def reproducibility(rows: Sequence[Standing]) -> list[str]:
    """For each row how many of the paper's claims about it hold, and which do not.

    >>> rows = [Standing("A", "A", 3.0, 9.0), Standing("B", "B", 2.0, 7.0)]
    >>> reproducibility([*rows, Standing("C", "C", 1.0, 8.0)])
    ['2 of 2', '1 of 2; not below C', '1 of 2; not above B']
    """
    return [_claims(row, rows) for row in rows]


def _claims(row: Standing, rows: Sequence[Standing]) -> str:
    held, broken = 0, []
    for other in rows:
        claimed, found = _sign(row.reported, other.reported), _sign(row.ours, other.ours)
        if row.method != other.method and claimed and found is not None:
            held += claimed == found
            if claimed != found:
                broken.append(f"{'above' if claimed > 0 else 'below'} {other.label}")
    if not held and not broken:
        return ""
    return f"{held} of {held + len(broken)}" + (f"; not {', '.join(broken)}" if broken else "")


def _sign(mine: float | None, other: float | None) -> int | None:
    """1 if mine is more, -1 if it is less; None where a figure is missing."""
    return None if mine is None or other is None else (mine > other) - (mine < other)
