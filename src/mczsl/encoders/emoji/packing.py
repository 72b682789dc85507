"""The dataset in few bytes: reduced features, descriptions, thumbnails, and who drew it all.

The square roots of the features are centred, scaled to length 1 and turned to their principal axes,
of which the first few are kept. Each axis is divided by the square root of its deviation, halfway
to equal weight. Root and weights help to recognise a new artist's drawings. All of this is fitted
to the training drawings alone. What is left is rounded to few bits.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from mczsl.data.dataset import FeatureDataset
from mczsl.data.emoji import COLUMNS, Reduction
from mczsl.encoders.emoji.packages import Package

_WEBP = {"quality": 65, "method": 6}


def pack(
    dataset: FeatureDataset,
    texts: Sequence[str],
    characters: Sequence[str],
    sets: Sequence[str],
    thumbnails: NDArray[np.uint8],
    width: int,
) -> bytes:
    """The contents of the embedded file; :mod:`mczsl.data.emoji` reads it."""
    splits = dataset.splits
    reduction = fit_reduction(np.asarray(dataset.features[splits.trainval]), width)
    features, feature_step = _small_numbers(reduction.apply(dataset.features), splits.trainval, 8)
    attributes, attribute_step = _small_numbers(dataset.attributes, dataset.seen_classes, 8)
    axes, axis_step = _small_numbers(reduction.axes, np.arange(len(reduction.axes)), 32)
    set_names = sorted(set(sets))
    arrays: dict[str, NDArray[Any]] = {
        "features": features,
        "feature_step": feature_step,
        "attributes": attributes,
        "attribute_step": attribute_step,
        "labels": dataset.labels.astype(np.uint16),
        "class_names": np.array(dataset.class_names),
        "characters": np.array(characters),
        "texts": np.array(texts),
        "set_names": np.array(set_names),
        "sets": np.array([set_names.index(each) for each in sets], dtype=np.uint8),
        **{name: rows.astype(np.uint16) for name, rows in splits.sets().items()},
        "validation_classes": np.array(splits.validation_classes, dtype=np.uint16),
        "provenance": np.array(sorted(dataset.provenance.items())),
        "thumbnails": np.frombuffer(_atlas(thumbnails), dtype=np.uint8),
        "mean": reduction.mean,
        "offset": reduction.offset,
        "axes": axes,
        "axis_step": axis_step,
    }
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def fit_reduction(features: NDArray[np.floating], width: int) -> Reduction:
    """The principal axes of unit vectors, weighted; their signs are fixed by the largest entry."""
    roots = np.sqrt(features)
    mean = roots.mean(axis=0)
    centred = roots - mean
    units = centred / np.linalg.norm(centred, axis=1, keepdims=True)
    offset = units.mean(axis=0)
    spread, axes = np.linalg.eigh(np.cov(units.T.astype(np.float64)))
    axes, deviation = axes[:, ::-1][:, :width], np.sqrt(spread[::-1][:width])
    largest = axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])]
    weighted = axes * np.sign(largest) / np.sqrt(deviation)
    return Reduction(
        mean.astype(np.float32),
        (offset @ weighted).astype(np.float32),
        weighted.astype(np.float32),
    )


def attribution(names: Package, icon_sets: Sequence[Package], folder: Path) -> str:
    """Who made the parts and on which terms, as their packages say."""
    entries = []
    for package in icon_sets:
        info = package.read_json(folder, "info.json")
        author, licence = info["author"], info["license"]
        entries.append(
            f"{info['name']}: drawn by {author['name']} ({author['url']}).\n"
            f"  Licence: {licence['title']} ({licence['spdx']}, {licence['url']}).\n"
            f"  From the npm package {package.name} {package.version}."
        )
    about = names.read_json(folder, "package.json")
    entries.append(
        f"Names and keywords: {names.name} {names.version} by {about['author']}, from Unicode's "
        f"Common Locale Data Repository.\n  Licence: {about['license']} (text below); "
        "Unicode data: Unicode-3.0 (text in unicode-licence.txt)."
    )
    return _NOTICE.format(entries="\n\n".join(entries), text=names.read_text(folder, "LICENSE"))


_NOTICE = """\
The dataset "emoji": authors and licences
=========================================

emoji.npz holds thumbnails of these drawings, numbers computed from them, and the names and keywords
of the emoji. The drawings were changed: rendered at 32 x 32 pixels on white and compressed.

{entries}

Apache 2.0: the text is in the file LICENSE of this package.
CC BY 4.0: https://creativecommons.org/licenses/by/4.0/legalcode
Mozilla's own repository gives the design of its emoji under CC BY 4.0, its code under Apache 2.0.
MIT, for the fluent emoji "Copyright (c) Microsoft Corporation", for the names and keywords:

{text}"""


def _small_numbers(
    values: NDArray[np.floating], rows: NDArray[np.int64], steps: int
) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Whole numbers, and the size of a step in each column: its deviation in ``rows`` / ``steps``.

    Eight steps add 0.1 % of noise to the variance, and such numbers compress to five bits.
    """
    step = (values[rows].std(axis=0) / steps).astype(np.float32)
    step[step == 0] = 1
    return np.rint(values / step).clip(-127, 127).astype(np.int8), step


def _atlas(thumbnails: NDArray[np.uint8]) -> bytes:
    """All thumbnails in one picture, row by row."""
    count, side = thumbnails.shape[:2]
    missing = -count % COLUMNS
    padded = np.pad(thumbnails, ((0, missing), (0, 0), (0, 0), (0, 0)))
    grid = padded.reshape(-1, COLUMNS, side, side, 3).transpose(0, 2, 1, 3, 4)
    buffer = io.BytesIO()
    Image.fromarray(grid.reshape(-1, COLUMNS * side, 3)).save(buffer, "WEBP", **_WEBP)
    return buffer.getvalue()
