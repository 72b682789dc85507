from dataclasses import replace

import numpy as np
import pytest

from mczsl.data.dataset import FeatureDataset, Splits
from mczsl.errors import DataError
from tests.data import samples


def make(**changes) -> FeatureDataset:
    parts = {
        "name": "zoo",
        "features": samples.features(),
        "labels": samples.labels(),
        "class_names": samples.NAMES,
        "attributes": samples.attributes(),
        "splits": Splits(**samples.sets(), validation_classes=((0, 1),)),
    }
    return FeatureDataset(**parts | changes)


def changed_splits(**changes) -> Splits:
    return replace(make().splits, **changes)


def test_seen_and_unseen_classes_come_from_the_splits():
    dataset = make()
    assert dataset.seen_classes.tolist() == [0, 1, 2, 3]
    assert dataset.unseen_classes.tolist() == [4, 5]
    assert dataset.n_classes == 6


def test_equal_data_have_equal_fingerprints_whatever_their_memory_layout():
    same = make(
        name="other name",
        features=np.asfortranarray(samples.features()),
        attributes=np.asfortranarray(samples.attributes()),
        provenance={"features": "elsewhere"},
    )
    assert same.fingerprint == make().fingerprint


def nudged(array: np.ndarray) -> np.ndarray:
    array[1, 1] = np.nextafter(array[1, 1], np.float32(9))
    return array


@pytest.mark.parametrize(
    "change",
    [
        {"features": nudged(samples.features())},
        {"features": samples.features().astype(np.float16)},
        {"attributes": nudged(samples.attributes())},
        {"labels": samples.labels()[np.r_[0:4, 5, 4, 6:30]]},
        {"class_names": ("Zebra", *samples.NAMES[1:])},
        {"splits": changed_splits(validation_classes=((0, 2),))},
        {"splits": changed_splits(validation_classes=())},
        {"splits": changed_splits(trainval=samples.sets()["trainval"][::-1])},
        {"splits": changed_splits(test_seen=samples.sets()["test_seen"][1:])},
        {"splits": changed_splits(test_unseen=samples.sets()["test_unseen"][1:])},
    ],
)
def test_whatever_can_change_a_result_changes_the_fingerprint(change):
    assert make(**change).fingerprint != make().fingerprint


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"labels": samples.labels()[1:]}, "29 for 30 feature rows"),
        ({"labels": samples.labels() + 1}, "run from 1 to 6, but there are 6 classes"),
        ({"labels": samples.labels() - 1}, "run from -1 to 4"),
        ({"labels": samples.labels().astype(float)}, "whole numbers"),
        ({"class_names": ()}, "no classes"),
        ({"class_names": samples.NAMES[:5]}, "6 rows for 5 classes"),
        ({"splits": changed_splits(trainval=np.array([], int))}, "trainval: is empty"),
        ({"splits": changed_splits(test_seen=np.array([1]))}, "trainval and test_seen share 1"),
        ({"splits": changed_splits(test_unseen=np.array([0]))}, "test_seen and test_unseen share"),
        ({"splits": changed_splits(test_unseen=np.array([30]))}, "but there are 30 rows"),
        (
            {
                "splits": changed_splits(
                    trainval=samples.sets()["trainval"][1:], test_unseen=np.array([1])
                )
            },
            "class 'zebra' is in test_unseen but also has training images",
        ),
        (
            {"splits": changed_splits(trainval=samples.sets()["trainval"][4:])},
            "class 'zebra' is in test_seen but has no training image",
        ),
        ({"splits": changed_splits(validation_classes=((0,), (4,)))}, "validation list 2"),
    ],
)
def test_parts_that_do_not_fit_together_are_refused(change, message):
    with pytest.raises(DataError, match=message) as caught:
        make(**change)
    assert str(caught.value).startswith("zoo: ")


def test_half_precision_on_disk_is_accepted_and_stays_there(tmp_path):
    np.save(tmp_path / "f.npy", samples.features().astype(np.float16))
    mapped = np.load(tmp_path / "f.npy", mmap_mode="r")
    dataset = make(features=mapped)
    assert isinstance(dataset.features, np.memmap)
    assert dataset.fingerprint == make(features=np.array(mapped)).fingerprint
