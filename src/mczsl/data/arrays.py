"""A user's own data: one ``.npz`` file, or a folder with a table for each part.

The parts have the same names in both: ``features`` (N, D), ``labels`` (N) and ``attributes``
(C, A) are needed. In a folder each is a file such as ``features.npy``, ``labels.csv`` or
``attributes.parquet``; a table of attributes has the class name in its first column. In an
``.npz``, or beside ``attributes.npy``, ``class_names`` names the rows of ``attributes``.

Labels are matched to the class names. Whole numbers that are no names are positions, from 0, or
from 1 when they run up to the number of classes.

Splits are optional: ``trainval``, ``test_seen`` and ``test_unseen`` as row numbers from 0 (or as
masks), or only ``unseen_classes``; see :func:`mczsl.data.splits.default_splits` for the rest.
``validation_classes`` (and ``validation_classes_2``, ...) list seen classes that play the unseen.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mczsl.data import npz, tables
from mczsl.data.checks import warning
from mczsl.data.convert import as_integers, as_matrix
from mczsl.data.dataset import DatasetParts, FeatureDataset
from mczsl.data.splits import DEFAULT_SHARE, SETS, Rows, Splits, default_splits
from mczsl.errors import DataError

_NEEDED = ("features", "labels", "attributes")
_OPTIONAL = ("class_names", "unseen_classes", "validation_classes", *SETS)
_REMARKS = ("files",)  # which picture each row is of: for people, not for us

Part = Callable[[], Any]  # reads one part when called, so that a fault costs only that part


def load(path: Path) -> FeatureDataset:
    """The dataset in an ``.npz`` file or in a folder of tables."""
    return read(path).build()


def is_dataset(path: Path) -> bool:
    """Whether a path looks like such a dataset, without opening it."""
    return path.suffix.lower() == ".npz" if path.is_file() else "features" in _files(path)


def read(path: Path) -> DatasetParts:
    """Everything that can be read of the dataset at ``path``, and everything wrong with it."""
    provenance = {"features": "features", "semantics": "attributes", "source": path.name}
    parts = DatasetParts(path.stem if path.is_file() else path.name, provenance=provenance)
    with parts.collecting():
        found = _folder(path) if path.is_dir() else _npz(path, parts)
        for name in _NEEDED:
            if name not in found:
                kind = f"{name}.csv, .parquet or .npy" if path.is_dir() else f"an array {name!r}"
                present = ", ".join(sorted(found)) or "nothing of use"
                raise DataError(f"{path}: {name} are missing (found: {present}); add {kind}")
        _assemble(found, parts)
    return parts


def _folder(path: Path) -> dict[str, Part]:
    found: dict[str, Part] = {}
    for name, file in _files(path).items():
        if name == "features" or (name == "attributes" and file.suffix == ".npy"):
            found[name] = partial(tables.read_matrix, file)
        elif name == "attributes":
            found[name] = partial(tables.read_attributes, file)
        elif name in SETS and file.suffix == ".npy":
            found[name] = partial(tables.read_npy, file)
        else:
            found[name] = partial(tables.read_labels, file)
    return found


def _files(folder: Path) -> dict[str, Path]:
    """The tables in a folder that have a part's name; of two with one name, the faster to read."""
    found: dict[str, Path] = {}
    for suffix in tables.SUFFIXES:
        for file in sorted(folder.glob(f"*{suffix}")):
            if _is_part(file.stem):
                found.setdefault(file.stem, file)
    return found


def _npz(path: Path, parts: DatasetParts) -> dict[str, Part]:
    members = npz.members(path)
    for name in sorted(members):
        if not _is_part(name) and name not in _REMARKS:
            near = difflib.get_close_matches(name, (*_NEEDED, *_OPTIONAL), n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            parts.problems.append(warning(f"{path.name}: {name!r} is not used{hint}"))
    return {name: part for name, part in members.items() if _is_part(name)}


def _is_part(name: str) -> bool:
    return name in _NEEDED or name in _OPTIONAL or name.startswith("validation_classes_")


def _assemble(found: Mapping[str, Part], parts: DatasetParts) -> None:
    """Fill in the parts, in the order in which they need each other."""
    with parts.collecting():
        parts.features = _keep_mapped(found["features"]())
    with parts.collecting():
        described = found["attributes"]()
        names: Sequence[str] | None = None
        if isinstance(described, tuple):
            names, described = described
        elif "class_names" in found:
            names = tables.label_texts(found["class_names"](), "class_names")
        parts.attributes = as_matrix(described, "attributes")
        if parts.attributes.ndim != 2:
            raise DataError(f"attributes: must be a table, not {parts.attributes.ndim}-d")
        labels = tables.label_texts(found["labels"](), "labels")
        lookup = _number_classes(labels, names, len(parts.attributes), parts)
        parts.labels = _numbers(labels, lookup, "labels")
        parts.splits = _splits(found, lookup, parts)


def _keep_mapped(features: NDArray[Any]) -> NDArray[np.floating]:
    """Memory-mapped features stay on disk; any others become float32."""
    return features if isinstance(features, np.memmap) else as_matrix(features)


def _number_classes(
    labels: Sequence[str], names: Sequence[str] | None, n_classes: int, parts: DatasetParts
) -> dict[str, int]:
    """Fill in the class names; which class number each text stands for."""
    by_name = {name: number for number, name in enumerate(names or ())}
    used = set(labels)
    positions = sorted(int(each) for each in used if each.removeprefix("-").isdecimal())
    lookup = by_name
    if len(positions) == len(used) and not used & by_name.keys():
        start = 1 if positions[:1] > [0] and positions[-1] == n_classes else 0
        lookup = {str(number + start): number for number in range(n_classes)} | by_name
        parts.provenance["labels"] = f"positions from {start}"
    elif names is None:
        raise DataError("labels are not all whole numbers, so class_names must name the attributes")
    parts.class_names = tuple(lookup if names is None else names)
    return lookup


def _numbers(texts: Sequence[str], lookup: Mapping[str, int], what: str) -> NDArray[np.int64]:
    """The class number of each text."""
    unknown = [row for row, text in enumerate(texts) if text not in lookup]
    if unknown:
        text = texts[unknown[0]]
        near = difflib.get_close_matches(text, lookup, n=1)
        hint = f"did you mean {near[0]!r}?" if near else "add its attributes, or drop the rows."
        if unknown == [0]:
            hint += " If it is a header, call it 'label'"
        raise DataError(
            f"{what}: {text!r} at row {unknown[0]} is no class with attributes "
            f"({len(unknown)} such rows); {hint}"
        )
    return np.array([lookup[text] for text in texts], dtype=np.int64)


def _splits(found: Mapping[str, Part], lookup: Mapping[str, int], parts: DatasetParts) -> Splits:
    assert parts.labels is not None
    assert parts.class_names is not None
    given = [name for name in SETS if name in found]
    if given:
        absent = [name for name in SETS if name not in found]
        if absent:
            raise DataError(f"the split has {', '.join(given)} but no {', '.join(absent)}; add it")
        sets = {name: _rows(found[name](), name) for name in SETS}
        parts.provenance["split"] = "given"
    else:
        unseen = _classes(found, "unseen_classes", lookup) if "unseen_classes" in found else None
        sets = default_splits(parts.labels, parts.class_names, unseen).sets()
        share = f"{DEFAULT_SHARE:.0%}"
        classes = f"{share} of the classes" if unseen is None else "the given classes"
        parts.provenance["split"] = f"default: {classes} unseen, {share} of the images held back"
    lists = sorted((name for name in found if name.startswith("validation_classes")), key=len)
    parts.provenance["validation"] = ", ".join(lists) or "none"
    validation = tuple(_classes(found, name, lookup) for name in lists)
    return Splits(**sets, validation_classes=validation)


def _classes(found: Mapping[str, Part], name: str, lookup: Mapping[str, int]) -> tuple[int, ...]:
    return tuple(_numbers(tables.label_texts(found[name](), name), lookup, name).tolist())


def _rows(values: Any, name: str) -> Rows:
    """Row numbers, whether given as numbers, as texts of numbers, or as a mask."""
    if isinstance(values, np.ndarray) and values.dtype == np.bool_:
        return np.flatnonzero(values)
    texts = values if isinstance(values, list) else []
    if texts and all(text.removeprefix("-").isdecimal() for text in texts):
        values = [int(text) for text in texts]
    return as_integers(values, f"split {name}")
