"""Which column of a table holds labels, which only counts the rows, and what the others are called.

Headers decide wherever a table has them; the order of the columns decides only where they are
silent. A wrong guess would train a model on nonsense, so what is unclear is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from mczsl.errors import DataError

Choice = TypeVar("Choice")
CLASS_HEADERS = frozenset(
    {"label", "labels", "class", "classes", "class_name", "class_names", "name"}
)
LABEL_HEADERS = CLASS_HEADERS | {"target", "targets"}
COORDINATE = "y"  # may just as well be a feature, beside x
_INDEX_HEADERS = {"id", "index", "unnamed: 0"}


class Columns(NamedTuple):
    """Where the labels and the numbers stand, and the numbers' names if they have any."""

    label: int | None
    numbers: list[int]
    names: tuple[str, ...] | None
    guessed: str | None = None  # which column is taken for the labels without being headed so


class Table(NamedTuple):
    """Numbers, a row for each sample or class, with what else the file says about them."""

    numbers: NDArray[np.float32]
    labels: list[Any] | None  # as they were found; see tables.label_texts
    columns: tuple[str, ...] | None  # the names of the columns of numbers
    guessed: str | None = None  # as in Columns


# From the headers, if there are any, and whether each column starts with a number.
Chooser = Callable[[Sequence[str] | None, Sequence[bool]], Columns]


def of_features(header: Sequence[str] | None, numeric: Sequence[bool]) -> Columns:
    """Every column is a feature, but for an index."""
    return _split(header, numeric, None)


def of_classes(header: Sequence[str] | None, numeric: Sequence[bool]) -> Columns:
    """The class is in the column headed so, else in the first, or in the only one of texts."""
    headed = _headed(header, CLASS_HEADERS)
    first = _first_or_text(numeric)
    if len(headed) == 1 and (numeric[first] or not numeric[headed[0]]):
        first = headed[0]  # an attribute may be headed "class", too: then a text comes first
    return _split(header, numeric, headed[0] if headed[:1] == [0] else first)


def of_samples(header: Sequence[str] | None, numeric: Sequence[bool]) -> Columns:
    """The label is in the column headed so wherever it stands, else as in a table of classes."""
    headed = _headed(header, LABEL_HEADERS)
    place = _only(header, headed)
    if place is not None:
        return _split(header, numeric, place)
    place = _first_or_text(numeric)
    coordinate = _headed(header, {COORDINATE})
    if len(coordinate) == 1 and numeric[place]:
        return _split(header, numeric, coordinate[0])
    if header and is_index(header[place]) and numeric[place]:
        raise DataError(
            f"its column {header[place]!r} counts the rows, and none is headed 'label'; head the "
            "column of labels so, or name a file of them with --labels"
        )
    return _split(header, numeric, place)._replace(guessed=column_name(place, header))


def of_questions(features: Collection[str], width: int) -> Chooser:
    """For a model of so many features, of these names if it knows them: labels only if headed."""

    def choose(header: Sequence[str] | None, numeric: Sequence[bool]) -> Columns:
        headed = [
            place
            for place in _headed(header, LABEL_HEADERS)
            if header and header[place].strip() not in features
        ]
        every = _split(header, numeric, None)
        if not headed and len(every.numbers) == width + 1:
            headed = _headed(header, {COORDINATE})
        return _split(header, numeric, _only(header, headed))

    return choose


def label_column(header: Sequence[str]) -> int:
    """Where a list of labels stands: in the only column, one headed so, or beside an index."""
    rest = [place for place, name in enumerate(header) if not is_index(name)]
    for places in (_headed(header, LABEL_HEADERS), rest):
        if len(places) == 1:
            return places[0]
    raise DataError(f"has {len(header)} columns; name the one with the labels 'label'")


def chosen(path: Path, choose: Callable[..., Choice], *about: Any) -> Choice:
    """A choice about the columns of ``path``; what is wrong with them names the file."""
    try:
        return choose(*about)
    except DataError as problem:
        raise DataError(f"{path}: {problem}") from None


def column_name(place: int, header: Sequence[str] | None) -> str:
    """A column as its file has it: by its header, or else by its place."""
    name = header[place].strip() if header else ""
    return f"column {name!r}" if name else f"column {place}"


def is_index(name: str) -> bool:
    """Whether a column of this name only tells the rows apart, as pandas and databases have it."""
    return not name.strip() or name.startswith("__index_level_") or _plain(name) in _INDEX_HEADERS


def is_counted(names: Sequence[str]) -> bool:
    """Whether columns are called 0, 1, 2, ... or 1, 2, 3, ...: places, not names."""
    return any(
        list(names) == [str(number + start) for number in range(len(names))] for start in (0, 1)
    )


def _plain(name: str) -> str:
    return name.strip().lower()


def _headed(header: Sequence[str] | None, names: Collection[str]) -> list[int]:
    return [place for place, name in enumerate(header or ()) if _plain(name) in names]


def _only(header: Sequence[str] | None, places: Sequence[int]) -> int | None:
    if header and len(places) > 1:
        listed = ", ".join(repr(header[place]) for place in places)
        raise DataError(f"several columns may hold the labels ({listed}); rename all but one")
    return places[0] if places else None


def _first_or_text(numeric: Sequence[bool]) -> int:
    """The first column, unless another is the only one of texts (pandas stores its index last)."""
    texts = [place for place, is_number in enumerate(numeric) if not is_number]
    return texts[0] if len(texts) == 1 else 0


def _split(header: Sequence[str] | None, numeric: Sequence[bool], label: int | None) -> Columns:
    kept = [place for place in range(len(numeric)) if place != label]
    if header is None:
        return Columns(label, kept, None)
    # Without a name, only the first is surely an index; another may be data.
    kept = [each for each in kept if not (is_index(header[each]) and (header[each] or not each))]
    names = tuple(header[place].strip() for place in kept)
    tells_apart = all(names) and len(set(names)) == len(names) and not is_counted(names)
    return Columns(label, kept, names if tells_apart else None)
