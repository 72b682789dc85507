"""Samples and classes from a user's files, for the commands that make and use models."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mczsl.errors import DataError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mczsl import ZeroShotClassifier
    from mczsl.data.columns import Chooser

_ENOUGH_ROWS = 10  # with fewer, each may well be of a class of its own


class Labelled(NamedTuple):
    """Features, a label for each row, and what else the file says of both."""

    X: NDArray[Any]
    labels: list[str]
    attributes: dict[str, Any] | None = None
    columns: tuple[str, ...] | None = None


class Questions(NamedTuple):
    """Features to be recognised; their labels (empty where missing) and files, if any."""

    X: NDArray[Any]
    labels: list[str] | None = None
    files: list[str] | None = None


@dataclass(frozen=True)
class ClassFrame:
    """A table of classes with named columns: what the estimator uses of a data frame."""

    index: list[Any]
    columns: tuple[str, ...]
    values: NDArray[Any]

    def to_numpy(self) -> NDArray[Any]:
        return self.values

    @property
    def iloc(self) -> ClassFrame:
        return self

    def __getitem__(self, places: tuple[slice, list[int]]) -> ClassFrame:
        """The columns at these places."""
        _, order = places
        return ClassFrame(
            self.index, tuple(self.columns[each] for each in order), self.values[:, order]
        )


def read_labelled(
    path: Path, labels: Path | None, model: ZeroShotClassifier | None = None
) -> Labelled:
    """Features with labels: from a file of their own, a column of the table, or an ``.npz``.

    The names of the columns that the model knows help to tell a header from data.
    """
    from mczsl.data import npz, tables
    from mczsl.data.columns import of_questions, of_samples

    known = _known_columns(model)
    if labels is not None:
        # Labels of its own, beside those of the file of labels, must not become a feature.
        X, columns, _ = _features(path, of_questions((), 0), known)
        return _paired(X, tables.read_labels(labels), labels, columns)
    if path.suffix.lower() == ".npy":
        raise DataError(f"{path}: has no room for labels; name a file of them with --labels")
    if path.suffix.lower() != ".npz":
        table = tables.read_table(path, of_samples, named=True, known=known)
        found = tables.with_truths_as_texts(table.labels or [])
        names = tables.label_texts(found, f"{path}: labels")
        _require_classes(path, names, table.guessed)
        return Labelled(table.numbers, names, columns=table.columns)
    members = npz.members(path)
    if "attributes" in members:
        return _whole_dataset(path)
    if "labels" not in members:
        present = ", ".join(sorted(members)) or "nothing"
        raise DataError(
            f"{path}: has no array 'labels' (found: {present}), so there is nothing to learn from; "
            "name a file of labels with --labels, or encode pictures that lie in class folders"
        )
    found = tables.with_truths_as_texts(members["labels"]())
    return _paired(_npz_features(path), tables.label_texts(found, f"{path.name}: labels"), path)


def read_questions(path: Path, model: ZeroShotClassifier) -> Questions:
    """Features in the model's order. Labels are found by their header, or in an ``.npz``."""
    from mczsl.data import npz
    from mczsl.data.columns import of_questions

    known = _known_columns(model)
    X, columns, labels = _features(path, of_questions(known, model.n_features_in_), known)
    files = None
    if path.suffix.lower() == ".npz":
        members = npz.members(path)
        # The labels of a whole dataset may be places in its list of classes.
        labels = None if "attributes" in members else _optional(members, "labels")
        files = _optional(members, "files")
        for name, values in (("labels", labels), ("files", files)):
            if values is not None and len(values) != len(X):
                raise DataError(
                    f"{path}: {len(values)} {name} for {len(X)} rows; every row needs one"
                )
    texts = None if labels is None else _texts_if_any(labels, f"{path}: labels")
    names = None if files is None else [str(each) for each in files]
    return Questions(in_model_order(model, X, columns, path), texts, names)


def in_model_order(
    model: ZeroShotClassifier, X: NDArray[Any], columns: tuple[str, ...] | None, path: Path
) -> NDArray[Any]:
    """The features as the model learned them, if both have names; else as they are."""
    known = _known_columns(model)
    if not known or columns is None or list(columns) == known:
        return X
    if sorted(columns) != sorted(known):
        lists = {
            "missing": [name for name in known if name not in columns],
            "unknown": [name for name in columns if name not in known],
        }
        said = [
            f"{what}: {', '.join(map(repr, names[:5]))}{', ...' if names[5:] else ''}"
            for what, names in lists.items()
            if names
        ]
        raise DataError(
            f"{path}: its columns are not those that the model learned ({'; '.join(said)}); "
            "rename or drop columns"
        )
    places = {name: place for place, name in enumerate(columns)}
    return X[:, [places[name] for name in known]]


def read_classes(path: Path) -> dict[str, Any] | ClassFrame:
    """Classes and their attributes, with the names of these if the table has them."""
    from mczsl.data import tables
    from mczsl.data.checks import check_class_names

    names, table = tables.read_classes(path)
    check_class_names(names)
    if table.columns is not None:
        return ClassFrame(names, table.columns, table.numbers)
    return dict(zip(names, table.numbers, strict=True))


def model_labels(model: ZeroShotClassifier, texts: list[str]) -> list[Any]:
    """Labels as the model has them: a model of whole numbers gets whole numbers."""
    kind = model.classes_.dtype.kind
    if kind == "b":
        truths = {"true": True, "false": False, "1": True, "0": False}
        return [truths.get(text.lower(), text) for text in texts]
    if kind == "i":
        return [int(text) if text.lstrip("-").isdecimal() else text for text in texts]
    return list(texts)


def add_classes(model: ZeroShotClassifier, table: Path) -> list[Any]:
    """Add the classes of a file that are not known yet, as the model describes its classes."""
    from mczsl.data.descriptions import read_descriptions

    by_text = model.model_.semantics.source == "descriptions"
    said: Any = read_descriptions(table) if by_text else read_classes(table)
    if isinstance(said, ClassFrame):
        labels = model_labels(model, said.index)
        said = replace(said, index=labels)
    else:
        labels = model_labels(model, list(said))
        said = dict(zip(labels, said.values(), strict=True))
    known = set(model.classes_.tolist())
    new = [label for label in labels if label not in known]
    if new:
        model.add_classes(new, **{"descriptions" if by_text else "attributes": said})
    return new


def add_described(model: ZeroShotClassifier, samples: Labelled) -> None:
    """Add the classes of the samples that the model does not know, but their own file describes."""
    if samples.attributes is None or model.model_.semantics.source != "attributes":
        return
    labels = model_labels(model, list(samples.attributes))
    rows = dict(zip(labels, samples.attributes.values(), strict=True))
    asked = dict.fromkeys(model_labels(model, samples.labels))
    unknown = asked.keys() - set(model.classes_.tolist())
    new = {label: rows[label] for label in asked if label in unknown and label in rows}
    if new:
        model.add_classes(new, attributes=new)


# ---------------------------------------------------------------- inside


def _known_columns(model: ZeroShotClassifier | None) -> list[str]:
    """The names of the features that a model learned, if they had any."""
    return [name.strip() for name in getattr(model, "feature_names_in_", ())]


def _features(
    path: Path, choose: Chooser, known: Collection[str]
) -> tuple[NDArray[Any], tuple[str, ...] | None, Any]:
    """Numbers, their columns' names if they have any, and the labels if a column is chosen."""
    from mczsl.data import tables

    match path.suffix.lower():
        case ".npz":
            return _npz_features(path), None, None
        case ".npy":
            return tables.read_matrix(path), None, None
        case _:
            table = tables.read_table(path, choose, named=False, known=known)
            return table.numbers, table.columns, table.labels


def _whole_dataset(path: Path) -> Labelled:
    """Samples and classes of a dataset. What is to be learned needs no split into seen and not."""
    from mczsl.data import arrays
    from mczsl.data.checks import attribute_problems, class_name_problems, raise_first

    parts = arrays.read(path)
    X, numbers, names, rows = parts.features, parts.labels, parts.class_names, parts.attributes
    if X is None or numbers is None or names is None or rows is None:
        raise_first(parts.problems, f"{path}: ")
        raise AssertionError("a part is missing without a word")
    raise_first([*class_name_problems(names), *attribute_problems(rows, names)], f"{path}: ")
    found = _paired(X, [names[number] for number in numbers], path)
    return found._replace(attributes=dict(zip(names, rows, strict=True)))


def _npz_features(path: Path) -> NDArray[Any]:
    from mczsl.data import npz
    from mczsl.data.convert import as_matrix

    members = npz.members(path)
    if "features" not in members:
        present = ", ".join(sorted(members)) or "nothing"
        raise DataError(f"{path}: has no array 'features' (found: {present}); add it")
    return as_matrix(members["features"](), f"{path.name}: features")


def _optional(members: dict[str, Callable[[], NDArray[Any]]], name: str) -> list[Any] | None:
    return members[name]().ravel().tolist() if name in members else None


def _paired(
    X: NDArray[Any], labels: list[str], path: Path, columns: tuple[str, ...] | None = None
) -> Labelled:
    if len(labels) != len(X):
        raise DataError(f"{path}: {len(labels)} labels for {len(X)} rows; every row needs one")
    return Labelled(X, labels, columns=columns)


def _require_classes(path: Path, labels: list[str], guessed: str | None) -> None:
    """Refuse measurements and names of rows, which a wrong guess would take for classes."""
    mend = "head the column of labels 'label', or name a file of them with --labels"
    fractions = [_fraction(label) for label in labels]
    if None not in fractions and any(fractions):  # a single whole one may be 5.0 as well
        measured = labels[[bool(each) for each in fractions].index(True)]
        raise DataError(
            f"{path}: its {guessed or 'column of labels'} holds numbers such as {measured}, no "
            f"labels; {mend if guessed else 'a label is a text or a whole number'}"
        )
    classes = len(set(labels))
    if guessed and len(labels) >= _ENOUGH_ROWS and classes > 0.9 * len(labels):
        raise DataError(
            f"{path}: no column is headed 'label', and {guessed}, which would be it by its place, "
            f"has {classes} different values in {len(labels)} rows, so it names no classes; {mend}"
        )


def _fraction(label: str) -> float | None:
    """What a number has behind its point: nobody names a class so. None of any other text."""
    try:
        return float(label) % 1
    except ValueError:
        return None


def _texts_if_any(values: list[Any], what: str) -> list[str]:
    """Labels as texts; that one is missing is no fault in rows that are to be recognised."""
    from mczsl.data.tables import label_texts, with_truths_as_texts

    plain = with_truths_as_texts(values)
    texts = ["" if each is None or each != each else str(each).strip() for each in plain]
    found = iter(label_texts((each for each, text in zip(plain, texts, strict=True) if text), what))
    return [next(found) if text else "" for text in texts]
