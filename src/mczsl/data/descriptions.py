"""Texts that describe classes: a table with the class in its first column and a text after it."""

from __future__ import annotations

import csv
from pathlib import Path

from mczsl.data.files import reading
from mczsl.errors import DataError

_HEADERS = {"label", "class", "class_name", "name"}


def read_descriptions(path: Path) -> dict[str, str]:
    """Each class's text from a CSV of two columns, separated by ``,``, ``;`` or tabs."""
    records = _records(path)
    if records and records[0][0].strip().lower() in _HEADERS:
        records = records[1:]
    found: dict[str, str] = {}
    for number, record in enumerate(records):
        if len(record) != 2:
            raise DataError(
                f"{path}: row {number} has {len(record)} columns; it needs two, the class and its "
                "description (in double quotes if there is a comma in it)"
            )
        name, text = (cell.strip() for cell in record)
        if name in found:
            raise DataError(f"{path}: class {name!r} is described twice; leave one out")
        found[name] = text
    if not found:
        raise DataError(f"{path}: describes no class")
    return found


def _records(path: Path) -> list[list[str]]:
    """The rows, cut by the delimiter that gives two cells everywhere, or else by commas."""
    with reading(path, "save it as CSV in UTF-8"):
        lines = path.read_text(encoding="utf-8-sig").splitlines(keepends=True)
        readings = [[row for row in csv.reader(lines, delimiter=each) if row] for each in ",;\t"]
    whole = [rows for rows in readings if all(len(row) == 2 for row in rows)]
    return [*whole, readings[0]][0]
