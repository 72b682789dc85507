"""Samples and classes from a user's files, for the commands that make and use models."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mczsl.errors import DataError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mczsl import ZeroShotClassifier


class Labelled(NamedTuple):
    """Features, a label for each row, and the classes' attributes if the file has them."""

    X: NDArray[Any]
    labels: list[str]
    attributes: dict[str, Any] | None = None


def read_features(path: Path) -> NDArray[Any]:
    """A table of numbers, or the array ``features`` of an ``.npz``."""
    from mczsl.data import npz, tables
    from mczsl.data.convert import as_matrix

    if path.suffix.lower() != ".npz":
        return tables.read_matrix(path)
    return as_matrix(_array(path, npz.members(path), "features"), f"{path.name}: features")


def read_labelled(path: Path, labels: Path | None) -> Labelled:
    """Features with labels: from a file of their own, the first column, or an ``.npz``."""
    from mczsl.data import load_dataset, npz, tables

    if labels is not None:
        X, names = read_features(path), tables.read_labels(labels)
        return _paired(X, names, labels)
    if path.suffix.lower() == ".npy":
        raise DataError(f"{path}: has no room for labels; name a file of them with --labels")
    if path.suffix.lower() != ".npz":
        names, X = tables.read_attributes(path)
        if all(map(_is_measured, names)):
            raise DataError(
                f"{path}: its first column holds numbers such as {names[0]}, no labels; put the "
                "labels there, or name a file of them with --labels"
            )
        return Labelled(X, names)
    members = npz.members(path)
    if "attributes" in members:
        dataset = load_dataset(str(path))
        names = [dataset.class_names[number] for number in dataset.labels]
        return Labelled(
            dataset.features,
            names,
            dict(zip(dataset.class_names, dataset.attributes, strict=True)),
        )
    found = tables.label_texts(_array(path, members, "labels"), f"{path.name}: labels")
    return _paired(read_features(path), found, path)


def _paired(X: NDArray[Any], labels: list[str], path: Path) -> Labelled:
    if len(labels) != len(X):
        raise DataError(f"{path}: {len(labels)} labels for {len(X)} rows; every row needs one")
    return Labelled(X, labels)


def _is_measured(label: str) -> bool:
    """Whether a label is a number with a fraction: nobody names a class so."""
    try:
        return float(label) % 1 != 0
    except ValueError:
        return False


def read_classes(path: Path) -> dict[str, Any]:
    """Classes and their attributes: a table with the class in its first column."""
    from mczsl.data import tables
    from mczsl.data.checks import check_class_names

    names, rows = tables.read_attributes(path)
    check_class_names(names)
    return dict(zip(names, rows, strict=True))


def model_labels(model: ZeroShotClassifier, texts: list[str]) -> list[Any]:
    """Labels as the model has them: a model of whole numbers gets whole numbers."""
    kind = model.classes_.dtype.kind
    if kind == "b":
        truths = {"true": True, "false": False, "1": True, "0": False}
        return [truths.get(text.lower(), text) for text in texts]
    if kind == "i":
        return [int(text) if text.lstrip("-").isdecimal() else text for text in texts]
    return list(texts)


def _array(path: Path, members: dict[str, Any], name: str) -> NDArray[Any]:
    if name not in members:
        present = ", ".join(sorted(members)) or "nothing"
        raise DataError(f"{path}: has no array {name!r} (found: {present}); add it")
    array: NDArray[Any] = members[name]()
    return array
