"""Features and names that users hand over, checked and in the form that a model computes with."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from mczsl.data.checks import BLOCK
from mczsl.errors import DataError, MczslError
from mczsl.estimator.labels import Kind, Label, as_label, as_labels

Rows = NDArray[np.int64]
# Lengths whose squares neither vanish nor overflow in float32, and that no method takes for zero.
_SMALLEST, _LARGEST = 1e-9, 1e15
# Fewer rows or columns say nothing about a column's scale; more rows than these say nothing new.
_FEWEST_ROWS, _MOST_ROWS, _FEWEST_COLUMNS = 20, 4096, 3
# The squared length of the mean of rows of unit length: 1 if all are alike. Measured as they come:
# wine 0.997, breast cancer 0.995, iris 0.956, digits 0.585.
_ONE_DIRECTION = 0.98


class WrongType(DataError, TypeError):
    """An argument is of a type that cannot hold what it should."""


@contextmanager
def named_errors() -> Iterator[None]:
    """Turn the complaints of scikit-learn's own checks into errors of this package."""
    try:
        yield
    except MczslError:
        raise
    except TypeError as problem:
        raise WrongType(str(problem)) from None
    except (ValueError, RuntimeError) as problem:  # the latter from tensors of other libraries
        raise DataError(str(problem)) from None


def as_features(X: Any) -> Any:
    """X, unless it holds something that scikit-learn would silently take for numbers."""
    if isinstance(X, np.ma.MaskedArray):  # what is masked is missing
        X = np.ma.filled(X.astype(np.float64), np.nan)
    if isinstance(X, list | tuple | Tensor):
        X = np.asarray(X)
    dtypes = X.dtypes if hasattr(X, "dtypes") else [getattr(X, "dtype", None)]
    kinds = {getattr(dtype, "kind", None) for dtype in dtypes}
    if kinds == {"b"}:  # some columns of booleans among numbers are fine
        raise DataError("X: must be numbers, not booleans; convert them with X.astype(float)")
    if kinds & {"M", "m"}:
        raise DataError("X: must be numbers, not dates or durations; convert them before")
    if isinstance(X, np.ndarray) and X.dtype == object:
        for place, value in np.ndenumerate(X):
            if isinstance(value, str | bytes | bool):
                raise DataError(f"X: {value!r} at {place} is no number; convert it before")
    return X


def as_targets(y: Any) -> Any:
    """Labels as an array, unless one of them is missing or no label at all."""
    if y is None:
        return None
    if isinstance(y, np.ma.MaskedArray) and y.mask.any():
        raise DataError(f"y, position {np.argmax(y.mask)}: is masked; every sample needs a label")
    labels: NDArray[Any] = np.asarray(y)
    if isinstance(y, list | tuple) and labels.ndim == 1 and len(set(map(type, y))) > 1:
        labels = np.empty(len(y), dtype=object)  # NumPy would have made texts of NaN and numbers
        labels[:] = y
    if labels.dtype == object and labels.ndim == 1:
        for at, label in enumerate(labels):
            if not isinstance(label, str):
                as_label(label, f"y, position {at}")
    return labels


def usable_rows(block: NDArray[Any], start: int = 0) -> tuple[NDArray[np.float32], Rows]:
    """Rows as float32 in a range where lengths can be computed, and which of them are all zeros.

    Only the direction of a row counts, so one with huge or tiny numbers is scaled.
    """
    with np.errstate(over="ignore"):
        rows = np.ascontiguousarray(block, dtype=np.float32)
        length = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    odd = np.flatnonzero(~((length > _SMALLEST) & (length < _LARGEST)))
    if not len(odd):
        return rows, odd
    values = np.asarray(block[odd], dtype=np.float64)
    wild = np.argwhere(~np.isfinite(values))
    if len(wild):
        row, column = wild[0]
        name = "NaN" if np.isnan(values[row, column]) else "inf (infinity)"
        raise DataError(
            f"X: {name} at row {start + odd[row]}, column {column} ({len(wild)} values are not "
            "finite); replace them or drop the rows"
        )
    largest = np.abs(values).max(axis=1)
    extreme = largest > 0
    if extreme.any():
        rows = rows.copy() if np.may_share_memory(rows, block) else rows  # X is the user's
        rows[odd[extreme]] = values[extreme] / largest[extreme, None]
    return rows, odd[~extreme]


def training_table(X: NDArray[Any]) -> tuple[NDArray[np.float32], Rows]:
    """A table of usable rows, X itself if it is one, and which of them are all zeros."""
    as_it_is = X.dtype == np.float32 and X.flags.c_contiguous
    table = X if as_it_is else np.empty(X.shape, dtype=np.float32)
    zeros = [np.empty(0, dtype=np.int64)]
    for start in range(0, len(X), BLOCK):
        block = X[start : start + BLOCK]
        rows, empty = usable_rows(block, start)
        zeros.append(start + empty)
        if table is X and not np.may_share_memory(rows, block):
            table = X.copy()
        if table is not X:
            table[start : start + len(rows)] = rows
    return table, np.concatenate(zeros)


def warn_of_zeros(rows: Rows | Sequence[int], what_happens: str) -> None:
    """Tell of all-zero rows, which have no direction and so resemble no class."""
    if len(rows):
        count = f" ({len(rows)} such rows)" if len(rows) > 1 else ""
        warnings.warn(f"X: row {rows[0]} is all zeros{count}; {what_happens}", stacklevel=4)


def warn_of_scale(rows: NDArray[np.float32], classes: int) -> None:
    """Tell of what makes angles useless to tell so many classes apart, the worst of it.

    That is a column that outweighs all the others, or features that lie far from zero.
    """
    if len(rows) < _FEWEST_ROWS:
        return
    some = rows[:: -(-len(rows) // _MOST_ROWS)].astype(np.float64)
    lengths = np.linalg.norm(some, axis=1, keepdims=True)
    units = np.divide(some, lengths, out=some, where=lengths > 0)
    shares = np.einsum("ij,ij->j", units, units) / len(units)
    largest = int(shares.argmax())
    if shares[largest] > 0.5 and len(shares) >= _FEWEST_COLUMNS:
        fault = (
            f"column {largest} makes up {shares[largest]:.0%} of the rows' squared length, so the "
            "others hardly count; bring the columns to one scale"
        )
    elif classes > 1 and np.square(units.mean(axis=0)).sum() > _ONE_DIRECTION:
        fault = (
            "all rows point nearly the same way, so angles hardly tell them apart; centre the "
            "columns"
        )
    else:
        return
    warnings.warn(
        f"X: {fault}, for example with make_pipeline(StandardScaler(), ZeroShotClassifier(...))",
        stacklevel=4,
    )


def held_back(places: Rows, share: float, generator: np.random.Generator) -> NDArray[np.bool_]:
    """A random share of each class's samples, rounded down: no class loses its last sample."""
    order = generator.permutation(len(places))
    order = order[np.argsort(places[order], kind="stable")]
    _, starts, counts = np.unique(places[order], return_index=True, return_counts=True)
    rank = np.arange(len(places)) - np.repeat(starts, counts)
    chosen = np.zeros(len(places), dtype=bool)
    chosen[order] = rank < np.repeat(np.floor(counts * share), counts)
    return chosen


def as_names(names: Any, what: str, kind: Kind | None = None) -> list[Label]:
    """A list of class names, none of them twice."""
    if isinstance(names, str | bytes) or not hasattr(names, "__iter__"):
        raise WrongType(f"{what}: expected a list of class names, not {names!r}")
    labels = as_labels(names, what, kind)
    if not labels:
        raise DataError(f"{what}: there are no classes in it; name at least one")
    if len(set(labels)) < len(labels):
        twice = next(label for label in labels if labels.count(label) > 1)
        raise DataError(f"{what}: class {twice!r} is listed twice; name it once")
    return labels
