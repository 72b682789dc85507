"""Tables of numbers and names: CSV, parquet and NumPy files, as people's programs write them.

CSV may start with a byte-order mark, use ``;`` or tabs, a decimal comma where that is unambiguous,
quoted line breaks, and have a header or not. Parquet needs the extra ``tables``.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mczsl.data.convert import as_integers, as_matrix
from mczsl.data.files import reading, refuse_bomb
from mczsl.errors import DataError, unknown_name

SUFFIXES = (".npy", ".parquet", ".csv", ".tsv", ".txt")
_LABEL_HEADERS = {"label", "labels", "class", "classes", "class_name", "class_names", "name"}


def read_matrix(path: Path) -> NDArray[np.floating]:
    """A table of numbers, one row for each sample.

    A ``.npy`` file of float32 or float16 stays on disk (memory-mapped); all else becomes float32.
    """
    match _suffix(path):
        case ".npy":
            array = read_npy(path)
            mapped = array.dtype in (np.float32, np.float16) and array.flags.c_contiguous
            return array if mapped else as_matrix(array, path.name)
        case ".parquet":
            return _parquet_numbers(path, _parquet(path))
        case _:
            return _csv_table(path, named=False)[1]


def read_attributes(path: Path) -> tuple[list[str], NDArray[np.float32]]:
    """A table with a class name in its first column and the numbers that describe it after."""
    match _suffix(path):
        case ".npy":
            raise DataError(f"{path}: .npy has no room for class names; use .csv or .parquet")
        case ".parquet":
            table = _parquet(path)
            position = _name_column(table)
            names = label_texts(table.column(position).to_pylist(), path.name)
            return names, _parquet_numbers(path, table.remove_column(position))
        case _:
            return _csv_table(path, named=True)


def read_labels(path: Path) -> list[str]:
    """A list of labels or names as texts; of several columns the one named ``label``.

    Whole numbers lose their fraction (``3.0`` is ``3``). In ``.txt`` each line is one label.
    """
    match _suffix(path):
        case ".npy":
            return label_texts(read_npy(path), path.name)
        case ".parquet":
            table = _parquet(path)
            column = _label_column(path, table.column_names)
            return label_texts(table.column(column).to_pylist(), path.name)
        case ".txt":
            with reading(path, "save it as UTF-8 text"):
                lines = path.read_text(encoding="utf-8-sig").rstrip().splitlines()
            return label_texts(lines, path.name)
        case _:
            return _csv_labels(path)


def read_npy(path: Path) -> NDArray[Any]:
    """A ``.npy`` file, memory-mapped; one that holds Python objects is refused."""
    with reading(path, "save plain numbers or texts with numpy.save"):
        array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
        return array


def label_texts(values: Iterable[Any], what: str) -> list[str]:
    """Labels of any type as texts; a missing one is an error.

    >>> label_texts([3.0, "cat ", 7], "labels")
    ['3', 'cat', '7']
    """
    if isinstance(values, np.ndarray):
        if values.dtype.kind in "iuf":
            return [str(number) for number in as_integers(values, what).tolist()]
        values = values.ravel().tolist()
    return [_label_text(value, row, what) for row, value in enumerate(values)]


def _label_text(value: Any, row: int, what: str) -> str:
    if isinstance(value, bytes):
        value = value.decode("utf-8", errors="replace")
    if value is None or value != value or (isinstance(value, str) and not value.strip()):
        raise DataError(f"{what}: row {row} is empty; fill it in or drop the row")
    if isinstance(value, str):
        text = value.strip()
        whole, point, fraction = text.partition(".")
        is_whole = point and whole.removeprefix("-").isdecimal() and not fraction.strip("0")
        return whole if is_whole else text
    if isinstance(value, bool) or not isinstance(value, int | float) or value % 1:
        raise DataError(f"{what}: row {row} is {value!r}; a label is a text or a whole number")
    return str(int(value))


def _suffix(path: Path) -> str:
    suffix = path.suffix.lower()
    if path.is_dir():
        raise DataError(f"{path}: is a folder; name a file")
    if suffix not in SUFFIXES:
        raise unknown_name(f"kind of table in {path.name}:", suffix, SUFFIXES, error=DataError)
    return suffix


# ------------------------------------------------------------------ CSV


def _csv_table(path: Path, named: bool) -> tuple[list[str], NDArray[np.float32]]:
    """Row names (when ``named``) and numbers, without header and index column."""
    skip = 1 if named else 0
    first_cells: list[str] = []
    rows: list[NDArray[np.float32]] = []
    with reading(path, "save it as CSV in UTF-8"):
        delimiter = _delimiter(path)
        for number, record in enumerate(_records(path, delimiter)):
            where = f"{path}: row {len(rows)}"
            if not record:
                raise DataError(f"{where} is a blank line; fill it in or drop it")
            if number == 0 and _is_header(record, named):
                # pandas writes an unnamed first column for its index
                skip += not named and not record[0].strip()
                continue
            if rows and len(record) - skip != len(rows[0]):
                raise DataError(
                    f"{where} has {len(record)} columns, the rows before it "
                    f"{len(rows[0]) + skip}; every row needs the same"
                )
            rows.append(_floats(record[skip:], delimiter, where))
            first_cells.append(record[0])
    if not rows:
        raise DataError(f"{path}: has no rows of numbers")
    return label_texts(first_cells, f"{path}: class names") if named else [], np.stack(rows)


def _csv_labels(path: Path) -> list[str]:
    with reading(path, "save it as CSV in UTF-8"):
        records = list(_records(path, _delimiter(path)))
    if not records:
        raise DataError(f"{path}: is empty")
    header = [cell.strip().lower() for cell in records[0]]
    has_header = bool(_LABEL_HEADERS & set(header)) or (len(header) == 2 and not header[0])
    column = _label_column(path, header) if has_header or len(header) > 1 else 0
    cells = (record[column] if column < len(record) else "" for record in records[has_header:])
    return label_texts(cells, path.name)


def _label_column(path: Path, columns: list[str]) -> int:
    """Which column holds the labels: the only one, the one with such a name, or beside an index."""
    named = [place for place, name in enumerate(columns) if name.strip().lower() in _LABEL_HEADERS]
    rest = [place for place, name in enumerate(columns) if not _is_index(name)]
    for places in (named, rest):
        if len(places) == 1:
            return places[0]
    raise DataError(f"{path}: has {len(columns)} columns; name the one with the labels 'label'")


def _is_index(column: str) -> bool:
    return not column.strip() or column.startswith("__index_level_")


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


def _is_header(record: list[str], named: bool) -> bool:
    """Whether the first record names the columns: by no number at all, or by 0, 1, 2, ...

    Where only some cells are numbers it is data with a fault, to be reported as such.
    """
    cells = [cell.strip() for cell in record]
    if named and cells[0].lower() in {"", *_LABEL_HEADERS}:
        return True
    has_index = cells[0] == ""  # as pandas writes it
    if named or has_index:
        cells = cells[1:]
    counted = [[str(number + start) for number in range(len(cells))] for start in (0, 1)]
    # Fewer numbers than these may well be a row of data, and a lost row is worse than an error.
    is_counted = cells in counted and (has_index or len(cells) >= 4)
    return is_counted or not any(map(_is_number_or_empty, cells))


def _is_number_or_empty(cell: str) -> bool:
    return not cell or _is_number(cell)


def _is_number(cell: str) -> bool:
    try:
        float(cell.replace(",", "."))
    except ValueError:
        return False
    return "_" not in cell


def _floats(cells: list[str], delimiter: str, where: str) -> NDArray[np.float32]:
    try:
        if "_" in "".join(cells):  # float("1_0") is 10 to Python, but to nobody who writes CSV
            raise ValueError
        return as_matrix([float(cell) for cell in cells], where)
    except ValueError as problem:
        if isinstance(problem, DataError):
            raise
    values = []
    for column, cell in enumerate(cells):
        text = cell.strip()
        if "," in text and delimiter == ",":
            raise DataError(
                f"{where}, column {column}: {text!r} may be a decimal comma or a thousands mark; "
                "write a decimal point, or separate the columns by ';'"
            )
        if not _is_number(text):
            found = "is empty" if not text else f"is {text!r}"
            raise DataError(f"{where}, column {column} {found}; every cell must be a number")
        values.append(float(text.replace(",", ".")))
    return as_matrix(values, where)


# ------------------------------------------------------------------ parquet


def _parquet(path: Path) -> Any:
    try:
        from pyarrow import parquet
    except (ImportError, RuntimeError) as problem:  # a broken install raises the latter
        raise DataError(
            f"{path}: reading parquet needs the extra 'tables': pip install 'mczsl[tables]'"
        ) from problem
    with reading(path, "write it again as parquet"):
        file = parquet.ParquetFile(path)
        cells = file.metadata.num_rows * file.metadata.num_columns
        refuse_bomb(path, "the table", path.stat().st_size, 8 * cells)
        return file.read()


def _name_column(table: Any) -> int:
    """The first column, unless another is the only one of texts (pandas stores its index last)."""
    from pyarrow import types

    texts = [
        place
        for place, field in enumerate(table.schema)
        if types.is_string(field.type) or types.is_large_string(field.type)
    ]
    return texts[0] if len(texts) == 1 else 0


def _parquet_numbers(path: Path, table: Any) -> NDArray[np.float32]:
    kept = table.select([name for name in table.column_names if not _is_index(name)])
    with reading(path, "store every column as plain numbers"):
        if kept.num_columns == 1 and "list" in str(kept.schema[0].type):
            return as_matrix(kept.column(0).to_pylist(), path.name)
        columns = [
            as_matrix(kept.column(name).to_numpy(), f"{path.name}: column {name!r}")
            for name in kept.column_names
        ]
    if not columns:
        raise DataError(f"{path}: has no columns of numbers")
    return np.stack(columns, axis=1)
