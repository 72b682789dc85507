"""Describing classes: by attributes, by texts that an encoder reads, or not at all."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from reprlib import repr as cut
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from mczsl.data.checks import check_attributes
from mczsl.data.convert import as_matrix
from mczsl.errors import ConfigError, DataError
from mczsl.estimator.classes import CODE_WIDTH, ClassTable, one_hot_codes
from mczsl.estimator.frames import (
    columns_of,
    in_order,
    is_frame,
    is_indexed,
    only_column,
    require_numbers,
)
from mczsl.estimator.inputs import WrongType, as_names
from mczsl.estimator.labels import Label, kind_of
from mczsl.estimator.reading import as_encoder, require_reader

if TYPE_CHECKING:
    from mczsl.encoders.text import TextEncoder

_SET_BACK = "set it back, or call fit to begin anew"


@dataclass(frozen=True)
class Semantics:
    """Where attributes come from: those of another origin mean something else.

    ``encoder`` is the identity of the encoder that read the descriptions; ``columns`` are the
    names of the attributes, if they came with names.
    """

    source: Literal["attributes", "descriptions", "one-hot"]
    encoder: str | None = None
    columns: tuple[str, ...] | None = None


class SavedClasses(dict[Label, NDArray[np.float32]]):
    """How a saved model knew its classes: numbers, also where they were read from texts.

    It stands for the attributes or texts themselves, so that a model that is loaded and fitted
    anew still knows what its numbers mean.
    """

    def __init__(self, rows: Mapping[Label, NDArray[np.float32]], semantics: Semantics):
        super().__init__(rows)
        self.semantics = semantics


@dataclass(frozen=True)
class Descriptions:
    """What a user says about classes: numbers or texts, each as a mapping or in order."""

    attributes: Any = None
    texts: Any = None
    encoder: Any = None

    def __post_init__(self) -> None:
        if self.attributes is not None and self.texts is not None:
            raise ConfigError(
                "classes are described twice, by attributes and by texts; give one of the two"
            )

    @cached_property
    def text_encoder(self) -> TextEncoder:
        """What reads the texts."""
        return as_encoder(self.encoder)

    @property
    def names(self) -> list[Label] | None:
        """The classes that are described, where that is said by name."""
        what, values = self._given()
        if values is None:
            return None
        if is_indexed(values):
            return as_names(values.index, f"the index of {what}")
        if isinstance(values, Mapping):
            return as_names(values, f"the names in {what}")
        raise WrongType(
            f"{what}: must be a mapping from class to description or a data frame with a row for "
            f"each class, not {type(values).__name__}"
        )

    def semantics(self) -> Semantics:
        """What sort of description this is."""
        _, values = self._given()
        if isinstance(values, SavedClasses):
            return values.semantics
        if self.attributes is not None:
            return Semantics("attributes", columns=columns_of(self.attributes))
        if self.texts is not None:
            return Semantics("descriptions", encoder=self.text_encoder.identity)
        return Semantics("one-hot")

    def rows(self, labels: Sequence[Label], semantics: Semantics) -> NDArray[np.float32]:
        """The attributes of these classes, (n, A)."""
        what, values = self._given()
        if values is None:
            return one_hot_codes(labels)
        if isinstance(values, str):
            raise WrongType(
                f"{what}: one text, {values[:40]!r}, where each class needs its own; put them into "
                "a list or a mapping"
            )
        if isinstance(values, Mapping) or is_indexed(values):
            values = self._selected(labels, semantics)
        if self.texts is None or isinstance(self.texts, SavedClasses):
            return _as_table(values, labels)
        if len(values) != len(labels):
            raise DataError(f"{what}: {len(values)} for {len(labels)} classes; each needs one")
        for label, text in zip(labels, values, strict=True):
            if not isinstance(text, str):
                raise DataError(f"{what}: that of class {label!r} is {cut(text)}, not a text")
        require_reader(self.text_encoder, semantics.encoder or "")
        return self.text_encoder.encode(values)

    def digests(self) -> dict[Label, bytes]:
        """A short hash of what is said of each class, to tell later whether that has changed."""
        names = self.names
        if names is None:
            return {}
        if self.texts is None or isinstance(self.texts, SavedClasses):
            said = [row.tobytes() for row in self.rows(names, self.semantics())]
        else:
            texts = self._selected(names, Semantics("descriptions"))
            said = [str(text).encode(errors="surrogatepass") for text in texts]
        hashes = [hashlib.blake2b(each, digest_size=8).digest() for each in said]
        return dict(zip(names, hashes, strict=True))

    def _given(self) -> tuple[str, Any]:
        if self.attributes is not None:
            return "attributes", self.attributes
        return "descriptions", self.texts

    def _selected(self, labels: Sequence[Label], semantics: Semantics) -> list[Any]:
        """What is said of each of these classes."""
        what, values = self._given()
        by_index = " in the index" if is_indexed(values) else ""
        places = {label: place for place, label in enumerate(self.names or ())}
        for label in labels:
            if label not in places:
                raise DataError(
                    f"{what}: nothing is said about class {label!r}{by_index}; describe it, or "
                    "leave it out"
                )
        table: Sequence[Any] | NDArray[Any]
        if isinstance(values, Mapping):
            table = list(values.values())
        elif not is_frame(values):
            table = values.to_numpy()
        elif self.texts is not None:
            table = only_column(values)
        else:
            require_numbers(values)
            table = as_matrix(in_order(values, semantics.columns).to_numpy(), what)
        return [table[places[label]] for label in labels]


def first_table(said: Descriptions, labels: Sequence[Label]) -> tuple[ClassTable, Semantics]:
    """The classes known at the first lesson: all that are described, and those with samples."""
    semantics = said.semantics()
    names = said.names or list(labels)
    rows = said.rows(names, semantics)
    width = rows.shape[1] if rows.ndim == 2 else CODE_WIDTH
    table = add_described(ClassTable.empty(width), names, rows)
    _require_described(table, labels, semantics)
    return table, semantics


def add_described(
    table: ClassTable, labels: Sequence[Label], attributes: NDArray[np.float32]
) -> ClassTable:
    """A table with more classes, if all is sound: widths, values, and no two classes alike."""
    if attributes.ndim == 2 and attributes.shape[1] != table.attribute_dim:
        raise DataError(
            f"attributes: {attributes.shape[1]} for each class, but the known classes have "
            f"{table.attribute_dim}; describe all classes by the same attributes"
        )
    check_attributes(attributes, [str(label) for label in labels])
    if len(table):
        every = np.concatenate([table.attributes.numpy(), attributes])
        check_attributes(every, [str(label) for label in (*table.labels, *labels)])
    return table.with_classes(labels, attributes)


def add_new(
    table: ClassTable, semantics: Semantics, said: Descriptions, before: Mapping[Label, bytes]
) -> ClassTable:
    """A table that also knows what was not said before; what it knows already cannot change.

    Only what is said anew counts: a class may have been removed since, or described by other means.
    """
    changed = [label for label, digest in said.digests().items() if before.get(label) != digest]
    if not changed:
        return table
    source = said.semantics().source
    if source != semantics.source:
        raise ConfigError(
            f"class_{source}: the known classes have {semantics.source.replace('one-hot', 'none')}"
            f", and others cannot be compared with them; {_SET_BACK}"
        )
    rows = said.rows(as_names(changed, f"the names in class_{source}", table.kind), semantics)
    unknown = []
    for place, label in enumerate(changed):
        if label not in table.places:
            unknown.append(place)
        elif not _alike(table, label, rows[place]):
            raise ConfigError(
                f"class_{source}: class {label!r} is described in another way than the model "
                f"learned it by; {_SET_BACK}, or use remove_classes and add_classes"
            )
    new = [changed[place] for place in unknown]
    return add_described(table, new, rows[unknown]) if new else table


def add_unknown(
    table: ClassTable, semantics: Semantics, said: Descriptions, labels: Sequence[Label]
) -> ClassTable:
    """A table that also knows those of these labels that it did not know before."""
    unknown = [label for label in labels if label not in table.places]
    if not unknown:
        return table
    if semantics.source == "one-hot":
        return table.with_classes(unknown, one_hot_codes(unknown))
    described = set(said.names or ())
    if said.semantics().source == semantics.source and described.issuperset(unknown):
        return add_described(table, unknown, said.rows(unknown, semantics))
    _require_described(table, labels, semantics)
    return table


def _require_described(table: ClassTable, labels: Sequence[Label], semantics: Semantics) -> None:
    missing = [label for label in labels if label not in table.places]
    if not missing:
        return
    if table.kind not in (None, kind_of(missing[0])):
        raise DataError(
            f"y: the labels are {kind_of(missing[0])} such as {missing[0]!r}, but the described "
            f"classes are named by {table.kind}, such as {table.labels[0]!r}; use the same"
        )
    others = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
    raise DataError(
        f"y: class {missing[0]!r}{others} has samples but no {semantics.source}; describe it in "
        f"class_{semantics.source} (--{semantics.source}), or with add_classes (add-class) first"
    )


def _alike(table: ClassTable, label: Label, row: NDArray[np.float32]) -> bool:
    """Whether a known class is described so, up to the rounding of a text encoder."""
    known = table.attributes[table.places[label]].numpy()
    scale = float(np.abs(known).max())
    return row.shape == known.shape and bool(np.allclose(row, known, rtol=1e-3, atol=1e-4 * scale))


def _as_table(rows: Any, labels: Sequence[Label]) -> NDArray[np.float32]:
    """Attributes as a table; a row that does not fit is called by the name of its class."""
    if isinstance(rows, list | tuple) and len(rows) == len(labels):
        widths = [_width(row) for row in rows]
        for label, row, width in zip(labels, rows, widths, strict=True):
            if width is None:
                raise DataError(
                    f"attributes: those of class {label!r} are {cut(row)}; give a list of numbers, "
                    "or describe all classes by texts (class_descriptions)"
                )
            if width != widths[0]:
                raise DataError(
                    f"attributes: {width} for class {label!r}, but {widths[0]} for class "
                    f"{labels[0]!r}; the rows differ in length, and all need the same"
                )
    return as_matrix(rows, "attributes")


def _width(row: Any) -> int | None:
    """How many numbers a row may hold; None if it is no list of any kind."""
    try:
        return None if isinstance(row, str) else len(row)
    except TypeError:
        return None
