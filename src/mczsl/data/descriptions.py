"""Texts that describe classes: a table with the class in its first column and a text after it."""

from __future__ import annotations

import csv
from pathlib import Path

from mczsl.data.columns import LABEL_HEADERS, is_index
from mczsl.data.files import reading
from mczsl.errors import DataError

_TEXT_HEADERS = {"description", "descriptions", "text", "0"}  # 0: a series of pandas


def read_descriptions(path: Path) -> dict[str, str]:
    """Each class's text from a CSV of two columns, separated by ``,``, ``;`` or tabs.

    It may have a header, and then also a column before them that counts the rows.
    """
    records = _records(path)
    if records and _is_header(records[0]):
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
    readings = [_without_index(rows) for rows in readings]
    whole = [rows for rows in readings if all(len(row) == 2 for row in rows)]
    return [*whole, readings[0]][0]


def _without_index(rows: list[list[str]]) -> list[list[str]]:
    """Without a first column that only counts the rows, as pandas writes its index."""
    header = rows[0] if rows else []
    has_index = len(header) == 3 and is_index(header[0]) and _is_header(header[1:])
    return [row[1:] for row in rows] if has_index else rows


def _is_header(row: list[str]) -> bool:
    """Whether a first row names the columns, by one of them at least."""
    cells = [cell.strip().lower() for cell in row]
    return cells[0] in {"", *LABEL_HEADERS} or (len(cells) == 2 and cells[1] in _TEXT_HEADERS)
