"""Tables of numbers and names: CSV, parquet and NumPy files, as people's programs write them.

CSV may start with a byte-order mark, use ``;`` or tabs, a decimal comma where that is unambiguous,
quoted line breaks, and have a header or not. Parquet needs the extra ``tables``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mczsl.data import csv_files
from mczsl.data.columns import (
    LABEL_HEADERS,
    Chooser,
    Columns,
    Table,
    chosen,
    label_column,
    of_classes,
    of_features,
)
from mczsl.data.convert import as_integers, as_matrix
from mczsl.data.files import reading, refuse_bomb
from mczsl.errors import DataError, unknown_name

SUFFIXES = (".npy", ".parquet", ".csv", ".tsv", ".txt")


def read_matrix(path: Path) -> NDArray[np.floating]:
    """A table of numbers, one row for each sample.

    A ``.npy`` file of float32 or float16 stays on disk (memory-mapped); all else becomes float32.
    """
    match _suffix(path):
        case ".npy":
            array = read_npy(path)
            mapped = array.dtype in (np.float32, np.float16) and array.flags.c_contiguous
            return array if mapped else as_matrix(array, path.name)
        case _:
            return read_table(path, of_features, named=False).numbers


def read_attributes(path: Path) -> tuple[list[str], NDArray[np.float32]]:
    """Class names, and the numbers that describe each class."""
    names, table = read_classes(path)
    return names, table.numbers


def read_classes(path: Path) -> tuple[list[str], Table]:
    """A table with a row for each class: its name, headed so or first, and what describes it."""
    if _suffix(path) == ".npy":
        raise DataError(f"{path}: .npy has no room for class names; use .csv or .parquet")
    table = read_table(path, of_classes, named=True)
    return label_texts(table.labels or [], f"{path}: class names"), table


def read_table(
    path: Path, choose: Chooser, named: bool, known: Collection[str] = frozenset()
) -> Table:
    """A CSV or parquet file, whose columns ``choose`` tells apart.

    ``named`` says that one of them must hold labels, and ``known`` what the others may be called;
    both help to tell a header from data.
    """
    if _suffix(path) == ".parquet":
        return _parquet_table(path, choose)
    return csv_files.read_table(path, choose, named, known)


def read_labels(path: Path) -> list[str]:
    """A list of labels or names as texts; of several columns the one named ``label``.

    Whole numbers lose their fraction (``3.0`` is ``3``). In ``.txt`` each line is one label.
    """
    match _suffix(path):
        case ".npy":
            return label_texts(with_truths_as_texts(read_npy(path)), path.name)
        case ".parquet":
            table = _parquet(path)
            column = chosen(path, label_column, table.column_names)
            labels = with_truths_as_texts(table.column(column).to_pylist())
            return label_texts(labels, path.name)
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


def with_truths_as_texts(labels: Any) -> Any:
    """Labels with true and false as CSV has them; elsewhere they are more likely a mask."""
    if isinstance(labels, np.ndarray):
        return labels.astype(str) if labels.dtype == np.bool_ else labels
    return [str(each) if isinstance(each, bool) else each for each in labels]


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


def _csv_labels(path: Path) -> list[str]:
    with reading(path, "save it as CSV in UTF-8"):
        records = list(csv_files.records(path))
    if not records:
        raise DataError(f"{path}: is empty")
    header = [cell.strip().lower() for cell in records[0]]
    has_header = bool(LABEL_HEADERS & set(header)) or (len(header) == 2 and not header[0])
    column = chosen(path, label_column, header) if has_header or len(header) > 1 else 0
    cells = (record[column] if column < len(record) else "" for record in records[has_header:])
    return label_texts(cells, path.name)


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


def _parquet_table(path: Path, choose: Chooser) -> Table:
    table = _parquet(path)
    from pyarrow import types

    texts = (types.is_string, types.is_large_string, types.is_dictionary)
    numeric = [not any(is_text(field.type) for is_text in texts) for field in table.schema]
    columns: Columns = chosen(path, choose, table.column_names, numeric)
    kept = table.select(columns.numbers)
    labels = None if columns.label is None else table.column(columns.label).to_pylist()
    with reading(path, "store every column as plain numbers"):
        if kept.num_columns == 1 and "list" in str(kept.schema[0].type):
            matrix = as_matrix(kept.column(0).to_pylist(), path.name)
            return Table(matrix, labels, None, columns.guessed)
        numbers = [
            as_matrix(kept.column(place).to_numpy(), f"{path.name}: column {name!r}")
            for place, name in enumerate(kept.column_names)
        ]
    if not numbers:
        raise DataError(f"{path}: has no columns of numbers")
    return Table(np.stack(numbers, axis=1), labels, columns.names, columns.guessed)
