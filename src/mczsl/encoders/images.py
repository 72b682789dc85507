"""Pictures, with labels or without, become features in the layout of our arrays.

Labels come from class folders or from a table of paths; a picture, or a folder of nothing but
pictures, has none.

Bad files are skipped and listed with the reason; ``strict`` makes the first list of them an error.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from mczsl.data.checks import check_features
from mczsl.data.files import reading
from mczsl.encoders.backbones import DEFAULT, Backbone, load_backbone
from mczsl.encoders.cache import FeatureCache, npz_bytes
from mczsl.encoders.pictures import SUFFIXES, bombs_are_errors, square_picture
from mczsl.errors import ConfigError, DataError
from mczsl.storage import write_atomically

Progress = Callable[[int, int], None]  # how many pictures are done, of how many
_AHEAD = 32  # pictures decoded while the network works; more would only fill the memory

Item = TypeVar("Item")
Result = TypeVar("Result")


class Problem(NamedTuple):
    """A file or class folder that could not be used, and why."""

    path: Path
    reason: str

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


@dataclass(frozen=True)
class Pictures:
    """Picture files and their labels, all or none; there may be classes without a picture.

    ``root`` is the folder in which the user keeps them; their names are told from there.
    """

    paths: tuple[Path, ...]
    labels: tuple[str, ...]
    class_names: tuple[str, ...]
    problems: tuple[Problem, ...] = ()
    root: Path | None = None

    @property
    def files(self) -> list[str]:
        """The pictures' names, as seen from the root."""
        root = self.root
        return [
            (path.relative_to(root) if root and path.is_relative_to(root) else path).as_posix()
            for path in self.paths
        ]


@dataclass(frozen=True)
class EncodedPictures:
    """Features of the pictures that could be read, in their order, and the list of the others."""

    pictures: Pictures
    features: NDArray[np.float32]
    metadata: dict[str, Any]

    def save(self, path: Path) -> None:
        """Write ``path`` (.npz) and, beside it, a .json that says how the features were made."""
        require_place(path)
        pictures = self.pictures
        record = self.metadata | {
            "features_file": path.name,
            "files": [str(each) for each in pictures.paths],
            "problems": [str(each) for each in pictures.problems],
        }
        arrays = {"features": self.features, "files": np.array(pictures.files)}
        if pictures.labels:
            arrays["labels"] = np.array(pictures.labels)
            arrays["class_names"] = np.array(pictures.class_names)
        write_atomically(path, npz_bytes(**arrays))
        write_atomically(path.with_suffix(".json"), (json.dumps(record, indent=1) + "\n").encode())


def encode_images(
    source: Pictures | Path,
    backbone: Backbone | str | Path = DEFAULT,
    *,
    cache: Path | None = None,
    strict: bool = False,
    progress: Progress | None = None,
) -> EncodedPictures:
    """Features of all pictures in ``source``: a folder, a table, a single picture, or a list.

    With a ``cache`` folder, pictures that were encoded before (even in a run that was interrupted)
    are not encoded again.
    """
    pictures = source if isinstance(source, Pictures) else find_pictures(source)
    network = backbone if isinstance(backbone, Backbone) else load_backbone(backbone)
    total = len(pictures.paths)
    keys: list[str] = []
    problems: dict[int, Problem] = {}
    with (
        FeatureCache(cache, network.identity) as known,
        bombs_are_errors(),
        ThreadPoolExecutor(os.cpu_count()) as pool,
    ):
        prepare = partial(_prepare, network=network, known=known)
        for number, outcome in enumerate(_in_order(pool, prepare, pictures.paths)):
            if isinstance(outcome, Problem):
                problems[number] = outcome
            else:
                key, pixels = outcome
                if pixels is not None and key not in known:
                    known[key] = _encode(network, pixels, pictures.paths[number])
                keys.append(key)
            if progress:
                progress(number + 1, total)
    usable = _without(pictures, problems)
    if (usable.problems and strict) or not keys:
        raise _refusal(usable)
    return EncodedPictures(usable, np.stack([known[key] for key in keys]), network.describe())


def require_place(path: Path) -> None:
    """Refuse a name that the features cannot be stored under, before they are computed."""
    if path.suffix != ".npz":
        raise ConfigError(f"{path}: features are stored as .npz; give the file that ending")
    beside = path.with_suffix(".json")
    if beside.exists() and b'"features_file"' not in beside.read_bytes():
        raise ConfigError(
            f"{beside}: belongs to something else, and how the features were made would be written "
            "there; choose another name"
        )


def find_pictures(source: Path) -> Pictures:
    """The pictures in a folder or in a CSV table with columns path and label, or a single one."""
    if source.is_dir():
        return _from_folder(source)
    if source.is_file() and source.suffix.lower() in SUFFIXES:
        return _unlabelled([source], source.parent)
    return _from_table(source)


def _unlabelled(paths: Sequence[Path], root: Path) -> Pictures:
    return Pictures(tuple(paths), (), (), root=root)


def _from_folder(root: Path) -> Pictures:
    paths: list[Path] = []
    labels: list[str] = []
    problems: list[Problem] = []
    with reading(root, "check the folder's permissions"):
        children = sorted(child for child in root.iterdir() if not child.name.startswith("."))
    # A cache of ours stands beside the features, which may stand beside the pictures.
    folders = [child for child in children if child.is_dir() and child.suffix != ".cache"]
    loose = [child for child in children if child.suffix.lower() in SUFFIXES and child.is_file()]
    if loose and not folders:
        return _unlabelled(loose, root)
    if not folders:
        raise DataError(
            f"{root}: has neither pictures nor class folders; put the pictures of each class into "
            "a folder of its own, or pictures without labels side by side"
        )
    for folder in folders:
        inside = sorted(path for path in folder.rglob("*") if path.suffix.lower() in SUFFIXES)
        if not inside:
            problems.append(Problem(folder, "the class has no pictures"))
        paths += inside
        labels += [folder.name] * len(inside)
    problems += [Problem(child, "is outside any class folder") for child in loose]
    names = tuple(folder.name for folder in folders)
    return Pictures(tuple(paths), tuple(labels), names, tuple(problems), root)


def _from_table(table: Path) -> Pictures:
    """A table's relative paths start at the folder in which the table is."""
    with reading(table, "save it as CSV in UTF-8"):
        text = table.read_text(encoding="utf-8-sig")
        header = text.partition("\n")[0]
        delimiter = next((mark for mark in ";\t" if mark in header), ",")
        rows = list(csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    if not rows or not {"path", "label"} <= rows[0].keys():
        raise DataError(
            f"{table}: needs the columns 'path' and 'label', and a row for each picture"
        )
    for number, row in enumerate(rows):
        for column in ("path", "label"):
            if not (row[column] or "").strip():
                raise DataError(
                    f"{table}: row {number} has no {column}; fill it in or drop the row"
                )
    labels = tuple(row["label"].strip() for row in rows)
    paths = tuple(table.parent / row["path"].strip() for row in rows)
    return Pictures(paths, labels, tuple(dict.fromkeys(labels)), root=table.parent)


def _prepare(
    path: Path, network: Backbone, known: FeatureCache
) -> Problem | tuple[str, NDArray[np.uint8] | None]:
    """A file's content hash and, unless its feature is known, what the network will look at."""
    try:
        data = path.read_bytes()
        key = hashlib.sha256(data).hexdigest()
        if key in known:
            return key, None
        wanted = network.preprocessing
        return key, square_picture(data, wanted.size, wanted.crop)
    except DataError as problem:
        return Problem(path, str(problem))
    except OSError as problem:
        return Problem(path, f"cannot be read ({problem.strerror or problem})")


def _encode(network: Backbone, pixels: NDArray[np.uint8], path: Path) -> NDArray[np.float32]:
    """One picture at a time: the result never depends on which others are encoded with it."""
    features = network.encode(pixels[np.newaxis])
    check_features(features, f"{network.name} on {path}")
    feature: NDArray[np.float32] = features[0]
    return feature


def _in_order(
    pool: ThreadPoolExecutor, function: Callable[[Item], Result], items: Iterable[Item]
) -> Iterator[Result]:
    """Results in the order of the items, with only a few computed ahead of their use."""
    waiting: deque[Future[Result]] = deque()
    for item in items:
        waiting.append(pool.submit(function, item))
        if len(waiting) > _AHEAD:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


def _without(pictures: Pictures, problems: dict[int, Problem]) -> Pictures:
    """The usable pictures; a class whose pictures are all bad stays, and is itself a problem."""
    kept = [number for number in range(len(pictures.paths)) if number not in problems]
    usable = replace(
        pictures,
        paths=tuple(pictures.paths[number] for number in kept),
        problems=(*pictures.problems, *problems.values()),
    )
    if not pictures.labels:
        return usable
    labels = tuple(pictures.labels[number] for number in kept)
    emptied = dict.fromkeys(pictures.labels[number] for number in problems).keys() - set(labels)
    lost = [
        Problem(pictures.paths[pictures.labels.index(name)].parent, f"class {name!r} has none left")
        for name in pictures.class_names
        if name in emptied
    ]
    return replace(usable, labels=labels, problems=(*usable.problems, *lost))


def _refusal(pictures: Pictures, shown: int = 5) -> DataError:
    listed = [str(problem) for problem in pictures.problems[:shown]]
    if len(pictures.problems) > shown:
        listed.append(f"... and {len(pictures.problems) - shown} more")
    heading = "these cannot be used" if pictures.paths else "there is no usable picture"
    return DataError("\n  ".join([f"{heading}; mend or remove them:", *listed]))


def as_pictures(paths: Sequence[Path], labels: Sequence[str]) -> Pictures:
    """A list of your own; equal labels are one class."""
    if len(paths) != len(labels):
        raise DataError(f"{len(paths)} paths but {len(labels)} labels; every picture needs one")
    return Pictures(tuple(paths), tuple(labels), tuple(dict.fromkeys(labels)))
