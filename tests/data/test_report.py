import json

import numpy as np
import pytest

from mczsl.data import report
from mczsl.data.arrays import load
from tests.data import samples


def messages(path, **options) -> str:
    return "\n".join(map(": ".join, report.check(str(path), **options).problems))


def test_the_facts_about_a_dataset(tmp_path):
    facts = report.describe(load(samples.write_npz(tmp_path / "zoo.npz")))
    assert facts["samples"] == 30
    assert facts["dimensions"] == 4
    assert facts["classes"] == 6
    assert facts["seen classes"] == 4
    assert facts["unseen classes"] == 2
    assert facts["attributes"] == 3
    assert facts["images per class"] == {"min": 5, "median": 5, "max": 5}
    assert facts["splits"] == {"trainval": 16, "test_seen": 4, "test_unseen": 10}
    assert facts["fingerprint"] == load(tmp_path / "zoo.npz").fingerprint


def test_a_sound_dataset_has_no_errors(tmp_path):
    found = report.check(str(samples.write_npz(tmp_path / "zoo.npz")))
    assert found.ok
    assert "splits           trainval 16, test_seen 4, test_unseen 10" in str(found)
    assert json.loads(json.dumps(found.to_json()))["ok"] is True


@pytest.mark.parametrize("name", ["digits", "synthetic:classes=5,unseen=1,samples=4,features=6"])
def test_what_comes_with_the_package_has_no_errors(name):
    assert report.check(name).ok


def test_the_usual_files_are_looked_at_or_else_the_first(tmp_path):
    folder = samples.write_xlsa17(tmp_path)
    (folder / "res101.mat").rename(folder / "vgg.mat")
    samples.write_xlsa17(tmp_path)
    found = report.check(str(folder))
    assert found.facts["features"] == "res101"
    assert found.facts["not checked"] == ["--features vgg"]
    (folder / "res101.mat").unlink()
    assert report.check("zoo", root=tmp_path).facts["features"] == "vgg"
    assert "unknown features of ZOO 'res101'" in messages(folder, features="res101")


def test_everything_wrong_is_reported_and_what_can_be_read_is_described(tmp_path):
    folder = samples.write_xlsa17(
        tmp_path,
        {"features": np.full((4, 30), np.nan)},
        {"att": np.ones((3, 6)), "test_seen_loc": np.arange(1, 5)},
    )
    found = report.check(str(folder))
    assert not found.ok
    text = str(found)
    for message in (
        "error: features: nan at row 0, column 0 (120 values are not finite)",
        "error: attributes: classes 'zebra' and 'cow' are described by the same values",
        "error: splits trainval and test_seen share 3 rows",
        "warning: attributes: column 0 is the same for every class",
        "samples          30",
    ):
        assert message in text
    assert "fingerprint" not in found.facts


def changed_attributes(**columns) -> np.ndarray:
    attributes = samples.attributes()
    for column, values in columns.items():
        attributes[:, int(column[1:])] = values
    return attributes


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"attributes": changed_attributes(c1=7)}, "column 1 is the same for every class"),
        (
            {"attributes": changed_attributes(c0=[50, -1, 30, -1, 20, 10])},
            "-1 at row 1, column 0 looks like a mark for a missing value (2 negative",
        ),
        (
            {"attributes": np.hstack([np.tile(samples.attributes(), 40), np.eye(6) * -1e-3])},
            "-0.001 at row 0, column 120 looks like",
        ),
        ({"class_names": np.array([*samples.NAMES, "yak"])}, "class 'yak' has no image (1 such"),
        ({"trainval": np.array([1, 6, 7, 11, 12, 16, 17])}, "'zebra' has a single training image"),
        ({"test_seen": np.array([5])}, "'zebra' has no image in test_seen (3 such classes)"),
        ({"test_seen": np.array([], int)}, "split test_seen is empty"),
        ({"test_unseen": np.array([], int)}, "10 images are in no split"),
        ({}, "no validation lists"),
    ],
)
def test_what_is_odd_but_usable_is_a_warning(tmp_path, change, message):
    if "class_names" in change:
        change["attributes"] = np.vstack([samples.attributes(), [[0.5, 0.25, 0.125]]])
    path = samples.write_npz(tmp_path / "zoo.npz", **change)
    found = report.check(str(path))
    assert found.ok
    assert message in "\n".join(each.message for each in found.problems)


@pytest.mark.parametrize(
    "attributes",
    [
        np.sign(np.random.default_rng(0).standard_normal((6, 8))),
        np.random.default_rng(0).standard_normal((6, 3)),
        samples.attributes(),
    ],
)
def test_ordinary_negative_values_are_no_marks(tmp_path, attributes):
    assert "missing value" not in messages(
        samples.write_npz(tmp_path / "zoo.npz", attributes=attributes)
    )


def test_names_from_outside_cannot_command_the_terminal(tmp_path):
    names = np.array(["\x1b[31mred", "a\nb", "\u202etxt", "\x07", "c\x9b2J", "cow"])
    path = samples.write_npz(tmp_path / "zoo.npz", class_names=names)
    text = str(report.check(str(path)))
    assert all(character.isprintable() for line in text.split("\n") for character in line)
    assert "\\x1b[31mred" in text
