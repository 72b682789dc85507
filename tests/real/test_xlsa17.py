"""The published data themselves: counts, order of the classes, and what a wrong order costs."""

import time

import numpy as np
import pytest
import scipy.io

from mczsl.data import report, xlsa17
from mczsl.data.matfiles import MatFile
from tests.data.closed_form import zero_shot_accuracy

# seen and unseen classes, images of trainval, test_seen and test_unseen, as published
COUNTS = {
    "CUB": (150, 50, 7057, 1764, 2967),
    "AWA1": (40, 10, 19832, 4958, 5685),
    "AWA2": (40, 10, 23527, 5882, 7913),
    "SUN": (645, 72, 10320, 2580, 1440),
    "APY": (20, 12, 5932, 1483, 7924),
}
USABLE = [("CUB", "effnetlite0", "att"), ("CUB", "effnetlite0", "sent"), ("AWA1", "bow512", "att")]


@pytest.fixture(scope="module")
def cub(data_root):
    return xlsa17.load(data_root, "cub", "effnetlite0")


@pytest.mark.parametrize(("name", "features", "semantics"), USABLE)
def test_classes_and_images_are_as_published(data_root, name, features, semantics):
    dataset = xlsa17.load(data_root, name.lower(), features, semantics)
    sizes = [len(rows) for rows in dataset.splits.sets().values()]
    found = (len(dataset.seen_classes), len(dataset.unseen_classes), *sizes)
    assert found == COUNTS[name]
    assert sum(sizes) == len(dataset.features)
    assert [len(each) for each in dataset.splits.validation_classes] == (
        [50] * 3 if name == "CUB" else [13] * 3
    )


@pytest.mark.parametrize("name", COUNTS)
def test_splits_and_names_are_as_published_even_without_features(data_root, name):
    parts = xlsa17.read(xlsa17.find_folder(data_root, name), features="any")
    seen, unseen, *sizes = COUNTS[name]
    assert len(parts.class_names) == len(parts.attributes) == seen + unseen
    assert [len(rows) for rows in parts.splits.sets().values()] == sizes
    errors = [each for each in parts.all_problems() if each.level == "error"]
    assert len(errors) == 1
    assert "features" in errors[0].message


@pytest.mark.parametrize(("name", "features", "semantics"), USABLE)
def test_every_published_file_passes_the_check(data_root, name, features, semantics):
    found = report.check(name, features=features, semantics=semantics, root=data_root)
    assert found.ok
    assert not [each for each in found.problems if "another order" in each.message]


def test_missing_values_in_awa_are_pointed_out(data_root):
    assert "looks like a mark for a missing value (4 neg" in str(
        report.check("awa1", root=data_root)
    )


@pytest.mark.parametrize("path", ["CUB/effnetlite0", "SUN/att_splits"])
def test_our_reader_and_scipys_agree(data_root, path):
    file, theirs = MatFile(data_root / f"{path}.mat"), scipy.io.loadmat(data_root / f"{path}.mat")
    names = [name for name in theirs if not name.startswith("__")]
    assert len(names) >= 3
    for name in names:
        if theirs[name].dtype == object:
            assert file.texts(name) == [str(cell[0][0]) for cell in theirs[name]]
        else:
            np.testing.assert_array_equal(file.columns(name).T, theirs[name].astype(np.float32))


def test_labels_follow_the_names_and_not_the_alphabet(data_root, cub):
    """The file names of the images say which class they show."""
    images = MatFile(data_root / "CUB" / "effnetlite0.mat").texts("image_files")
    assert [image.split("/")[0] for image in images] == [cub.class_names[c] for c in cub.labels]
    assert list(cub.class_names) != sorted(cub.class_names)
    assert cub.class_names[0] == "002.Laysan_Albatross"


def test_the_wrong_order_of_classes_costs_nearly_everything(cub):
    alphabetical = np.argsort(cub.class_names)
    right = zero_shot_accuracy(cub)
    wrong = zero_shot_accuracy(cub, cub.attributes[alphabetical])
    assert right > 0.4
    assert wrong < 0.1


def test_loading_is_quick(data_root):
    start = time.process_time()
    xlsa17.load(data_root, "CUB", "effnetlite0")
    assert time.process_time() - start < 2
