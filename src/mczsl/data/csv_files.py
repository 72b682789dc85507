"""CSV as people's programs write it.

It may start with a byte-order mark, use ``;`` or tabs, a decimal comma where that is unambiguous,
quoted line breaks, and have a header or not.
"""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mczsl.data.columns import (
    CLASS_HEADERS,
    COORDINATE,
    LABEL_HEADERS,
    Chooser,
    Columns,
    Table,
    chosen,
    column_name,
    is_counted,
    is_index,
)
from mczsl.data.convert import as_matrix
from mczsl.data.files import reading
from mczsl.errors import DataError

_LARGEST = float(np.finfo(np.float32).max)


def read_table(
    path: Path, choose: Chooser, named: bool, known: Collection[str] = frozenset()
) -> Table:
    """Numbers and labels; ``named`` says that there must be labels, headed or not.

    ``known`` are names that the columns of numbers may have: even numbers, if they are there, are
    a header then.
    """
    header: list[str] | None = None
    columns: Columns | None = None
    labels: list[str] = []
    rows: list[NDArray[np.float32]] = []
    width = 0
    with reading(path, "save it as CSV in UTF-8"):
        delimiter = _delimiter(path)
        for number, record in enumerate(_records(path, delimiter)):
            where = f"{path}: row {len(rows)}"
            if not record:
                raise DataError(f"{where} is a blank line; fill it in or drop it")
            if number == 0 and _is_header(record, named, set(known)):
                header = record
                continue
            if columns is None:
                width = len(record)
                header = _as_wide(header, width, where)
                numeric = [_is_number_or_empty(cell.strip()) for cell in record]
                columns = chosen(path, choose, header, numeric)
            if len(record) != width:
                raise DataError(
                    f"{where} has {len(record)} columns, the rows before it {width}; every row "
                    "needs the same"
                )
            rows.append(_floats(record, columns.numbers, delimiter, header, where))
            if columns.label is not None:
                labels.append(record[columns.label])
    if columns is None:
        raise DataError(f"{path}: has no rows of numbers")
    found = None if columns.label is None else labels
    return Table(np.stack(rows), found, columns.names, columns.guessed)


def _as_wide(header: list[str] | None, width: int, where: str) -> list[str] | None:
    """A header with a cell for each column: R writes none above its row names."""
    if header is None or len(header) == width:
        return header
    if len(header) + 1 == width:
        return ["", *header]
    raise DataError(f"{where} has {width} columns, the header {len(header)}; both need the same")


def records(path: Path) -> Iterator[list[str]]:
    """Records as texts, cut by the delimiter that the file uses."""
    return _records(path, _delimiter(path))


def _delimiter(path: Path) -> str:
    """The first of ``;``, tab and ``,`` that cuts the first two records into equally many cells."""
    for delimiter in (";", "\t"):
        try:
            widths = {len(record) for record in islice(_records(path, delimiter), 2)}
        except csv.Error:  # quotes that only another delimiter can explain
            continue
        if len(widths) == 1 and widths != {1}:
            return delimiter
    return ","


def _records(path: Path, delimiter: str) -> Iterator[list[str]]:
    """Records of a CSV file; a blank line is an empty record, except at the end."""
    blank = 0
    with path.open(encoding="utf-8-sig", newline="") as file:
        for record in csv.reader(file, delimiter=delimiter, strict=True):
            if record:
                yield from [[]] * blank
                blank = 0
                yield record
            else:
                blank += 1


def _is_header(record: list[str], named: bool, known: set[str]) -> bool:
    """Whether the first record names the columns: by texts, by 0, 1, 2, ..., or as known.

    Where only some cells are numbers it is data with a fault, to be reported as such.
    """
    cells = [cell.strip() for cell in record]
    lowered = [cell.lower() for cell in cells]
    others = set(cells) - known  # such as the header of a label or of an index
    if known and known <= set(cells) and not any(map(_is_number, others)):
        return True
    if named and lowered[0] in {"", *CLASS_HEADERS}:
        return True
    if LABEL_HEADERS & set(lowered[named:]):  # the first cell may be a class of such a name
        return True
    has_index = lowered[0] in LABEL_HEADERS if named else is_index(cells[0])
    if named or has_index:
        label = lowered.index(COORDINATE) if named and COORDINATE in lowered else 0
        cells = cells[:label] + cells[label + 1 :]
    # Fewer numbers than these may well be a row of data, and a lost row is worse than an error.
    counted = is_counted(cells) and (has_index or len(cells) >= 4)
    return counted or not any(map(_is_number_or_empty, cells))


def _is_number_or_empty(cell: str) -> bool:
    return not cell or _is_number(cell)


def _is_number(cell: str) -> bool:
    try:
        float(cell.replace(",", "."))
    except ValueError:
        return False
    return "_" not in cell


def _floats(
    record: list[str],
    places: Sequence[int],
    delimiter: str,
    header: Sequence[str] | None,
    where: str,
) -> NDArray[np.float32]:
    """The numbers at these places; what is wrong is named by the file's own column."""
    cells = [record[place] for place in places]
    try:
        if "_" in "".join(cells):  # float("1_0") is 10 to Python, but to nobody who writes CSV
            raise ValueError
        return as_matrix([float(cell) for cell in cells], where)
    except ValueError:  # also a DataError of numbers that are too large
        columns = [column_name(place, header) for place in places]
        found = zip(cells, columns, strict=True)
        return np.array(
            [_float(cell.strip(), delimiter, f"{where}, {column}") for cell, column in found],
            dtype=np.float32,
        )


def _float(text: str, delimiter: str, where: str) -> float:
    """One number, which may have a decimal comma where that is unambiguous."""
    if "," in text and delimiter == ",":
        raise DataError(
            f"{where}: {text!r} may be a decimal comma or a thousands mark; write a decimal "
            "point, or separate the columns by ';'"
        )
    if not _is_number(text):
        found = "is empty" if not text else f"is {text!r}"
        raise DataError(f"{where} {found}; every cell must be a number")
    number = float(text.replace(",", "."))
    if _LARGEST < abs(number) < float("inf"):
        raise DataError(f"{where}: {text} is too large for 32-bit numbers; scale the values down")
    return number
