"""From npm packages to the embedded dataset, always the same.

A drawing's feature is the mean of the backbone's features over a few views. Features are kept as
they are computed, so an interrupted build goes on where it stopped.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mczsl.data.dataset import FeatureDataset, Splits
from mczsl.encoders.backbones import Backbone, load_backbone
from mczsl.encoders.cache import FeatureCache, npz_bytes
from mczsl.encoders.emoji.drawings import Drawing, Emoji, read_drawings, read_emoji
from mczsl.encoders.emoji.packages import ICON_SETS, NAMES, Package
from mczsl.encoders.emoji.packing import attribution, pack
from mczsl.encoders.emoji.render import VIEWS, look, render, thumbnail
from mczsl.encoders.text import TextEncoder, load_encoder
from mczsl.seeding import numpy_generator
from mczsl.storage import write_atomically

NEW_ARTISTS = frozenset({"Twitter", "Mozilla"})  # never trained on; they draw the most alike
THUMBNAIL = 32
_PARTS = 2  # the group of skin tones and hair, which are no emoji by themselves

Progress = Callable[[str, int, int], None]  # what is being done, how many are done, of how many


@dataclass(frozen=True)
class Size:
    """How much of everything; smaller only for trying things out."""

    unseen: int = 200
    validation: int = 200
    width: int = 384


FULL_SIZE = Size()


@dataclass(frozen=True)
class Selection:
    """The drawings that are used, and how many were dropped for which reason."""

    drawings: list[Drawing]
    thumbnails: NDArray[np.uint8]
    classes: list[Emoji]
    dropped: Counter[str]

    @property
    def labels(self) -> NDArray[np.int64]:
        """The class number of each drawing."""
        number = {emoji: place for place, emoji in enumerate(self.classes)}
        return np.array([number[drawing.emoji] for drawing in self.drawings])


def build(
    out: Path,
    progress: Progress | None = None,
    *,
    names: Package = NAMES,
    icon_sets: Sequence[Package] = ICON_SETS,
    backbone: Backbone | None = None,
    encoder: TextEncoder | None = None,
    size: Size = FULL_SIZE,
) -> Path:
    """Build the dataset in the folder ``out``; the file to embed is ``out/emoji.npz``.

    Beside it: ``emoji-full.npz`` with features that are not reduced (any command reads it),
    ``emoji.txt`` with authors and licences, ``emoji.json`` with the counts.
    """
    show = progress or (lambda what, done, total: None)
    packages, backbone, encoder = (
        out / "packages",
        backbone or load_backbone(),
        encoder or load_encoder(),
    )
    for number, package in enumerate((names, *icon_sets)):
        package.fetch(packages)
        show("packages", number + 1, 1 + len(icon_sets))
    drawings = read_drawings(read_emoji(names, packages), icon_sets, packages)
    selected = select(drawings, show)
    features = encode(selected.drawings, backbone, out / "cache", show)
    texts = [describe(emoji) for emoji in selected.classes]
    dataset = FeatureDataset(
        name="emoji",
        features=features,
        labels=selected.labels,
        class_names=tuple(emoji.name for emoji in selected.classes),
        attributes=encoder.encode(texts),
        splits=split(selected, size),
        provenance={
            "features": backbone.name,
            "semantics": "descriptions",
            "source": "emoji by five artists",
            "tasks": "10",
            "backbone": backbone.identity,
            "text_encoder": encoder.identity,
        },
    )
    _write(out, dataset, texts, selected, size)
    licences = attribution(names, icon_sets, packages)
    write_atomically(out / "emoji.txt", licences.encode())
    return out / "emoji.npz"


def describe(emoji: Emoji) -> str:
    """The published name and keywords; better on validation classes than either alone."""
    name = emoji.name.lower()
    return ", ".join([emoji.name, *(word for word in emoji.keywords if word.lower() != name)])


def select(drawings: Sequence[Drawing], show: Progress) -> Selection:
    """Drawings of emoji that at least two trained artists and one new artist have drawn.

    Where a set draws two emoji alike ("person running", "man running"), neither can be told from
    the other, so both drawings are dropped. Flags of countries fall out: most sets lack them.
    """
    dropped: Counter[str] = Counter()
    whole = [each for each in drawings if each.emoji.group != _PARTS]
    dropped["a part, such as a skin tone"] = len(drawings) - len(whole)
    wanted = _by_enough_artists(whole)
    dropped["drawn by too few artists"] = len(whole) - len(wanted)
    pictures: dict[Drawing, NDArray[np.uint8]] = {}
    for each in wanted:
        pictures[each] = thumbnail(each.svg, THUMBNAIL)
        show("drawings", len(pictures), len(wanted))
    looks = {each: (each.icon_set, picture.tobytes()) for each, picture in pictures.items()}
    count = Counter(looks.values())
    distinct = [each for each in wanted if count[looks[each]] == 1]
    dropped["the set draws another emoji just so"] = len(wanted) - len(distinct)
    kept = _by_enough_artists(distinct)
    dropped["drawn by too few artists"] += len(distinct) - len(kept)
    classes = sorted({each.emoji for each in kept}, key=lambda emoji: emoji.name)
    numpy_generator(0, "emoji", "class order").shuffle(classes)  # so that tasks are of mixed kinds
    return Selection(kept, np.stack([pictures[each] for each in kept]), classes, dropped)


def encode(
    drawings: Sequence[Drawing], backbone: Backbone, cache: Path, show: Progress
) -> NDArray[np.float32]:
    """The mean feature over the views of each drawing."""
    identity = json.dumps([backbone.identity, VIEWS])
    keys = [hashlib.sha256(each.svg.encode()).hexdigest() for each in drawings]
    with FeatureCache(cache, identity) as known:
        for number, (key, each) in enumerate(zip(keys, drawings, strict=True)):
            if key not in known:
                picture, pixels = render(each.svg), backbone.preprocessing.size
                views = [backbone.encode(look(picture, view, pixels)[np.newaxis]) for view in VIEWS]
                known[key] = np.concatenate(views).mean(axis=0)
            show("features", number + 1, len(drawings))
        return np.stack([known[key] for key in keys])


def split(selected: Selection, size: Size) -> Splits:
    """Unseen and validation classes of every kind; what new artists drew is for testing."""
    labels = selected.labels
    new = np.array([each.artist in NEW_ARTISTS for each in selected.drawings])
    rest = np.arange(len(selected.classes))
    chosen: list[NDArray[np.int64]] = []
    for purpose, count in (
        ("unseen", size.unseen),
        *((f"validation {number}", size.validation) for number in (1, 2, 3)),
    ):
        chosen.append(_of_every_kind(rest, count, selected.classes, purpose))
        rest = np.setdiff1d(rest, chosen[-1])
    unseen = np.isin(labels, chosen[0])
    return Splits(
        trainval=np.flatnonzero(~unseen & ~new),
        test_seen=np.flatnonzero(~unseen & new),
        test_unseen=np.flatnonzero(unseen),
        validation_classes=tuple(tuple(each.tolist()) for each in chosen[1:]),
    )


def _of_every_kind(
    pool: NDArray[np.int64], count: int, classes: Sequence[Emoji], purpose: str
) -> NDArray[np.int64]:
    """Classes at equal distances in an order that is random within each kind."""
    generator = numpy_generator(0, "emoji", purpose)
    mixed = generator.permutation(pool)
    by_kind = mixed[np.argsort([classes[number].group for number in mixed], kind="stable")]
    places = (np.arange(count) + generator.random()) * len(pool) / count
    return np.sort(by_kind[places.astype(np.int64)])


def _by_enough_artists(drawings: Sequence[Drawing]) -> list[Drawing]:
    artists: dict[Emoji, set[str]] = defaultdict(set)
    for each in drawings:
        artists[each.emoji].add(each.artist)
    return [
        each
        for each in drawings
        if len(artists[each.emoji] - NEW_ARTISTS) >= 2 and artists[each.emoji] & NEW_ARTISTS
    ]


def _write(
    out: Path,
    dataset: FeatureDataset,
    texts: Sequence[str],
    selected: Selection,
    size: Size,
) -> None:
    names, splits = np.array(dataset.class_names), dataset.splits
    validation = [names[list(each)] for each in splits.validation_classes]
    full = npz_bytes(
        features=dataset.features,
        labels=names[dataset.labels],
        attributes=dataset.attributes,
        class_names=names,
        **splits.sets(),
        validation_classes=validation[0],
        validation_classes_2=validation[1],
        validation_classes_3=validation[2],
    )
    write_atomically(out / "emoji-full.npz", full)
    characters = [emoji.character for emoji in selected.classes]
    sets = [each.icon_set for each in selected.drawings]
    embedded = pack(dataset, texts, characters, sets, selected.thumbnails, size.width)
    write_atomically(out / "emoji.npz", embedded)
    counts = {
        "classes": dataset.n_classes,
        "drawings": Counter(sets),
        "rows": {name: len(rows) for name, rows in splits.sets().items()},
        "dropped drawings": selected.dropped,
    }
    write_atomically(out / "emoji.json", (json.dumps(counts, indent=1) + "\n").encode())
