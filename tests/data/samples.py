"""A small sound dataset for tests to spoil: 6 classes of 5 images, the last two unseen."""

from pathlib import Path

import numpy as np
import scipy.io

CLASSES, IMAGES, WIDTH, ATTRIBUTES = 6, 5, 4, 3
UNSEEN = (4, 5)
# Not in alphabetical order, as in the field's datasets.
NAMES = ("zebra", "ant", "grizzly+bear", "owl", "bat", "cow")


def labels() -> np.ndarray:
    return np.repeat(np.arange(CLASSES), IMAGES)


def features() -> np.ndarray:
    """Row r is class + noise; no two rows alike, none zero."""
    noise = np.random.default_rng(0).random((CLASSES * IMAGES, WIDTH))
    return (labels()[:, None] + 0.1 + noise).astype(np.float32)


def attributes() -> np.ndarray:
    return np.random.default_rng(1).random((CLASSES, ATTRIBUTES)).astype(np.float32)


def sets() -> dict[str, np.ndarray]:
    """The first image of each seen class is held back."""
    rows = np.arange(CLASSES * IMAGES)
    unseen, first = np.isin(labels(), UNSEEN), rows % IMAGES == 0
    return {
        "trainval": rows[~unseen & ~first],
        "test_seen": rows[~unseen & first],
        "test_unseen": rows[unseen],
    }


def cells(names) -> np.ndarray:
    """Names as MATLAB's cells: an array of arrays of one text."""
    column = np.empty((len(names), 1), dtype=object)
    column[:, 0] = [np.array([name]) for name in names]
    return column


def write_xlsa17(root: Path, features_file=None, splits_file=None, drop=(), name="ZOO") -> Path:
    """A folder in the xlsa17 layout; the two dictionaries replace variables, ``drop`` removes."""
    folder = root / name
    folder.mkdir(parents=True, exist_ok=True)
    first = {"features": features().T, "labels": labels()[:, None] + 1} | (features_file or {})
    second = {"att": attributes().T, "allclasses_names": cells(NAMES)}
    second |= {f"{key}_loc": rows[:, None] + 1 for key, rows in sets().items()}
    second |= splits_file or {}
    for file, content in (("res101", first), ("att_splits", second)):
        kept = {key: value for key, value in content.items() if key not in drop}
        scipy.io.savemat(folder / f"{file}.mat", kept)
    return folder


def write_npz(path: Path, drop=(), **changes) -> Path:
    """An ``.npz`` with everything that one may hold."""
    content = {
        "features": features(),
        "labels": labels(),
        "attributes": attributes(),
        "class_names": np.array(NAMES),
        **sets(),
    }
    content |= changes
    np.savez(path, **{key: value for key, value in content.items() if key not in drop})
    return path
