"""Numbers from anywhere, in the one form the rest of the package computes with."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mczsl.errors import DataError

_KINDS = {"b": "booleans", "U": "texts", "S": "texts", "T": "texts", "O": "mixed objects"}


def as_matrix(values: object, what: str = "features") -> NDArray[np.float32]:
    """A table of numbers as contiguous, writable float32 in this machine's byte order.

    Integers and other widths are converted; texts, booleans, ragged rows and numbers beyond
    float32 are refused.

    >>> as_matrix([[1, 2], [3, 4]]).dtype
    dtype('float32')
    """
    array = _numbers(values, what)
    with np.errstate(over="ignore"):
        matrix = np.require(array, np.float32, ["C", "A", "W"])
    if array.dtype.kind == "f" and array.dtype.itemsize > 4:
        lost = np.argwhere(np.isinf(matrix) & np.isfinite(array))
        if len(lost):
            place = ", ".join(str(number) for number in lost[0])
            raise DataError(
                f"{what}: {array[tuple(lost[0])]} at ({place}) is too large for 32-bit numbers "
                f"({len(lost)} such values); scale the values down"
            )
    return matrix


def as_integers(values: object, what: str) -> NDArray[np.int64]:
    """Whole numbers as a flat int64 array; floats are fine as long as they are whole.

    >>> as_integers([[3.0], [5.0]], "labels")
    array([3, 5])
    """
    array = _numbers(values, what)
    if array.ndim > 1 and array.size != max(array.shape):
        raise DataError(f"{what}: must be one list of numbers, not a table of shape {array.shape}")
    array = array.reshape(-1)
    limit = 2.0**62
    with np.errstate(invalid="ignore"):  # of infinity no remainder is defined
        whole = (np.abs(array.astype(np.float64)) < limit) & (array % 1 == 0)
    bad = np.flatnonzero(~whole)
    if len(bad):
        raise DataError(
            f"{what}: {array[bad[0]]} at position {bad[0]} is not a whole number "
            f"({len(bad)} such values)"
        )
    return np.ascontiguousarray(array, dtype=np.int64)


def _numbers(values: object, what: str) -> NDArray[Any]:
    try:
        array: NDArray[Any] = np.asarray(values)
    except ValueError as problem:
        raise DataError(
            f"{what}: the rows differ in length; every row needs the same number of columns"
        ) from problem
    if array.dtype.kind not in "iuf":
        kind = _KINDS.get(array.dtype.kind, str(array.dtype))
        raise DataError(f"{what}: must be numbers, not {kind}; convert them before saving")
    return array
