"""Data frames and series of any maker, where they describe classes: a row for each class."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeGuard

from numpy.typing import NDArray

from mczsl.errors import DataError


class Indexed:
    """What we use of a data frame or a series, whoever made it."""

    index: Iterable[Any]
    to_numpy: Callable[[], NDArray[Any]]


class Frame(Indexed):
    """What we use of a data frame."""

    columns: Iterable[Any]
    iloc: Any


def is_indexed(values: object) -> TypeGuard[Indexed]:
    """Whether it is a data frame or a series."""
    return hasattr(values, "to_numpy") and hasattr(values, "index")


def is_frame(values: object) -> TypeGuard[Frame]:
    """Whether it is a data frame."""
    return is_indexed(values) and hasattr(values, "columns")


def only_column(texts: Frame) -> NDArray[Any]:
    """The texts in a data frame that has nothing else."""
    names = columns_of(texts) or ()
    if len(names) != 1:
        raise DataError(
            f"descriptions: one column of texts is needed, not {len(names)} ("
            f"{', '.join(map(repr, names[:5]))}); if one of them names the classes, make it the "
            "index with set_index"
        )
    column: NDArray[Any] = texts.iloc[:, 0].to_numpy()
    return column


def require_numbers(frame: Frame) -> None:
    """Point to a column of texts; most often it holds the names that belong into the index."""
    for name, value in zip(frame.columns, next(iter(frame.to_numpy()), ()), strict=False):
        if isinstance(value, str):
            raise DataError(
                f"attributes: column {name!r} holds texts, not numbers; if they name the classes, "
                f"make them the index with set_index({name!r}), else leave the column out"
            )


def columns_of(values: object) -> tuple[str, ...] | None:
    """The names of its columns; None of anything but a data frame."""
    return tuple(map(str, values.columns)) if is_frame(values) else None


def in_order(frame: Frame, columns: tuple[str, ...] | None) -> Any:
    """A data frame with its columns in the order that the model knows them by."""
    names = columns_of(frame) or ()
    if columns is None or names == columns:
        return frame
    if sorted(names) != sorted(columns) or len(set(columns)) < len(columns):
        odd = [repr(name) for name in sorted({*names} ^ {*columns})]
        raise DataError(
            "attributes: the columns are not those of the known classes (different: "
            f"{', '.join(odd[:5]) or 'how often a name comes up'})"
        )
    return frame.iloc[:, [names.index(name) for name in columns]]
