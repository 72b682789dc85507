"""Class labels as people write them: texts, whole numbers, or true and false; never a mixture."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mczsl.errors import DataError

Label = str | int | bool
Kind = Literal["texts", "whole numbers", "booleans"]
LONGEST_NAME = 200  # characters; every prediction carries a name, and long texts are descriptions


def as_label(value: object, where: str) -> Label:
    """One label as a plain Python value; a whole float is a whole number.

    >>> as_label(np.float64(3.0), "y"), as_label(np.str_("cat"), "y")
    (3, 'cat')
    """
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, Real) and not isinstance(value, Integral) and float(value).is_integer():
        value = int(float(value))
    if isinstance(value, Integral):
        if not -(2**63) <= int(value) < 2**63:
            raise DataError(f"{where}: {value} does not fit into 64 bits; make it a text")
        return int(value)
    if not isinstance(value, str):
        raise DataError(
            f"{where}: {value!r} is no label; a label is a text or a whole number, and every "
            "sample needs one"
        )
    if not value.strip():
        raise DataError(f"{where}: {value!r} is an empty label; give the class a name")
    if len(value) > LONGEST_NAME:
        raise DataError(
            f"{where}: a label of {len(value)} characters; give the class a name of at most "
            f"{LONGEST_NAME}, and put the text into its description"
        )
    if not value.isascii() and any("\ud800" <= letter <= "\udfff" for letter in value):
        raise DataError(f"{where}: {value!r} is no valid Unicode text; mend the class's name")
    if "\0" in value:  # NumPy would cut it off, and two classes might end up with one name
        raise DataError(f"{where}: {value!r} has a NUL character in it; mend the class's name")
    return str(value)


def kind_of(label: Label) -> Kind:
    """What sort of label it is."""
    if isinstance(label, bool):
        return "booleans"
    return "whole numbers" if isinstance(label, int) else "texts"


def as_labels(
    values: Iterable[object],
    where: str,
    kind: Kind | None = None,
    positions: Iterable[int] | None = None,
) -> list[Label]:
    """Labels that are all of one kind, which may be given; they may stem from other positions."""
    placed = list(enumerate(values) if positions is None else zip(positions, values, strict=True))
    labels = [as_label(value, f"{where}, position {at}") for at, value in placed]
    for (at, _), label in zip(placed, labels, strict=True):
        kind = kind or kind_of(label)
        if kind_of(label) != kind:
            raise DataError(
                f"{where}, position {at}: {label!r} is one of {kind_of(label)}, but the labels "
                f"before it are {kind}; use one sort of label throughout"
            )
    return labels


def factorise(y: NDArray[Any], kind: Kind | None) -> tuple[list[Label], NDArray[np.int64]]:
    """The distinct labels, sorted, and the position of each sample's label among them."""
    if y.dtype == object:  # cannot be sorted before it is known to be of one kind
        first: dict[Label, int] = {}
        numbers = [first.setdefault(label, len(first)) for label in as_labels(y, "y", kind)]
        order = sorted(first)
        place = {first[label]: at for at, label in enumerate(order)}
        return order, np.array([place[number] for number in numbers], dtype=np.int64)
    _, places, inverse = np.unique(y, return_index=True, return_inverse=True)
    places.sort()  # so that a fault is told where it comes up first
    labels = as_labels(y[places].tolist(), "y", kind, places.tolist())
    return sorted(labels), inverse.reshape(-1).astype(np.int64)


def as_array(labels: Sequence[Label]) -> NDArray[Any]:
    """Labels as NumPy holds them."""
    return np.array(labels) if labels else np.array([], dtype=np.str_)
