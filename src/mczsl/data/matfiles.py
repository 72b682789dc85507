"""MATLAB files (v5 to v7) of unknown origin.

The common reader of this format crashes the whole process on some damaged files, so this one reads
the few kinds of variables that datasets are made of, in Python alone, and trusts no number in the
file: whatever is wrong with it is an error.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mczsl.data.convert import as_integers, as_matrix
from mczsl.data.files import reading, refuse_bomb
from mczsl.errors import DataError

_Order = Literal["<", ">"]

_HEADER_BYTES = 128
_HDF5 = b"\x89HDF"
_MATRIX, _COMPRESSED = 14, 15  # kinds of elements
_NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8"}
_NUMBERS[13] = "u8"
_TEXTS = {1: "latin-1", 2: "latin-1", 4: "utf-16", 16: "utf-8", 17: "utf-16", 18: "utf-32"}
_CELL, _CHAR, _SPARSE = 1, 4, 5  # classes of variables; 6 to 15 are numbers
_COMPLEX = 0x800
_CONVERT = (
    "is MAT v7.3 (HDF5), which needs converting once: in MATLAB load it and save(..., '-v7'); in "
    "Python read it with h5py and write it with scipy.io.savemat"
)


class _Variable(NamedTuple):
    """A variable that is not yet unpacked."""

    kind: int
    payload: memoryview


class MatFile:
    """The variables of one ``.mat`` file, each unpacked when it is asked for."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._variables: dict[str, _Variable] = {}
        with self._reading():
            data = memoryview(path.read_bytes())
            self._order = _byte_order(path, bytes(data[:_HEADER_BYTES]))
            for kind, payload in _elements(data[_HEADER_BYTES:], self._order):
                self._variables[self._name(kind, payload)] = _Variable(kind, payload)

    def __contains__(self, name: str) -> bool:
        return name in self._variables

    def columns(self, name: str) -> NDArray[np.float32]:
        """A table of numbers with one row for each column that is stored.

        MATLAB stores by columns and keeps samples there, so nothing has to be moved.
        """
        values = self._value(name)
        if not isinstance(values, np.ndarray) or values.ndim != 2:
            raise DataError(f"{self.path.name}: {name} must be a table of numbers, rows x columns")
        return as_matrix(values.T, f"{self.path.name}: {name}")

    def integers(self, name: str) -> NDArray[np.int64]:
        """A list of whole numbers."""
        return as_integers(self._value(name), f"{self.path.name}: {name}")

    def texts(self, name: str) -> list[str]:
        """A list of texts, however deep the cells are nested; an empty cell is an empty text."""
        with self._reading():
            return _flat(self._value(name))

    def _reading(self) -> Any:
        return reading(self.path, "it seems truncated or damaged: fetch a fresh copy")

    def _name(self, kind: int, payload: memoryview) -> str:
        """The name alone, which stands in the first few bytes."""
        if kind == _COMPRESSED:
            payload = memoryview(zlib.decompressobj().decompress(payload, 1024))[8:]
        elif kind != _MATRIX:
            raise ValueError(f"element of kind {kind}")
        parts = _elements(payload, self._order)
        next(parts), next(parts)
        return bytes(next(parts)[1]).decode("latin-1")

    def _value(self, name: str) -> Any:
        if name not in self._variables:
            raise DataError(
                f"{self.path}: the variable {name!r} is missing (there are: "
                f"{', '.join(self._variables) or 'none'}); save it under that name"
            )
        kind, payload = self._variables[name]
        with self._reading():
            if kind == _COMPRESSED:
                payload = self._unpack(name, payload)
            return _parse(payload, self._order, self.path)

    def _unpack(self, name: str, payload: memoryview) -> memoryview:
        tag = zlib.decompressobj().decompress(payload, 8)
        kind, size = struct.unpack(self._order + "II", tag)
        refuse_bomb(self.path, name, len(payload), size)
        stream = zlib.decompressobj()
        unpacked = stream.decompress(payload, len(tag) + size + 1)
        if kind != _MATRIX or not stream.eof or len(unpacked) != len(tag) + size:
            raise ValueError("the compressed data end too early or too late")
        return memoryview(unpacked)[len(tag) :]


def _byte_order(path: Path, header: bytes) -> _Order:
    version = {b"\0\1IM": 1, b"\1\0MI": 1, b"\0\2IM": 2, b"\2\0MI": 2}.get(header[124:])
    if version == 2 or header.startswith(_HDF5):
        raise DataError(f"{path}: {_CONVERT}")
    if version is None:
        raise DataError(f"{path}: is not a MAT file of v5 to v7; save it with '-v7'")
    return "<" if header.endswith(b"IM") else ">"


def _elements(data: memoryview, order: _Order) -> Iterator[tuple[int, memoryview]]:
    """The elements in a stretch of bytes: kind and contents."""
    place = 0
    while place < len(data):
        kind, size = struct.unpack_from(order + "II", data, place)
        if kind >> 16:  # a small element: its size and kind share a word, four bytes follow
            kind, size, start, end = kind & 0xFFFF, kind >> 16, place + 4, place + 8
        else:
            start = place + 8
            end = start + size + (0 if kind == _COMPRESSED else -size % 8)
        if start + size > min(end, len(data)):
            raise ValueError("an element reaches beyond its end")
        yield kind, data[start : start + size]
        place = end


def _parse(payload: memoryview, order: _Order, path: Path) -> Any:
    """A variable's value: an array of numbers or texts, a list for a cell, None for other kinds."""
    if not payload:
        return np.empty((0, 0))
    parts = _elements(payload, order)
    flags = int(_numbers(*next(parts), order)[0])
    shape = tuple(_numbers(*next(parts), order).tolist())
    next(parts)  # the name
    variable_class = flags & 0xFF
    if variable_class == _CELL:
        return [_parse(contents, order, path) for _, contents in parts]
    if variable_class == _CHAR:
        return _characters(*next(parts), order, shape)
    if variable_class == _SPARSE:
        refuse_bomb(path, "a sparse table", len(payload), 8 * math.prod(shape))
        rows, starts, values = (_numbers(*part, order) for part in parts)
        dense = np.zeros(shape, values.dtype)
        columns = np.repeat(np.arange(shape[1]), np.diff(starts))
        dense[rows[: len(columns)], columns] = values[: len(columns)]
        return dense
    if 6 <= variable_class <= 15 and not flags & _COMPLEX:
        return _numbers(*next(parts), order).reshape(shape, order="F")
    return None


def _numbers(kind: int, contents: memoryview, order: _Order) -> NDArray[Any]:
    return np.frombuffer(contents, np.dtype(_NUMBERS[kind]).newbyteorder(order))


def _characters(
    kind: int, contents: memoryview, order: _Order, shape: tuple[int, ...]
) -> NDArray[np.str_]:
    """One text for each row of a table of characters."""
    codec = _TEXTS[kind]
    if codec in ("utf-16", "utf-32"):
        codec += "-le" if order == "<" else "-be"
    text = bytes(contents).decode(codec)
    if len(shape) != 2 or shape[0] < 2:
        return np.array([text] if text else [], np.str_)
    table = np.array(list(text)).reshape(shape, order="F")
    return np.array(["".join(row) for row in table])


def _flat(value: Any) -> list[str]:
    if isinstance(value, list):
        return [text for item in value for text in _flat(item) or [""]]
    if value is None:
        raise ValueError("something else than texts")
    return [str(item).strip() for item in np.asarray(value).ravel()]
