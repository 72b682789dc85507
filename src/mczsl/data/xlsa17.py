"""The layout of the "xlsa17" archive, the field's standard.

``<root>/<DATASET>/<features>.mat`` holds ``features`` (D, N) and ``labels`` (N, 1), the file
``<semantics>_splits.mat`` beside it ``att`` (A, C), ``allclasses_names`` and the image numbers
``trainval_loc``, ``test_seen_loc`` and ``test_unseen_loc``. All numbers count from 1.
``valclasses<n>.txt`` and ``trainclasses<n>.txt`` are class lists for choosing hyperparameters.

Labels are column numbers of ``att``, and ``allclasses_names`` names those columns. That order is
not alphabetical in every dataset, so nothing here ever sorts classes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path, PurePosixPath

import numpy as np
from numpy.typing import NDArray

from mczsl.data.checks import Problem, warning
from mczsl.data.dataset import DatasetParts, FeatureDataset
from mczsl.data.files import reading, same_name
from mczsl.data.matfiles import MatFile
from mczsl.data.splits import SETS, Rows, Splits
from mczsl.errors import DataError, unknown_name

FEATURES = "res101"
SEMANTICS = "att"
_SUFFIX = "_splits"


def load(
    root: Path, dataset: str, features: str = FEATURES, semantics: str = SEMANTICS
) -> FeatureDataset:
    """The dataset in the folder of that name (in any case), known or not."""
    return read(find_folder(root, dataset), features, semantics).build()


def find_folder(root: Path, dataset: str) -> Path:
    """The folder of that name under ``root``, in any case; the exact spelling goes first."""
    with reading(root):
        folders = {folder.name: folder for folder in sorted(root.iterdir()) if is_dataset(folder)}
    found = same_name(dataset, folders)
    if found is None:
        raise unknown_name("dataset", dataset, folders, f"Looked in {root}", DataError)
    return folders[found]


def is_dataset(folder: Path) -> bool:
    """Whether a folder is in this layout: it describes classes and splits."""
    return bool(semantics_in(folder))


def features_in(folder: Path) -> list[str]:
    """Names of the features files in a dataset's folder."""
    return sorted(file.stem for file in folder.glob("*.mat") if not file.stem.endswith(_SUFFIX))


def semantics_in(folder: Path) -> list[str]:
    """Names of the files that describe the classes in a dataset's folder."""
    return sorted(file.stem.removesuffix(_SUFFIX) for file in folder.glob(f"*{_SUFFIX}.mat"))


def read(folder: Path, features: str = FEATURES, semantics: str = SEMANTICS) -> DatasetParts:
    """Everything that can be read of the dataset in ``folder``, and everything wrong with it."""
    parts = DatasetParts(folder.name, provenance={"features": features, "semantics": semantics})
    sources = []
    with parts.collecting():
        path = _file(folder, features, features_in(folder), "features")
        _read_features(path, parts)
        sources.append(f"{folder.name}/{path.name}")
    with parts.collecting():
        path = _file(folder, semantics, semantics_in(folder), "semantics", _SUFFIX)
        _read_semantics(path, parts)
        sources.append(f"{folder.name}/{path.name}")
    parts.provenance["source"] = ", ".join(sources)
    parts.further_checks = partial(_order_problems, folder, features, parts)
    return parts


def _file(folder: Path, name: str, known: Sequence[str], kind: str, suffix: str = "") -> Path:
    if name in known:
        return folder / f"{name}{suffix}.mat"
    if not known:
        raise DataError(f"there is no {kind} file at all; put <name>{suffix}.mat into its folder")
    raise unknown_name(
        f"{kind} of {folder.name}", name, known, f"Choose one with --{kind}", DataError
    )


def _read_features(path: Path, parts: DatasetParts) -> None:
    """Fill in features and labels."""
    file = MatFile(path)
    with parts.collecting():
        parts.labels = _from_one(file.integers("labels"), f"{path.name}: labels")
    with parts.collecting():
        values = file.columns("features")
        if parts.labels is not None and len(values) != len(parts.labels):
            if values.shape[1] != len(parts.labels):
                raise DataError(
                    f"{path.name}: features of shape {values.shape[::-1]} do not fit "
                    f"{len(parts.labels)} labels; one column is needed for each label"
                )
            values = np.ascontiguousarray(values.T)
            _note(parts, f"{path.name}: features are stored transposed, (N, D); read as such")
        parts.features = values


def _read_semantics(path: Path, parts: DatasetParts) -> None:
    """Fill in class names, attributes and splits."""
    locations = [f"{name}_loc" for name in SETS]
    file = MatFile(path)
    with parts.collecting():
        attributes = file.columns("att")
        names = file.texts("allclasses_names") if "allclasses_names" in file else []
        n_classes = len(names) or (0 if parts.labels is None else int(parts.labels.max()) + 1)
        if n_classes == attributes.shape[1] != len(attributes):
            attributes = np.ascontiguousarray(attributes.T)
            _note(parts, f"{path.name}: att is stored transposed, (C, A); read as such")
        parts.attributes = attributes
        parts.class_names = tuple(names or _names_beside(path.parent, len(attributes)))
    sets: dict[str, Rows] = {}
    for name, location in zip(SETS, locations, strict=True):
        with parts.collecting():
            sets[name] = _from_one(file.integers(location), f"{path.name}: {location}")
    if len(sets) == len(SETS):
        validation = _validation_classes(path.parent, file, sets["trainval"], parts)
        parts.splits = Splits(**sets, validation_classes=validation)


def _from_one(numbers: NDArray[np.int64], what: str) -> NDArray[np.int64]:
    """Numbers that count from 1, as in MATLAB, made to count from 0."""
    if not len(numbers):
        return numbers
    if numbers.min() == 0:
        raise DataError(f"{what} contains 0, so it counts from 0; this layout counts from 1: add 1")
    if numbers.min() < 0:
        raise DataError(f"{what} contains {numbers.min()}; numbers count from 1")
    return numbers - 1


def _note(parts: DatasetParts, text: str) -> None:
    parts.problems.append(warning(text))
    parts.provenance["notes"] = "; ".join(filter(None, (parts.provenance.get("notes"), text)))


def _names_beside(folder: Path, n_classes: int) -> list[str]:
    """Class names from ``allclasses.txt`` when they fit, else the class numbers."""
    names = _lines(folder / "allclasses.txt")
    return names if len(names) == n_classes else [str(number + 1) for number in range(n_classes)]


def _validation_classes(
    folder: Path, file: MatFile, trainval: Rows, parts: DatasetParts
) -> tuple[tuple[int, ...], ...]:
    """The published class lists for validation, except those that name other than seen classes."""
    if parts.class_names is None or parts.labels is None:
        return ()
    if trainval.max(initial=-1) >= len(parts.labels):
        return ()  # reported with the splits
    seen = set(parts.labels[trainval].tolist())
    numbers = _numbers(parts.class_names)
    found: dict[str, tuple[int, ...]] = {}
    for path in sorted(folder.glob("valclasses*.txt"), key=lambda file: (len(file.name), file)):
        classes = {numbers.get(_plain(line), -1) for line in _lines(path)}
        if classes and classes <= seen:
            found[path.name] = tuple(sorted(classes))
        else:
            parts.problems.append(
                warning(f"{path.name}: names classes that are not seen ones; the list is not used")
            )
    if not found and "train_loc" in file and "val_loc" in file:
        with parts.collecting():
            found = _from_locations(file, parts.labels, seen)
    parts.provenance["validation"] = ", ".join(found) or "none"
    return tuple(found.values())


def _from_locations(
    file: MatFile, labels: NDArray[np.int64], seen: set[int]
) -> dict[str, tuple[int, ...]]:
    """The classes of ``val_loc``, if they are seen ones without an image in ``train_loc``."""
    rows = [_from_one(file.integers(name), name) for name in ("train_loc", "val_loc")]
    if any(len(each) == 0 or each.max() >= len(labels) for each in rows):
        return {}
    train, held_out = (set(labels[each].tolist()) for each in rows)
    usable = held_out <= seen and not held_out & train
    return {"val_loc": tuple(sorted(held_out))} if usable else {}


def _order_problems(folder: Path, features: str, parts: DatasetParts) -> Iterator[Problem]:
    """Where other files contradict the order of the class names."""
    names, labels, splits = parts.class_names, parts.labels, parts.splits
    if names is None or labels is None or labels.max(initial=-1) >= len(names):
        return
    suspicion = "the class names may be in another order than the labels"
    numbers = _numbers(names)
    listed = {numbers.get(_plain(line), -1) for line in _lines(folder / "testclasses.txt")}
    if listed and splits is not None and splits.test_unseen.max(initial=-1) < len(labels):
        unseen = set(labels[splits.test_unseen].tolist())
        if listed != unseen:
            yield warning(
                f"testclasses.txt and test_unseen_loc differ in {len(listed ^ unseen)} classes: "
                + suspicion
            )
    file = MatFile(folder / f"{features}.mat")
    images = file.texts("image_files") if "image_files" in file else []
    for row, image in enumerate(images if len(images) == len(labels) else ()):
        of_folder = numbers.get(_plain(PurePosixPath(image).parent.name), labels[row])
        if of_folder != labels[row]:
            yield warning(f"{image!r} (row {row}) is labelled {names[labels[row]]!r}: {suspicion}")
            return


def _numbers(names: Sequence[str]) -> dict[str, int]:
    return {_plain(name): number for number, name in enumerate(names)}


def _lines(path: Path) -> list[str]:
    if not path.is_file():
        return []
    with reading(path, "save it as UTF-8 text"):
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    return [line.strip() for line in lines if line.strip()]


def _plain(name: str) -> str:
    """A name without what differs between copies: case, and what stands for a blank.

    >>> _plain("Grizzly+Bear ") == _plain("grizzly_bear")
    True
    """
    return re.sub(r"[\s_+-]+", " ", name.strip()).casefold()
