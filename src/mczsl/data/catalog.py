"""Every dataset by name: embedded, generated, in the data root, or at a path."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from mczsl.data import arrays, xlsa17
from mczsl.data.dataset import DatasetParts, FeatureDataset
from mczsl.data.files import reading, same_name
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


EMBEDDED = {"digits": Embedded("real handwritten digits, described by their strokes", _digits)}

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
    chosen = root or os.environ.get("MCZSL_DATA")
    if not chosen:
        return _user_folder() / "mczsl"
    path = Path(chosen)
    if not path.is_dir():
        raise DataError(f"the data root {path} is not a folder; see --data-root and MCZSL_DATA")
    return path


def find_path(name: str, root: Path | str | None = None) -> Path:
    """Where a dataset is: a name in the data root (in any case), or a path."""
    folder = data_root(root)
    known = _on_disk(folder)
    found = same_name(name, known)
    if found is not None:
        return known[found]
    path = Path(name)
    if path.exists():
        return path
    hint = f"Looked in {folder}; `mczsl data get` downloads the public datasets"
    raise unknown_name(
        "dataset", name, [*EMBEDDED, "synthetic:<name>", *known], hint, error=DataError
    )


def _on_disk(root: Path) -> dict[str, Path]:
    """Datasets in a data root by name. The public archive unpacks to ``xlsa17/data``."""
    found: dict[str, Path] = {}
    for folder in (root, root / "data", root / "xlsa17", root / "xlsa17" / "data"):
        if folder.is_dir():
            with reading(folder):
                for path in sorted(folder.iterdir()):
                    if xlsa17.is_dataset(path) or arrays.is_dataset(path):
                        found.setdefault(path.stem if path.is_file() else path.name, path)
    return found


def _describe(name: str, path: Path) -> DatasetInfo:
    if not xlsa17.is_dataset(path):
        return DatasetInfo(name, "arrays", "arrays of your own", ("features",), ("attributes",))
    features, semantics = tuple(xlsa17.features_in(path)), tuple(xlsa17.semantics_in(path))
    description = _KNOWN.get(name.lower(), "in the xlsa17 layout")
    return DatasetInfo(name, "xlsa17", description, features, semantics)


def _user_folder() -> Path:
    """The user's place for data; a temporary one for a user without a home."""
    named = os.environ.get("XDG_DATA_HOME")
    if named:
        return Path(named)
    try:
        return Path.home() / ".local" / "share"
    except RuntimeError:
        return Path(tempfile.gettempdir())
