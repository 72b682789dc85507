"""Ranked predictions as text."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

from numpy.typing import NDArray

from mczsl.reports.formats import spreadsheet_safe


def as_csv(labels: NDArray[Any], shares: NDArray[Any], seen: set[Any]) -> str:
    """A line for each row and rank. No name is anything to a terminal or a spreadsheet but text."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["row", "rank", "label", "probability", "status"])
    for row, ranked in enumerate(_ranked(labels, shares)):
        for rank, (label, share) in enumerate(ranked, start=1):
            status = "seen" if label in seen else "unseen"
            writer.writerow([row, rank, spreadsheet_safe(label), f"{share:.6g}", status])
    return text.getvalue()


def as_json_lines(labels: NDArray[Any], shares: NDArray[Any], seen: set[Any]) -> str:
    """A JSON object for each row, one on each line."""
    lines = [
        json.dumps(
            {
                "row": row,
                "ranked": [
                    {"label": label, "probability": round(share, 6), "seen": label in seen}
                    for label, share in ranked
                ],
            }
        )
        for row, ranked in enumerate(_ranked(labels, shares))
    ]
    return "".join(f"{line}\n" for line in lines)


def _ranked(labels: NDArray[Any], shares: NDArray[Any]) -> Iterator[list[tuple[Any, float]]]:
    for names, numbers in zip(labels.tolist(), shares.tolist(), strict=True):
        yield list(zip(names, numbers, strict=True))
