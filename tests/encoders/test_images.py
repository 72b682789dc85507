"""Folders and tables of pictures: what is used, what is reported, what is computed only once."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from PIL import Image

from mczsl.data import arrays
from mczsl.encoders.backbones import Backbone, Preprocessing
from mczsl.encoders.images import as_pictures, encode_images, find_pictures
from mczsl.errors import ConfigError, DataError

COLOURS = {"apple": (255, 0, 0), "leaf": (0, 255, 0), "sea": (0, 0, 255)}


class MeanColour(Backbone):
    """A real, if simple, backbone: the mean of each colour and one, counting its own calls."""

    name = "mean-colour"
    weights_sha256 = "0" * 64
    preprocessing = Preprocessing("unit", size=8)

    def __init__(self) -> None:
        self.calls = 0

    def features(self, inputs: NDArray[np.float32]) -> NDArray[np.float32]:
        self.calls += len(inputs)
        return np.column_stack([inputs.mean(axis=(2, 3)), np.ones(len(inputs), np.float32)])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three classes with two pictures each."""
    root = tmp_path / "pictures"
    for name, colour in COLOURS.items():
        (root / name).mkdir(parents=True)
        for number in range(2):
            shade = tuple(max(0, part - 20 * number) for part in colour)
            Image.new("RGB", (30, 20), shade).save(root / name / f"{number}.png")
    return root


def test_a_folder_of_class_folders_becomes_features(folder: Path) -> None:
    encoded = encode_images(folder, MeanColour())
    assert encoded.pictures.class_names == ("apple", "leaf", "sea")
    assert encoded.pictures.labels == ("apple", "apple", "leaf", "leaf", "sea", "sea")
    assert encoded.pictures.problems == ()
    assert encoded.features.dtype == np.float32
    expected = [[1, 0, 0, 1], [235 / 255, 0, 0, 1], [0, 1, 0, 1]]
    np.testing.assert_allclose(encoded.features[:3], expected, atol=1e-6)


def test_what_is_saved_is_what_the_arrays_reader_reads(folder: Path, tmp_path: Path) -> None:
    (folder / "nothing").mkdir()
    target = tmp_path / "out" / "features.npz"
    encoded = encode_images(folder, MeanColour())
    encoded.save(target)
    with np.load(target, allow_pickle=False) as stored:
        contents = dict(stored)
    attributes = np.eye(4, dtype=np.float32)
    np.savez(tmp_path / "dataset.npz", attributes=attributes, **contents)
    assert contents["files"].tolist()[0] == "apple/0.png"
    assert not any(
        "files" in each.message for each in arrays.read(tmp_path / "dataset.npz").problems
    )
    dataset = arrays.load(tmp_path / "dataset.npz")
    assert dataset.class_names == ("apple", "leaf", "nothing", "sea")
    assert [dataset.class_names[label] for label in dataset.labels] == list(encoded.pictures.labels)
    np.testing.assert_array_equal(dataset.features, encoded.features)
    record = json.loads(target.with_suffix(".json").read_text())
    assert record["weights_sha256"] == "0" * 64
    assert record["preprocessing"] == {"scaling": "unit", "size": 8, "crop": 0.875}
    assert len(record["files"]) == 6
    assert record["problems"] == [f"{folder / 'nothing'}: the class has no pictures"]
    assert sorted(path.name for path in target.parent.iterdir()) == [
        "features.json",
        "features.npz",
    ]


def test_only_npz_is_written(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"\.npz"):
        encode_images(folder, MeanColour()).save(tmp_path / "features.csv")


def test_a_json_of_something_else_is_not_overwritten(folder: Path, tmp_path: Path) -> None:
    encoded = encode_images(folder, MeanColour())
    encoded.save(tmp_path / "mine.npz")
    encoded.save(tmp_path / "mine.npz")  # over its own is fine
    (tmp_path / "notes.json").write_text("{}")
    with pytest.raises(ConfigError, match=r"notes\.json: belongs to something else.*another name"):
        encoded.save(tmp_path / "notes.npz")
    assert (tmp_path / "notes.json").read_text() == "{}"


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_table_of_paths_gives_the_same(folder: Path, delimiter: str) -> None:
    rows = [("path", "label")]
    rows += [
        (f"{path.parent.name}/{path.name}", path.parent.name) for path in folder.rglob("*.png")
    ]
    table = folder / "table.csv"
    table.write_text("\n".join(delimiter.join(row) for row in rows), encoding="utf-8-sig")
    from_table, from_folder = (
        encode_images(table, MeanColour()),
        encode_images(folder, MeanColour()),
    )
    order = np.argsort([str(path) for path in from_table.pictures.paths])
    np.testing.assert_array_equal(from_table.features[order], from_folder.features)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("file,class\na.png,x\n", "'path' and 'label'"),
        ("path,label\n", "a row for each picture"),
        ("path,label\na.png,\n", "row 0 has no label"),
        ("path,label\na.png,x\n ,y\n", "row 1 has no path"),
    ],
)
def test_a_table_that_cannot_be_used_says_why(tmp_path: Path, text: str, message: str) -> None:
    table = tmp_path / "table.csv"
    table.write_text(text)
    with pytest.raises(DataError, match=message):
        find_pictures(table)


def test_sources_that_are_not_there_or_have_no_pictures(tmp_path: Path) -> None:
    for name in ("nowhere", "nowhere.png"):
        with pytest.raises(DataError, match="no such file"):
            find_pictures(tmp_path / name)
    with pytest.raises(DataError, match="neither pictures nor class folders"):
        find_pictures(tmp_path)


def test_pictures_side_by_side_and_a_single_one_have_no_labels(
    folder: Path, tmp_path: Path
) -> None:
    flat = folder / "apple"
    (flat / "broken.png").touch()
    (flat / "notes.txt").write_text("no picture")
    encoded = encode_images(flat, MeanColour(), cache=flat / "out.cache")
    assert encoded.pictures.labels == encoded.pictures.class_names == ()
    assert [problem.path.name for problem in encoded.pictures.problems] == ["broken.png"]
    again = encode_images(flat, MeanColour(), cache=flat / "out.cache")
    assert again.pictures == encoded.pictures, "the cache is no class folder"
    encoded.save(tmp_path / "flat.npz")
    with np.load(tmp_path / "flat.npz", allow_pickle=False) as stored:
        assert sorted(stored) == ["features", "files"]
        assert stored["files"].tolist() == ["0.png", "1.png"]
        np.testing.assert_allclose(stored["features"][:, 0], [1, 235 / 255], atol=1e-6)
    single = encode_images(flat / "1.png", MeanColour())
    np.testing.assert_array_equal(single.features, encoded.features[1:])
    assert single.pictures.files == ["1.png"]


def test_pictures_are_named_as_their_owner_sees_them(folder: Path) -> None:
    (folder / "table.csv").write_text(f"path,label\nsea/0.png,x\n{Path('/far/a.png')},x\n")
    assert find_pictures(folder / "table.csv").files == ["sea/0.png", "/far/a.png"]
    assert find_pictures(folder).files[:2] == ["apple/0.png", "apple/1.png"]
    assert as_pictures([Path("b.png")], ["x"]).files == ["b.png"]


def spoil(folder: Path) -> dict[str, str]:
    """Put bad things into a good folder; what the report must say of each."""
    (folder / "apple" / "empty.png").touch()
    (folder / "leaf" / "page.jpg").write_text("<html>404</html>")
    whole = (folder / "sea" / "0.png").read_bytes()
    (folder / "sea" / "half.png").write_bytes(whole[: len(whole) // 2])
    (folder / "sea" / "folder.png").mkdir()
    (folder / "nothing").mkdir()
    (folder / "ruined").mkdir()
    (folder / "ruined" / "only.png").touch()
    Image.new("RGB", (8, 8)).save(folder / "loose.png")
    (folder / "leaf" / "notes.txt").write_text("not a picture, and no complaint about it")
    return {
        "empty.png": "is empty",
        "page.jpg": "not a picture",
        "half.png": "damaged",
        "folder.png": "cannot be read",
        "nothing": "no pictures",
        "only.png": "is empty",
        "ruined": "class 'ruined' has none left",
        "loose.png": "outside any class folder",
    }


def test_bad_files_are_skipped_and_listed(folder: Path) -> None:
    expected = spoil(folder)
    encoded = encode_images(folder, MeanColour())
    reasons = {problem.path.name: problem.reason for problem in encoded.pictures.problems}
    assert reasons.keys() == expected.keys()
    for name, reason in expected.items():
        assert reason in reasons[name]
    assert len(encoded.features) == 6
    assert {"nothing", "ruined"} <= set(encoded.pictures.class_names)
    assert not {"nothing", "ruined"} & set(encoded.pictures.labels)


def test_strict_makes_bad_files_an_error_that_lists_them(folder: Path) -> None:
    encode_images(folder, MeanColour(), strict=True)
    spoil(folder)
    with pytest.raises(DataError, match=r"(?s)cannot be used.*and 3 more"):
        encode_images(folder, MeanColour(), strict=True)


def test_no_usable_picture_at_all_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "class").mkdir()
    (tmp_path / "class" / "bad.png").touch()
    with pytest.raises(DataError, match=r"(?s)no usable picture.*bad\.png: is empty"):
        encode_images(tmp_path, MeanColour())


def test_what_was_encoded_is_never_encoded_again(folder: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    first, second, third = MeanColour(), MeanColour(), MeanColour()
    before = encode_images(folder, first, cache=cache)
    (folder / "apple" / "0.png").rename(folder / "apple" / "renamed.png")
    Image.new("RGB", (30, 20), (9, 9, 9)).save(folder / "sea" / "new.png")
    encode_images(folder, second, cache=cache)
    assert (first.calls, second.calls) == (6, 1)
    third.preprocessing = Preprocessing("symmetric", size=8)
    changed = encode_images(folder, third, cache=cache)
    assert third.calls == 7  # another preparation, other features
    assert not np.allclose(changed.features[0], before.features[0])


def test_an_interrupted_run_goes_on_where_it_stopped(folder: Path, tmp_path: Path) -> None:
    def interrupt(done: int, total: int) -> None:
        if done == 4:
            raise KeyboardInterrupt

    cache, stopped, resumed = tmp_path / "cache", MeanColour(), MeanColour()
    with pytest.raises(KeyboardInterrupt):
        encode_images(folder, stopped, cache=cache, progress=interrupt)
    result = encode_images(folder, resumed, cache=cache)
    assert (stopped.calls, resumed.calls) == (4, 2)
    np.testing.assert_array_equal(result.features, encode_images(folder, MeanColour()).features)


@settings(max_examples=40)
@given(place=st.integers(0, 10**6), value=st.integers(1, 255))
def test_a_damaged_cache_costs_time_but_never_a_wrong_feature(
    tmp_path_factory: pytest.TempPathFactory, place: int, value: int
) -> None:
    root = tmp_path_factory.mktemp("run")
    (root / "class").mkdir()
    Image.new("RGB", (8, 8), (10, 20, 30)).save(root / "class" / "a.png")
    first = encode_images(root, MeanColour(), cache=root / ".cache")
    (chunk,) = (root / ".cache").rglob("*.npz")
    data = bytearray(chunk.read_bytes())
    data[place % len(data)] ^= value
    chunk.write_bytes(data)
    second = encode_images(root, MeanColour(), cache=root / ".cache")
    np.testing.assert_array_equal(first.features, second.features)


def test_progress_counts_every_file_good_or_bad(folder: Path) -> None:
    spoil(folder)
    seen: list[tuple[int, int]] = []
    encode_images(folder, MeanColour(), progress=lambda done, total: seen.append((done, total)))
    assert seen == [(number, 11) for number in range(1, 12)]


def test_a_list_of_paths_needs_a_label_for_each(folder: Path) -> None:
    path = folder / "apple" / "0.png"
    assert encode_images(as_pictures([path], ["apple"]), MeanColour()).features.shape == (1, 4)
    with pytest.raises(DataError, match="1 paths but 2 labels"):
        as_pictures([path], ["apple", "leaf"])
