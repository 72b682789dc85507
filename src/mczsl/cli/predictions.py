"""Ranked predictions as text."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

from numpy.typing import NDArray

from mczsl.reports.formats import spreadsheet_safe


def as_csv(
    labels: NDArray[Any], shares: NDArray[Any], seen: set[Any], files: list[str] | None = None
) -> str:
    """A line for each row and rank. No name is anything to a terminal or a spreadsheet but text."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    file_header = [] if files is None else ["file"]
    writer.writerow(["row", *file_header, "rank", "label", "probability", "status"])
    for row, ranked in enumerate(_ranked(labels, shares)):
        file = [] if files is None else [spreadsheet_safe(files[row])]
        for rank, (label, share) in enumerate(ranked, start=1):
            status = "seen" if label in seen else "unseen"
            writer.writerow([row, *file, rank, spreadsheet_safe(label), f"{share:.6g}", status])
    return text.getvalue()


def as_json_lines(
    labels: NDArray[Any], shares: NDArray[Any], seen: set[Any], files: list[str] | None = None
) -> str:
    """A JSON object for each row, one on each line."""
    lines = [
        json.dumps(
            {
                "row": row,
                **({} if files is None else {"file": files[row]}),
                "ranked": [
                    {"label": label, "probability": round(share, 6), "seen": label in seen}
                    for label, share in ranked
                ],
            }
        )
        for row, ranked in enumerate(_ranked(labels, shares))
    ]
    return "".join(f"{line}\n" for line in lines)


def accuracy_line(best: NDArray[Any], true: list[Any], known: set[Any]) -> str:
    """How many of the rows that have a label were given it."""
    pairs = [pair for pair in zip(best.tolist(), true, strict=True) if pair[1] != ""]
    if not pairs:
        return "no row has a label, so no accuracy can be told"
    right = sum(found == label for found, label in pairs)
    strange = sum(label not in known for _, label in pairs)
    note = f"; {strange} have a label that the model does not know" if strange else ""
    return f"accuracy {100 * right / len(pairs):.1f} % of {len(pairs)} rows with labels{note}"


def _ranked(labels: NDArray[Any], shares: NDArray[Any]) -> Iterator[list[tuple[Any, float]]]:
    for names, numbers in zip(labels.tolist(), shares.tolist(), strict=True):
        yield list(zip(names, numbers, strict=True))
