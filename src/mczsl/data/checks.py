"""Checks of arrays and names that come from outside; every reader and the estimator use them.

A ``..._problems`` function yields everything that is wrong, for a report; the ``check_...``
function of the same name raises the first of it, for code that only goes on with sound data.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mczsl.data.mapped import release_pages
from mczsl.errors import DataError

BLOCK = 16384  # rows looked at in one go, so that memory-mapped data never has to fit in memory
_SHORTEST, _LONGEST = 1e-12, 1e18  # of attributes: their squares neither vanish nor overflow


class Problem(NamedTuple):
    """One thing that is wrong with data. A warning is worth knowing; an error forbids its use."""

    level: Literal["error", "warning"]
    message: str


def error(message: str) -> Problem:
    """A problem that forbids the use of the data."""
    return Problem("error", message)


def warning(message: str) -> Problem:
    """A problem that the data can be used with."""
    return Problem("warning", message)


def raise_first(problems: Iterable[Problem], prefix: str = "") -> None:
    """Raise the first error among the problems, if there is one."""
    for problem in problems:
        if problem.level == "error":
            raise DataError(prefix + problem.message)


def check_features(features: NDArray[Any], what: str = "features") -> None:
    """Two-dimensional, not empty, floating, finite, and no all-zero row (it has no direction)."""
    raise_first(feature_problems(features, what))


def check_attributes(
    attributes: NDArray[Any], class_names: Sequence[str], what: str = "attributes"
) -> None:
    """One finite row for each class, none all-zero, no two alike."""
    raise_first(attribute_problems(attributes, class_names, what))


def check_class_names(names: Sequence[object]) -> None:
    """At least one class, every name a non-empty string, none twice."""
    raise_first(class_name_problems(names))


def feature_problems(features: NDArray[Any], what: str = "features") -> Iterator[Problem]:
    """Everything wrong with a table of features."""
    malformed = list(_matrix_problems(features, what))
    if malformed:
        yield from malformed
        return
    wild, empty = 0, 0
    first_wild, first_empty = "", 0
    for start, block in blocks(features):
        finite = np.isfinite(block)
        if not wild and not finite.all():
            first_wild = _place(block, np.argwhere(~finite)[0], start)
        wild += finite.size - np.count_nonzero(finite)
        zero = np.flatnonzero(~block.any(axis=1))
        if len(zero) and not empty:
            first_empty = start + int(zero[0])
        empty += len(zero)
    if wild:
        yield error(f"{what}: {first_wild} ({_not_finite(wild)}); replace them or drop the rows")
    if empty:
        yield error(
            f"{what}: row {first_empty} is all zeros ({empty} such rows); a sample without any "
            "feature cannot be compared with a class. Drop it, or extract its features again"
        )


def attribute_problems(
    attributes: NDArray[Any], class_names: Sequence[str], what: str = "attributes"
) -> Iterator[Problem]:
    """Everything wrong with the descriptions of the classes."""
    malformed = list(_matrix_problems(attributes, what))
    if not malformed and len(attributes) != len(class_names):
        counts = f"{len(attributes)} rows for {len(class_names)} classes"
        malformed = [error(f"{what}: {counts}; each class needs one")]
    if malformed:
        yield from malformed
        return
    infinite = np.argwhere(~np.isfinite(attributes))
    if len(infinite):
        yield error(
            f"{what}: {_place(attributes, infinite[0])}, class {class_names[infinite[0][0]]!r} "
            f"({_not_finite(len(infinite))}); give every class a number there"
        )
    for number in np.flatnonzero(~attributes.any(axis=1)).tolist():
        yield error(
            f"{what}: those of class {class_names[number]!r} are all zeros; describe it by at "
            "least one value"
        )
    with np.errstate(over="ignore", invalid="ignore"):
        length = np.sqrt(np.square(attributes, dtype=np.float64).sum(axis=1))
    odd = np.isfinite(length) & (length > 0) & ((length < _SHORTEST) | (length > _LONGEST))
    for number in np.flatnonzero(odd).tolist():
        yield error(
            f"{what}: those of class {class_names[number]!r} are too "
            f"{'small' if length[number] < 1 else 'large'} to compute with (length "
            f"{length[number]:.3g}); scale the attributes of all classes alike"
        )
    _, first, inverse = np.unique(attributes, axis=0, return_index=True, return_inverse=True)
    original = first[inverse.reshape(-1)]
    twins = (original != np.arange(len(attributes))) & attributes.any(axis=1)
    for twin in np.flatnonzero(twins).tolist():
        yield error(
            f"{what}: classes {class_names[original[twin]]!r} and {class_names[twin]!r} are "
            "described by the same values, so nothing can tell them apart; change one or merge them"
        )


def class_name_problems(names: Sequence[object]) -> Iterator[Problem]:
    """Everything wrong with the names of the classes."""
    if not names:
        yield error("there are no classes; name at least one")
    for name, count in Counter(names).items():
        if not isinstance(name, str) or not name.strip():
            yield error(f"class name {name!r} is not a non-empty text; give the class a name")
        elif count > 1:
            yield error(f"class {name!r} is listed {count} times; each class needs its own name")


def label_problems(labels: NDArray[Any], n_rows: int | None, n_classes: int) -> Iterator[Problem]:
    """Everything wrong with labels that should be class numbers, one for each feature row."""
    if labels.ndim != 1 or not np.issubdtype(labels.dtype, np.integer):
        yield error(
            f"labels: must be a list of whole numbers, not {labels.dtype} of shape {labels.shape}"
        )
        return
    if n_rows is not None and len(labels) != n_rows:
        yield error(f"labels: {len(labels)} for {n_rows} feature rows; every row needs one label")
    if len(labels) and not 0 <= labels.min() <= labels.max() < n_classes:
        yield error(
            f"labels: run from {labels.min()} to {labels.max()}, but there are {n_classes} classes "
            f"(0 to {n_classes - 1}); every label needs a class with attributes"
        )


def row_problems(rows: NDArray[Any], n_rows: int, what: str) -> Iterator[Problem]:
    """Everything wrong with row numbers, which should be distinct and from 0 to n_rows - 1."""
    if rows.ndim != 1 or not np.issubdtype(rows.dtype, np.integer):
        yield error(f"{what}: row numbers must be a list of whole numbers, not {rows.dtype}")
        return
    if len(rows) and not 0 <= rows.min() <= rows.max() < n_rows:
        yield error(
            f"{what}: row numbers run from {rows.min()} to {rows.max()}, but there are {n_rows} "
            f"rows (0 to {n_rows - 1}); were they made for another features file?"
        )
    values, counts = np.unique(rows, return_counts=True)
    if len(values) < len(rows):
        repeated = values[counts > 1]
        yield error(
            f"{what}: row {repeated[0]} is listed more than once ({len(repeated)} such rows); "
            "list each once"
        )


def blocks(table: NDArray[Any]) -> Iterator[tuple[int, NDArray[Any]]]:
    """A table piece by piece, each with its first row; what is mapped from disk never piles up."""
    for start in range(0, len(table), BLOCK):
        yield start, np.asarray(table[start : start + BLOCK])
        if isinstance(table, np.memmap):
            release_pages(table)


def _matrix_problems(values: NDArray[Any], what: str) -> Iterator[Problem]:
    if not np.issubdtype(values.dtype, np.floating):
        yield error(f"{what}: must be floating-point numbers, not {values.dtype}")
    if values.ndim != 2:
        yield error(f"{what}: must be a table (rows x columns), not of shape {values.shape}")
    elif 0 in values.shape:
        yield error(f"{what}: is empty (shape {values.shape})")


def _place(values: NDArray[Any], at: NDArray[Any], start: int = 0) -> str:
    row, column = at
    return f"{values[row, column]} at row {start + row}, column {column}"


def _not_finite(count: int) -> str:
    return "1 value is not finite" if count == 1 else f"{count} values are not finite"
