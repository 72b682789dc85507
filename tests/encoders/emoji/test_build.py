"""The whole way from packages to the embedded file, on small packages made here."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from mczsl.data import arrays, emoji
from mczsl.encoders.backbones import Backbone, Preprocessing
from mczsl.encoders.emoji import packing
from mczsl.encoders.emoji.build import NEW_ARTISTS, Size, build, describe
from mczsl.encoders.emoji.drawings import Emoji, read_drawings, read_emoji
from mczsl.encoders.emoji.packages import Package
from mczsl.encoders.emoji.render import VIEWS, View, look, render
from mczsl.encoders.text import CallableEncoder
from mczsl.errors import ConfigError, DownloadError

pytest.importorskip("resvg_py")

FRUIT = ["red apple", "green apple", "pear", "lemon", "peach", "grapes", "fig", "cherries"]
ANIMALS = ["dog", "cat face", "horse", "cow", "pig", "sheep", "goat", "mouse"]
NAMES = [*FRUIT, *ANIMALS]
ARTISTS = {"noto": "Google", "one": "EmojiOne", "fluent": "Microsoft", "twitter": "Twitter"}
SMALL = Size(unseen=3, validation=2, width=6)


class Stripes(Backbone):
    """Mean colour of each of four bands: enough to tell the shapes below apart."""

    name = "stripes"
    weights_sha256 = "1" * 64
    preprocessing = Preprocessing("unit", size=32)

    def __init__(self) -> None:
        self.calls = 0

    def features(self, inputs: NDArray[np.float32]) -> NDArray[np.float32]:
        self.calls += len(inputs)
        return inputs.reshape(len(inputs), 3, 4, -1).mean(axis=3).reshape(len(inputs), -1)


def letters(texts: list[str]) -> NDArray[np.float32]:
    counts = [[text.count(letter) for letter in "abcdefghilmnoprstuvwy"] for text in texts]
    return np.array(counts, dtype=np.float32)


def shape(number: int, artist: int) -> str:
    """A bar whose place and colour say the emoji, and whose width says the artist."""
    colour = f"#{(number * 9973 + 4000) % 0x1000:03x}"
    return f'<rect x="1" y="{number % 8 * 2}" width="{6 + artist}" height="5" fill="{colour}"/>'


def character(number: int) -> str:
    return chr(0x1F400 + number)


def write_package(folder: Path, name: str, files: dict[str, object], artist: str = "") -> Package:
    """A package as ``npm pack`` would leave it in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}-1.0.0.tgz"
    with tarfile.open(path, "w:gz") as archive:
        for member, content in files.items():
            data = (content if isinstance(content, str) else json.dumps(content)).encode()
            entry = tarfile.TarInfo(f"package/{member}")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return Package(name, "1.0.0", hashlib.sha256(path.read_bytes()).hexdigest(), artist)


def write_set(
    folder: Path,
    name: str,
    icons: dict[str, str],
    characters: dict[str, str] | None = None,
    aliases: dict[str, object] | None = None,
    artist: str = "someone",
) -> Package:
    info = {
        "name": f"Set {name}",
        "author": {"name": artist, "url": "https://example.org"},
        "license": {"title": "MIT", "spdx": "MIT", "url": "https://example.org/licence"},
    }
    content = {
        "icons": {key: {"body": body} for key, body in icons.items()},
        "aliases": aliases or {},
        "width": 16,
        "height": 16,
    }
    files = {"icons.json": content, "chars.json": characters or {}, "info.json": info}
    return write_package(folder, name, files, artist)


def write_names(folder: Path, entries: list[dict[str, object]]) -> Package:
    about = {"author": "the names' author", "license": "MIT"}
    files = {"en/data.json": entries, "package.json": about, "LICENSE": "Permission is granted."}
    return write_package(folder, "names", files)


def entry(number: int, name: str, group: int) -> dict[str, object]:
    return {"label": name, "emoji": character(number), "tags": [name, "thing"], "group": group}


Sources = tuple[Package, list[Package]]


def write_sources(folder: Path) -> Sources:
    """16 emoji by four artists, and some that must be dropped."""
    entries = [entry(number, name, 4 if name in FRUIT else 3) for number, name in enumerate(NAMES)]
    entries += [entry(20, "dark skin tone", 2)]
    entries += [entry(0x15, "rare thing", 7)]  # DOG to Unicode, but the icon "dog" is the dog's
    entries += [{"label": "regional indicator A", "emoji": "A"}]  # has no group
    entries += [entry(22, "man running", 1), entry(23, "person running", 1)]
    sets = []
    for place, (name, artist) in enumerate(ARTISTS.items()):
        icons = {each.replace(" ", "-"): shape(number, place) for number, each in enumerate(NAMES)}
        icons["dark-skin-tone"] = shape(20, place)
        if artist == "Google":
            icons["rare-thing"] = shape(21, place)
        icons["man-running"] = icons["person-running"] = shape(22, place)
        sets.append(write_set(folder, name, icons, artist=artist))
    return write_names(folder, entries), sets


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished build."""
    out = tmp_path_factory.mktemp("built")
    run(out, write_sources(out / "packages"))
    return out


def run(out: Path, sources: Sources, **options: object) -> Path:
    names, sets = sources
    encoder = CallableEncoder(letters, "letters")
    settings = {"backbone": Stripes(), "encoder": encoder, "size": SMALL} | options
    return build(out, names=names, icon_sets=sets, **settings)  # type: ignore[arg-type]


def test_the_built_file_is_a_dataset_with_the_promised_splits(built: Path) -> None:
    with np.load(built / "emoji.npz", allow_pickle=False) as stored:
        parts = dict(stored)
    dataset = emoji.read(parts)
    sets = parts["set_names"][parts["sets"]]
    by_new_artist = np.array([ARTISTS[each] in NEW_ARTISTS for each in sets])
    splits = dataset.splits
    assert sorted(dataset.class_names) == sorted(NAMES)
    assert dataset.features.shape == (64, 6)
    assert not by_new_artist[splits.trainval].any()
    assert by_new_artist[splits.test_seen].all()
    assert len(dataset.unseen_classes) == 3
    assert len(splits.trainval) == 13 * 3
    assert len(splits.test_seen) == 13
    assert len(splits.test_unseen) == 3 * 4
    chosen = [*dataset.unseen_classes.tolist(), *sum(splits.validation_classes, ())]
    assert len(set(chosen)) == len(chosen) == 3 + 3 * 2
    assert dataset.provenance["text_encoder"] == "letters"


def test_the_full_file_has_the_same_rows_unreduced(built: Path) -> None:
    with np.load(built / "emoji.npz", allow_pickle=False) as stored:
        embedded = emoji.read(dict(stored))
    full = arrays.load(built / "emoji-full.npz")
    assert full.class_names == embedded.class_names
    np.testing.assert_array_equal(full.labels, embedded.labels)
    for name, rows in full.splits.sets().items():
        np.testing.assert_array_equal(rows, embedded.splits.sets()[name])
    assert full.splits.validation_classes == embedded.splits.validation_classes
    np.testing.assert_allclose(full.attributes, embedded.attributes, atol=0.3)
    reduced = packing.fit_reduction(full.features[full.splits.trainval], 6).apply(full.features)
    np.testing.assert_allclose(reduced, embedded.features, atol=0.1 * reduced.std())


def test_what_is_dropped_is_counted_by_reason(built: Path) -> None:
    counts = json.loads((built / "emoji.json").read_text())
    assert counts["classes"] == 16
    assert counts["drawings"] == {"noto": 16, "one": 16, "fluent": 16, "twitter": 16}
    assert counts["dropped drawings"] == {
        "a part, such as a skin tone": 4,
        "drawn by too few artists": 1,
        "the set draws another emoji just so": 8,
    }


def test_the_same_bytes_also_when_interrupted(tmp_path: Path, built: Path) -> None:
    def interrupt(what: str, done: int, total: int) -> None:
        if what == "features" and done == 30:
            raise KeyboardInterrupt

    sources = write_sources(tmp_path / "packages")
    stopped, resumed = Stripes(), Stripes()
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, sources, backbone=stopped, progress=interrupt)
    path = run(tmp_path, sources, backbone=resumed)
    assert path.read_bytes() == (built / "emoji.npz").read_bytes()
    assert (stopped.calls, resumed.calls) == (30 * len(VIEWS), 34 * len(VIEWS))


def test_the_reduction_never_looks_at_test_drawings() -> None:
    generator = np.random.default_rng(0)
    train, test = generator.random((50, 12)), generator.random((20, 12))
    fitted = packing.fit_reduction(train, 5)
    assert fitted.apply(test).shape == (20, 5)
    np.testing.assert_allclose(fitted.apply(train).mean(axis=0), 0, atol=1e-5)
    covariance = np.cov(fitted.apply(train).T)
    np.testing.assert_allclose(covariance, np.diag(np.diag(covariance)), atol=1e-6)


def test_the_licences_are_those_the_packages_state(built: Path) -> None:
    text = (built / "emoji.txt").read_text()
    for name, artist in ARTISTS.items():
        assert f"Set {name}: drawn by {artist}" in text
    assert "the names' author" in text
    assert "Permission is granted." in text


def test_a_description_is_the_name_and_the_keywords_once() -> None:
    apple = Emoji("Red apple", ("fruit", "red apple", "tree"), "🍎", 4)
    assert describe(apple) == "Red apple, fruit, tree"


def test_icons_are_found_by_character_by_name_and_by_unicode_name(tmp_path: Path) -> None:
    pony, hound = character(0x0E), character(0x15)  # to Unicode they are HORSE and DOG
    names = write_names(tmp_path, [entry(0x0E, "Pony!", 3), entry(0x15, "hound", 3)])
    codes = {f"{ord(pony):x}": "x", f"{ord(hound):x}-fe0f": "y"}
    alias = {"ho-und": {"parent": "hund"}}
    sets = [
        write_set(tmp_path, "coded", {"x": "1", "y": "2"}, codes),
        write_set(tmp_path, "named", {"pony": "3", "hund": "4"}, aliases=alias),
        write_set(tmp_path, "unicode", {"horse": "5", "cat": "no"}),
        write_set(tmp_path, "as-in-the-first", {"Y": "6"}),
    ]
    found = read_drawings(read_emoji(names, tmp_path), sets, tmp_path)
    bodies = [(each.icon_set, each.emoji.name, each.svg.split(">")[1][0]) for each in found]
    assert bodies == [
        ("coded", "Pony!", "1"),
        ("coded", "hound", "2"),
        ("named", "Pony!", "3"),
        ("named", "hound", "4"),
        ("unicode", "Pony!", "5"),
        ("as-in-the-first", "hound", "6"),
    ]


def test_an_alias_may_be_a_mirror_image(tmp_path: Path) -> None:
    names = write_names(tmp_path, [entry(0, "left", 3), entry(1, "right", 3)])
    half = '<rect width="8" height="16" fill="red"/>'
    mirror = {"right": {"parent": "left", "hFlip": True}}
    sets = [write_set(tmp_path, "set", {"left": half}, aliases=mirror)]
    left, right = (
        np.asarray(render(each.svg, 16))
        for each in read_drawings(read_emoji(names, tmp_path), sets, tmp_path)
    )
    assert left[8, 2, 3] == right[8, 13, 3] == 255
    np.testing.assert_array_equal(left[:, ::-1], right)


@pytest.mark.parametrize(("width", "height"), [(10, 20), (20, 10), (16, 16)])
def test_drawings_that_are_not_square_are_centred(width: int, height: int) -> None:
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}"><rect width="{width}" height="{height}" fill="blue"/></svg>'
    )
    opaque = np.asarray(render(svg, 64))[:, :, 3] == 255
    side = max(width, height)
    assert opaque.any(axis=0).sum() == 64 * width // side
    assert opaque.any(axis=1).sum() == 64 * height // side
    np.testing.assert_array_equal(opaque, opaque[::-1, ::-1])


def test_a_view_fills_its_share_of_the_ground() -> None:
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8" width="8" height="8">'
        '<rect width="8" height="8" fill="#f00"/></svg>'
    )
    picture = look(render(svg, 64), View(size=0.5, ground="grey"), 32)
    assert (picture == (255, 0, 0)).all(axis=2).sum() == 16 * 16
    assert tuple(picture[0, 0]) == (128, 128, 128)
    turned = look(render(svg, 64), View(size=1.0, degrees=45), 32)
    assert tuple(turned[0, 0]) == (255, 255, 255)


def test_a_package_that_is_not_the_published_one_is_refused(built: Path) -> None:
    with pytest.raises(DownloadError, match="not what was published"):
        Package("noto", "1.0.0", "0" * 64).fetch(built / "packages")


def test_without_npm_or_network_the_error_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = Package("@icons/none", "1.0.0", "0" * 64)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DownloadError, match="npm is needed"):
        package.fetch(tmp_path / "packages")
    (tmp_path / "npm").write_text("#!/bin/sh\necho 'ENETUNREACH' >&2\nexit 1\n")
    (tmp_path / "npm").chmod(0o755)
    with pytest.raises(DownloadError, match=r"could not fetch @icons/none: ENETUNREACH"):
        package.fetch(tmp_path / "packages")


def test_without_the_renderer_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(ConfigError, match=r"mczsl\[emoji-build\]"):
        render("<svg/>")
