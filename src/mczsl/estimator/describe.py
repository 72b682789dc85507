"""Describing classes: by attributes, by texts that an encoder reads, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeGuard

import numpy as np
from numpy.typing import NDArray

from mczsl.data.checks import check_attributes
from mczsl.data.convert import as_matrix
from mczsl.encoders.text import CallableEncoder, load_encoder, require_same_encoder
from mczsl.errors import ConfigError, DataError
from mczsl.estimator.classes import CODE_WIDTH, ClassTable, one_hot_codes
from mczsl.estimator.inputs import WrongType, as_names
from mczsl.estimator.labels import Label, kind_of

if TYPE_CHECKING:
    from mczsl.encoders.text import TextEncoder


class Frame:
    """What we use of a data frame, whoever made it."""

    index: Iterable[Any]
    columns: Iterable[Any]
    iloc: Any
    to_numpy: Callable[[], NDArray[Any]]


@dataclass(frozen=True)
class Semantics:
    """Where attributes come from: those of another origin mean something else.

    ``encoder`` is the identity of the encoder that read the descriptions; ``columns`` are the
    names of the attributes, if they came with names.
    """

    source: Literal["attributes", "descriptions", "one-hot"]
    encoder: str | None = None
    columns: tuple[str, ...] | None = None


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
        if _is_frame(values):
            return as_names(values.index, f"the index of {what}")
        if isinstance(values, Mapping):
            return as_names(values, f"the names in {what}")
        raise WrongType(
            f"{what}: must be a mapping from class to description or a data frame with a row for "
            f"each class, not {type(values).__name__}"
        )

    def semantics(self) -> Semantics:
        """What sort of description this is."""
        if self.attributes is not None:
            return Semantics("attributes", columns=_columns(self.attributes))
        if self.texts is not None:
            return Semantics("descriptions", encoder=self.text_encoder.identity)
        return Semantics("one-hot")

    def rows(self, labels: Sequence[Label], semantics: Semantics) -> NDArray[np.float32]:
        """The attributes of these classes, (n, A)."""
        what, values = self._given()
        if values is None:
            return one_hot_codes(labels)
        if isinstance(values, Mapping) or _is_frame(values):
            values = self._selected(labels, semantics)
        if self.texts is None:
            return as_matrix(values, what)
        if len(values) != len(labels):
            raise DataError(f"{what}: {len(values)} for {len(labels)} classes; each needs one")
        require_same_encoder(self.text_encoder, semantics.encoder or "")
        return self.text_encoder.encode(values)

    def _given(self) -> tuple[str, Any]:
        if self.attributes is not None:
            return "attributes", self.attributes
        return "descriptions", self.texts

    def _selected(self, labels: Sequence[Label], semantics: Semantics) -> list[Any]:
        """What is said of each of these classes."""
        what, values = self._given()
        places = {label: place for place, label in enumerate(self.names or ())}
        for label in labels:
            if label not in places:
                raise DataError(
                    f"{what}: nothing is said about class {label!r}; describe it, or leave it out"
                )
        table: Sequence[Any] | NDArray[Any]
        if _is_frame(values):
            table = as_matrix(_in_order(values, semantics.columns).to_numpy(), what)
        else:
            table = list(values.values())
        return [table[places[label]] for label in labels]


def first_table(said: Descriptions, labels: Sequence[Label]) -> tuple[ClassTable, Semantics]:
    """The classes known at the first lesson: all that are described, and those with samples."""
    semantics = said.semantics()
    names = said.names or list(labels)
    rows = said.rows(names, semantics)
    width = rows.shape[1] if rows.ndim == 2 else CODE_WIDTH
    table = add_described(ClassTable.empty(width), names, rows)
    _require_described(table, labels)
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
    _require_described(table, labels)
    return table


def as_encoder(encoder: Any) -> TextEncoder:
    """A text encoder from its name, an encoder itself, or any function from texts to numbers."""
    if isinstance(encoder, str):
        return load_encoder(encoder)
    if hasattr(encoder, "encode") and hasattr(encoder, "identity"):
        return encoder  # type: ignore[no-any-return]
    if callable(encoder):
        name = getattr(encoder, "__qualname__", type(encoder).__qualname__)
        return CallableEncoder(encoder, f"{encoder.__module__}.{name}")
    raise ConfigError(
        f"text_encoder: {encoder!r} is neither the name of an encoder nor a function from texts "
        "to numbers"
    )


def _require_described(table: ClassTable, labels: Sequence[Label]) -> None:
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
        f"y: class {missing[0]!r}{others} has samples but no attributes; describe it in "
        "class_attributes (--attributes), or with add_classes (add-class) first"
    )


def _is_frame(values: object) -> TypeGuard[Frame]:
    return hasattr(values, "to_numpy") and hasattr(values, "index") and hasattr(values, "columns")


def _columns(values: object) -> tuple[str, ...] | None:
    return tuple(map(str, values.columns)) if _is_frame(values) else None


def _in_order(frame: Frame, columns: tuple[str, ...] | None) -> Any:
    """A data frame with its columns in the order that the model knows them by."""
    names = _columns(frame) or ()
    if columns is None or names == columns:
        return frame
    if sorted(names) != sorted(columns) or len(set(columns)) < len(columns):
        odd = [repr(name) for name in sorted({*names} ^ {*columns})]
        raise DataError(
            "attributes: the columns are not those of the known classes (different: "
            f"{', '.join(odd[:5]) or 'how often a name comes up'})"
        )
    return frame.iloc[:, [names.index(name) for name in columns]]
