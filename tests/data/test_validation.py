"""Validation data hold nothing of the test data."""

import numpy as np
import pytest

from mczsl.data import FeatureDataset, load_dataset
from mczsl.data.validation import number_of_folds, validation_dataset
from mczsl.errors import ConfigError

SMALL = "synthetic:classes=12,unseen=3,samples=10,features=8,attributes=6"


def rows(values: np.ndarray) -> set[bytes]:
    return {row.tobytes() for row in values}


@pytest.mark.parametrize("name", ["digits", SMALL])
def test_no_test_image_and_no_unseen_class_is_left(name: str) -> None:
    dataset = load_dataset(name)
    train = rows(dataset.features[dataset.splits.trainval])
    unseen = {dataset.class_names[number] for number in dataset.unseen_classes}
    for fold in range(number_of_folds(dataset)):
        validation = validation_dataset(dataset, fold)
        assert rows(validation.features) <= train
        assert not unseen & set(validation.class_names)
        assert len(validation.unseen_classes) >= 1


def test_published_lists_are_the_unseen_classes() -> None:
    dataset = load_dataset("digits")
    assert dataset.splits.validation_classes
    for fold, classes in enumerate(dataset.splits.validation_classes):
        validation = validation_dataset(dataset, fold)
        named = {validation.class_names[number] for number in validation.unseen_classes}
        assert named == {dataset.class_names[number] for number in classes}


def test_attributes_and_labels_still_belong_together() -> None:
    dataset = load_dataset(SMALL)
    validation = validation_dataset(dataset, 1)
    for row in range(0, len(validation.labels), 7):
        name = validation.class_names[validation.labels[row]]
        original = dataset.class_names.index(name)
        np.testing.assert_array_equal(
            validation.attributes[validation.labels[row]], dataset.attributes[original]
        )
        matches = (dataset.features == validation.features[row]).all(axis=1)
        assert original in dataset.labels[matches]


def test_without_lists_a_quarter_of_the_seen_classes_is_held_out() -> None:
    dataset = load_dataset(SMALL)
    bare = FeatureDataset(
        dataset.name,
        dataset.features,
        dataset.labels,
        dataset.class_names,
        dataset.attributes,
        type(dataset.splits)(*dataset.splits.sets().values()),
    )
    folds = [validation_dataset(bare, fold) for fold in range(number_of_folds(bare))]
    held_out = [{fold.class_names[c] for c in fold.unseen_classes} for fold in folds]
    assert all(len(names) == round(len(bare.seen_classes) / 4) for names in held_out)
    assert held_out[0] != held_out[1]


def test_a_fold_that_does_not_exist_is_named() -> None:
    with pytest.raises(ConfigError, match="fold 9"):
        validation_dataset(load_dataset("digits"), 9)
