from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits

from mczsl.data import digits
from mczsl.data.dataset import FeatureDataset
from tests.data.closed_form import zero_shot_accuracy


@pytest.fixture(scope="module")
def dataset() -> FeatureDataset:
    return digits.load()


def value(dataset: FeatureDataset, attribute: str, digit: int) -> float:
    return float(dataset.attributes[digit, digits.ATTRIBUTE_NAMES.index(attribute)])


def test_the_images_are_the_real_ones(dataset: FeatureDataset) -> None:
    images, labels = load_digits(return_X_y=True)
    pixels = dataset.features[:, :64]
    assert np.array_equal(dataset.labels, labels)
    assert np.allclose(pixels, images / np.linalg.norm(images, axis=1, keepdims=True), atol=1e-6)
    assert dataset.features.shape == (1797, 192)
    assert np.allclose(np.linalg.norm(dataset.features[:, 64:], axis=1), 1, atol=1e-5)


def test_edge_directions_tell_a_bar_from_a_post() -> None:
    upright = np.zeros((1, 8, 8))
    upright[:, :, 4:] = 1.0  # dark left, bright right: the brightness grows to the right only
    edges = digits._edge_directions(upright).reshape(8, 16)
    assert edges[0].sum() > 0
    assert np.allclose(edges[1:], 0)
    turned = digits._edge_directions(upright.swapaxes(1, 2)).reshape(8, 16)
    assert turned[2].sum() == pytest.approx(edges[0].sum())  # a quarter of a turn
    assert np.allclose(np.delete(turned, 2, axis=0), 0)


def test_every_attribute_tells_something(dataset: FeatureDataset) -> None:
    assert dataset.attributes.shape == (10, len(digits.ATTRIBUTE_NAMES))
    assert len(set(digits.ATTRIBUTE_NAMES)) == len(digits.ATTRIBUTE_NAMES)
    assert np.ptp(dataset.attributes, axis=0).min() >= 0.5
    assert dataset.attributes.min() == 0
    assert dataset.attributes.max() == 1


@pytest.mark.parametrize(
    ("attribute", "digit", "expected"),
    [
        ("hole", 0, 1),
        ("hole", 7, 0),
        ("hole_above", 9, 1),
        ("hole_below", 6, 1),
        ("slant_below", 7, 1),
    ],
)
def test_the_table_is_read_by_name(
    dataset: FeatureDataset, attribute: str, digit: int, expected: float
) -> None:
    assert value(dataset, attribute, digit) == expected


def test_descriptions_agree_with_the_ink(dataset: FeatureDataset) -> None:
    """Digits that are said to have a stroke somewhere have more ink there than the others."""
    ink = dataset.features[:, :64].reshape(-1, 8, 8)
    places = {
        "top_bar": ink[:, 0, 2:6],
        "bottom_bar": ink[:, 7, 2:6],
        "upper_left": ink[:, 1:3, 1:3],
        "upper_right": ink[:, 1:3, 5:7],
        "lower_left": ink[:, 4:6, 1:3],
        "lower_right": ink[:, 5:7, 5:7],
    }
    for attribute, place in places.items():
        described = np.array([value(dataset, attribute, digit) for digit in range(10)])
        measured = [place[dataset.labels == digit].mean() for digit in range(10)]
        assert np.corrcoef(described, measured)[0, 1] > 0.5, attribute


def test_splits(dataset: FeatureDataset) -> None:
    splits = dataset.splits
    assert tuple(dataset.unseen_classes) == digits.UNSEEN
    assert len(splits.trainval) + len(splits.test_seen) + len(splits.test_unseen) == 1797
    trained = np.bincount(dataset.labels[splits.trainval], minlength=10)
    tested = np.bincount(dataset.labels[splits.test_seen], minlength=10)
    for digit in dataset.seen_classes:
        assert tested[digit] == round((trained[digit] + tested[digit]) / 5)
    assert splits.validation_classes == digits.VALIDATION
    assert digits.load().fingerprint == dataset.fingerprint


def test_a_linear_map_recognises_unseen_digits_by_description(dataset: FeatureDataset) -> None:
    assert zero_shot_accuracy(dataset) > 0.8  # chance: 0.33


def test_recognition_comes_from_the_descriptions(dataset: FeatureDataset) -> None:
    """With the descriptions of 3, 6 and 7 passed round, most answers are wrong."""
    swapped = dataset.attributes.copy()
    swapped[[3, 6, 7]] = swapped[[6, 7, 3]]
    assert zero_shot_accuracy(dataset, swapped) < 0.2
