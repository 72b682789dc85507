"""Emoji as drawn by five artists, embedded: recognise one from its description alone.

Every class is an emoji, described by its published name and keywords (as a sentence encoder's 384
numbers). Features are those of a network trained on photographs, reduced to 384 numbers. Three
artists (five sets of drawings) are for training; ``test_seen`` are drawings of the same emoji by
two artists that were never trained on, ``test_unseen`` all drawings of 200 emoji that were never
trained on. A person can look at every answer: :func:`thumbnails`.

Authors and licences of the drawings are in ``embedded/emoji.txt``.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mczsl.data.dataset import FeatureDataset, Splits
from mczsl.data.files import reading
from mczsl.data.splits import SETS

COLUMNS = 64  # thumbnails in a row of the picture that holds them all


@dataclass(frozen=True)
class Reduction:
    """From a network's features to the few numbers that the dataset keeps."""

    mean: NDArray[np.float32]
    offset: NDArray[np.float32]
    axes: NDArray[np.float32]

    def apply(self, features: NDArray[np.floating]) -> NDArray[np.float32]:
        """Reduce features (n, D) of any pictures, so that they can be compared with the dataset."""
        centred = np.sqrt(features) - self.mean
        units = centred / np.linalg.norm(centred, axis=1, keepdims=True)
        reduced: NDArray[np.float32] = (units @ self.axes - self.offset).astype(np.float32)
        return reduced


def load() -> FeatureDataset:
    """The emoji with their descriptions, always the same."""
    return read(_embedded())


def read(parts: Mapping[str, NDArray[Any]]) -> FeatureDataset:
    """The dataset in the arrays of an embedded file."""
    sets = {name: parts[name].astype(np.int64) for name in SETS}
    validation = tuple(tuple(each) for each in parts["validation_classes"].tolist())
    return FeatureDataset(
        name="emoji",
        features=parts["features"] * parts["feature_step"],
        labels=parts["labels"].astype(np.int64),
        class_names=tuple(parts["class_names"].tolist()),
        attributes=parts["attributes"] * parts["attribute_step"],
        splits=Splits(**sets, validation_classes=validation),
        provenance=dict(parts["provenance"].tolist()),
    )


def descriptions() -> tuple[str, ...]:
    """The text that describes each class."""
    return tuple(_embedded()["texts"].tolist())


def characters() -> tuple[str, ...]:
    """Each class as a character, for terminals and pages that can show it."""
    return tuple(_embedded()["characters"].tolist())


def drawn_by() -> tuple[str, ...]:
    """The set that each row's drawing is from."""
    parts = _embedded()
    return tuple(parts["set_names"][parts["sets"]].tolist())


def thumbnails() -> NDArray[np.uint8]:
    """A small picture of each row's drawing, (N, 32, 32, 3)."""
    from PIL import Image

    parts = _embedded()
    with Image.open(io.BytesIO(parts["thumbnails"].tobytes())) as opened:
        atlas = np.asarray(opened.convert("RGB"))
    side = atlas.shape[1] // COLUMNS
    grid = atlas.reshape(-1, side, COLUMNS, side, 3).transpose(0, 2, 1, 3, 4)
    return grid.reshape(-1, side, side, 3)[: len(parts["labels"])]


def reduction() -> Reduction:
    """What turns features of ``efficientnet_lite0`` into features of this dataset."""
    parts = _embedded()
    return Reduction(parts["mean"], parts["offset"], parts["axes"] * parts["axis_step"])


def attribution() -> str:
    """Who drew the emoji, who named them, and on which terms."""
    return (_folder() / "emoji.txt").read_text(encoding="utf-8")


@cache
def _embedded() -> dict[str, NDArray[Any]]:
    path = _folder() / "emoji.npz"
    with reading(path, "install the package again"), np.load(path, allow_pickle=False) as stored:
        return dict(stored)


def _folder() -> Path:
    return Path(str(resources.files("mczsl.data"))) / "embedded"
