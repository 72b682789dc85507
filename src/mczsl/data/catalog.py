"""Every dataset by name: embedded, generated, in the data root, or at a path."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from mczsl.data import arrays, xlsa17
from mczsl.data.dataset import DatasetParts, FeatureDataset
from mczsl.data.files import same_name
from mczsl.errors import DataError, unknown_name


@dataclass(frozen=True)
class DatasetInfo:
    """What can be loaded under a name, and with which features and semantics."""

    name: str
    kind: str
    description: str
    features: tuple[str, ...] = ()
    semantics: tuple[str, ...] = ()


class Embedded(NamedTuple):
    """A dataset that comes with the package."""

    description: str
    load: Callable[[], FeatureDataset]


def _digits() -> FeatureDataset:
    from mczsl.data import digits

    return digits.load()


def _emoji() -> FeatureDataset:
    from mczsl.data import emoji

    return emoji.load()


EMBEDDED = {
    "emoji": Embedded("1604 emoji by five artists, described by name and keywords", _emoji),
    "digits": Embedded("real handwritten digits, described by their strokes", _digits),
}

_KNOWN = {
    "apy": "32 classes of everyday objects",
    "awa1": "50 animals",
    "awa2": "50 animals",
    "cub": "200 species of birds",
    "sun": "717 kinds of scenes",
}


def load_dataset(
    name: str,
    *,
    features: str | None = None,
    semantics: str | None = None,
    root: Path | str | None = None,
) -> FeatureDataset:
    """The dataset of that name: embedded, generated, a path, or in the data root.

    ``root`` is where downloaded datasets are; without it the environment variable ``MCZSL_DATA``
    says so, or else the per-user place that ``mczsl data get`` fills.
    """
    found = open_dataset(name, features=features, semantics=semantics, root=root)
    return found if isinstance(found, FeatureDataset) else found.build()


def open_dataset(
    name: str,
    *,
    features: str | None = None,
    semantics: str | None = None,
    root: Path | str | None = None,
) -> FeatureDataset | DatasetParts:
    """Like :func:`load_dataset`, but faults in files are kept as problems, to be reported."""
    found: FeatureDataset | DatasetParts
    if name in EMBEDDED:
        found = EMBEDDED[name].load()
    elif not is_file_dataset(name):
        from mczsl.data import synthetic

        found = synthetic.parse_and_generate(name)
    else:
        path = find_path(name, root)
        if xlsa17.is_dataset(path):
            return xlsa17.read(path, features or xlsa17.FEATURES, semantics or xlsa17.SEMANTICS)
        found = arrays.read(path)
    for kind, asked in (("features", features), ("semantics", semantics)):
        if asked not in (None, found.provenance[kind]):
            raise unknown_name(f"{kind} of {name}", str(asked), [found.provenance[kind]])
    return found


def is_file_dataset(name: str) -> bool:
    """Whether the name stands for files, in the data root or at a path."""
    return name not in EMBEDDED and name.partition(":")[0] != "synthetic"


def available(root: Path | str | None = None) -> list[DatasetInfo]:
    """Everything that can be loaded by name; of the files only names are looked at."""
    from mczsl.data import synthetic

    return [
        *(DatasetInfo(name, "embedded", entry.description) for name, entry in EMBEDDED.items()),
        *(DatasetInfo(name, "generated", text) for name, text in synthetic.NAMES.items()),
        *(_describe(name, path) for name, path in _on_disk(data_root(root)).items()),
    ]


def data_root(root: Path | str | None = None) -> Path:
    """Where datasets are kept: ``root``, else ``MCZSL_DATA``, else a place of this user's own."""
    from mczsl.data.download import default_root

    path = Path(root) if root else default_root()
    if not path.is_dir() and (root or os.environ.get("MCZSL_DATA")):
        raise DataError(f"the data root {path} is not a folder; see --data-root and MCZSL_DATA")
    return path


def find_path(name: str, root: Path | str | None = None) -> Path:
    """Where a dataset is: a name in the data root (in any case), or a path."""
    folder = data_root(root)
    known = _on_disk(folder)
    found = same_name(name, known)
    if found is not None:
        return known[found]
    path = Path(os.path.abspath(name))
    if name and path.exists():
        inside = {} if _is_dataset(path) or path.is_file() else _on_disk(path)
        if inside:
            raise DataError(f"{name} is a folder of datasets; name one: {', '.join(inside)}")
        return path
    hint = f"Looked in {folder}; `mczsl data get` downloads the public datasets"
    raise unknown_name(
        "dataset", name, [*EMBEDDED, "synthetic:<name>", *known], hint, error=DataError
    )


def _on_disk(root: Path) -> dict[str, Path]:
    """Datasets in a data root by name, also those of an archive unpacked there."""
    found: dict[str, Path] = {}
    others = _collect(root, found)
    for folder in others:  # the public archive is xlsa17/data/...
        inner = _collect(folder, found)
        for data in inner:
            if data.name == "data":
                _collect(data, found)
    return found


def _collect(folder: Path, found: dict[str, Path]) -> list[Path]:
    """Add the datasets in a folder to those found; the folders in it that are none."""
    others: list[Path] = []
    if not os.access(folder, os.R_OK | os.X_OK):
        return others
    for path in sorted(folder.iterdir()):
        if _is_dataset(path):
            found.setdefault(path.stem if path.is_file() else path.name, path)
        elif path.is_dir():
            others.append(path)
    return others


def _is_dataset(path: Path) -> bool:
    return xlsa17.is_dataset(path) or arrays.is_dataset(path)


def _describe(name: str, path: Path) -> DatasetInfo:
    if not xlsa17.is_dataset(path):
        return DatasetInfo(name, "arrays", "arrays of your own", ("features",), ("attributes",))
    features, semantics = tuple(xlsa17.features_in(path)), tuple(xlsa17.semantics_in(path))
    description = _KNOWN.get(name.lower(), "in the xlsa17 layout")
    return DatasetInfo(name, "xlsa17", description, features, semantics)
