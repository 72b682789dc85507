from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from mczsl.data import synthetic
from mczsl.data.dataset import FeatureDataset
from mczsl.data.synthetic import SyntheticSpec, generate, parse_and_generate
from mczsl.errors import ConfigError
from tests.data.closed_form import zero_shot_accuracy

SMALL = "synthetic:classes=60,unseen=12,samples=25,features=128,attributes=24"

# Proposed Splits: classes, unseen, attributes, images in trainval, test_seen and test_unseen.
PUBLISHED = {
    "synthetic:cub": (200, 50, 312, 7057, 1764, 2967),
    "synthetic:sun": (717, 72, 102, 10320, 2580, 1440),
    "synthetic:awa1": (50, 10, 85, 19832, 4958, 5685),
    "synthetic:awa2": (50, 10, 85, 23527, 5882, 7913),
    "synthetic:apy": (32, 12, 64, 5932, 1483, 7924),
}


def test_all_presets_are_listed() -> None:
    assert synthetic.NAMES.keys() == PUBLISHED.keys()
    assert "200 classes, 312 attributes, 11788 images" in synthetic.NAMES["synthetic:cub"]


@pytest.mark.parametrize("name", PUBLISHED)
def test_presets_have_the_published_shapes(name: str) -> None:
    dataset = parse_and_generate(f"{name},features=8")  # the width changes nothing else
    splits = dataset.splits
    shape = (
        dataset.n_classes,
        len(dataset.unseen_classes),
        dataset.attributes.shape[1],
        *(len(rows) for rows in (splits.trainval, splits.test_seen, splits.test_unseen)),
    )
    assert shape == PUBLISHED[name]
    assert len(dataset.features) == sum(shape[3:])
    assert np.array_equal(np.unique(dataset.labels[splits.test_seen]), dataset.seen_classes)
    assert len(dataset.seen_classes) == shape[0] - shape[1]


def test_sun_has_twenty_images_of_every_class() -> None:
    dataset = parse_and_generate("synthetic:sun,features=8")
    assert set(np.bincount(dataset.labels)) == {20}
    trained = np.bincount(dataset.labels[dataset.splits.trainval])
    assert set(trained[dataset.seen_classes]) == {16}


def test_whole_preset_looks_like_features_of_a_network() -> None:
    dataset = parse_and_generate("synthetic:cub")
    features = dataset.features
    assert features.shape == (11788, 2048)
    assert features.dtype == np.float32
    assert features.min() == 0
    assert 0.4 < np.mean(features == 0) < 0.7
    assert features.any(axis=0).all()  # no dead dimension
    spectrum = np.linalg.svd(features[::20] - features.mean(axis=0), compute_uv=False) ** 2
    assert spectrum[:64].sum() > 0.5 * spectrum.sum()  # correlated: 3 % of the axes carry most
    assert np.allclose(np.linalg.norm(dataset.attributes, axis=1), 1, atol=1e-5)
    unseen = dataset.unseen_classes
    assert np.ptp(unseen) > 150  # among the seen ones, not behind them
    assert [len(classes) for classes in dataset.splits.validation_classes] == [50] * 3
    assert len(set(dataset.splits.validation_classes)) == 3


def test_closed_form_reaches_realistic_accuracy() -> None:
    accuracy = zero_shot_accuracy(parse_and_generate("synthetic:cub,features=512"))
    assert 0.35 < accuracy < 0.65  # chance: 0.02


def test_harder_is_worse() -> None:
    accuracies = [
        np.mean([zero_shot_accuracy(made(difficulty=level, seed=seed)) for seed in range(3)])
        for level in (0, 0.25, 0.5, 0.75, 1)
    ]
    assert accuracies == sorted(accuracies, reverse=True)
    assert accuracies[0] > 0.8
    assert 2 / 12 < accuracies[-1] < 0.5  # still twice better than chance


def test_less_variation_within_classes_is_easier() -> None:
    assert zero_shot_accuracy(made(noise=0.3)) > zero_shot_accuracy(made(noise=2)) + 0.2


def test_attributes_of_other_classes_tell_nothing() -> None:
    dataset, accuracies = made(), []
    for seed in range(8):
        order = np.random.default_rng(seed).permutation(dataset.n_classes)
        accuracies.append(zero_shot_accuracy(dataset, dataset.attributes[order]))
    assert np.mean(accuracies) == pytest.approx(1 / 12, abs=0.05)
    assert zero_shot_accuracy(dataset) > 4 * np.mean(accuracies)


def test_noisy_attributes_tell_nothing() -> None:
    """From the mean features of other classes, all attributes can be guessed but the noisy ones."""
    dataset = made(classes=300, unseen=50, attributes=20, noisy_attributes=0.3, difficulty=0)
    means = np.stack([dataset.features[dataset.labels == c].mean(axis=0) for c in range(300)])
    held_out = np.arange(300) % 3 == 0
    means -= means[~held_out].mean(axis=0)
    values = dataset.attributes - dataset.attributes[~held_out].mean(axis=0)
    weights = np.linalg.lstsq(means[~held_out], values[~held_out], rcond=None)[0]
    guessed = means[held_out] @ weights
    agreement = [np.corrcoef(guessed[:, i], values[held_out, i])[0, 1] for i in range(20)]
    noisy = np.flatnonzero(np.array(agreement) < 0.4)
    assert len(noisy) == 6  # 0.3 of 20
    assert np.sum(np.array(agreement) > 0.6) == 14
    assert np.ptp(noisy) > 6  # anywhere among the others


def test_imbalance() -> None:
    even = np.bincount(made(imbalance=0).labels)
    uneven = np.bincount(made(imbalance=1).labels)
    assert set(even) == {25}
    assert uneven.sum() == even.sum()
    assert uneven.max() > 5 * np.median(uneven[uneven > 0])
    assert 0.5 < np.log(uneven).std() < 1.5


def test_same_name_same_data_whatever_the_threads() -> None:
    spec = "synthetic:classes=37,samples=19,features=700"  # odd sizes are cut unevenly
    with threadpool_limits(1):
        alone = parse_and_generate(spec).fingerprint
    with threadpool_limits(2):
        assert parse_and_generate(spec).fingerprint == alone
    assert parse_and_generate(f"{spec},seed=1").fingerprint != alone


def test_name_is_the_same_for_the_same_settings() -> None:
    assert parse_and_generate("synthetic:APY,features=8").name == "synthetic:apy,features=8"
    first = parse_and_generate("synthetic: seed=2, classes=7")
    assert first.name == parse_and_generate("synthetic:classes=7,seed=2").name
    assert first.name == "synthetic:classes=7,seed=2"
    assert parse_and_generate("synthetic").name == "synthetic"
    resized = parse_and_generate("synthetic:sun,classes=40,unseen=9,features=8,samples=3")
    assert resized.name.startswith("synthetic:attributes=102,classes=40,")  # it is no SUN any more
    assert parse_and_generate(resized.name).fingerprint == resized.fingerprint


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("synthetic:cup", "unknown synthetic dataset 'cup'; did you mean 'cub'"),
        ("synthetic:clases=3", "unknown synthetic setting 'clases'; did you mean 'classes'"),
        ("synthetic:cub,", "unknown synthetic setting ''"),
        ("synthetic:classes=many", "classes=many: Input should be a valid integer"),
        ("synthetic:classes=", "classes=: "),
        ("synthetic:difficulty=2", "difficulty=2: .*less than or equal to 1"),
        ("synthetic:noise=nan", "noise=nan: .*finite"),
        ("synthetic:seed=-1", "seed=-1: .*greater than or equal to 0"),
        ("synthetic:noisy_attributes=1", "noisy_attributes=1: .*less than 1"),
        ("synthetic:cub,unseen=200", "unseen=200 of classes=200 leaves nothing to learn"),
        ("synthetic:seed=1,seed=2", "twice"),
        ("synthetic:samples=1000000000,features=1000000", "does not fit in memory"),
    ],
)
def test_bad_names_say_what_is_wrong(spec: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parse_and_generate(spec)


@settings(max_examples=40, deadline=None)
@given(
    classes=st.integers(2, 40),
    unseen_share=st.floats(0, 0.99),
    samples=st.integers(2, 30),
    features=st.integers(1, 20),
    attributes=st.integers(2, 20),
    noisy=st.floats(0, 0.99),
    imbalance=st.floats(0, 5),
    noise=st.floats(0, 100),
)
def test_any_size_is_a_valid_dataset(
    classes: int,
    unseen_share: float,
    samples: int,
    features: int,
    attributes: int,
    noisy: float,
    imbalance: float,
    noise: float,
) -> None:
    spec = SyntheticSpec(
        classes=classes,
        unseen=int(unseen_share * classes),
        samples=samples,
        features=features,
        attributes=attributes,
        noisy_attributes=noisy,
        imbalance=imbalance,
        noise=noise,
    )
    dataset = generate(spec, "any", spec.image_counts())  # its construction checks everything else
    assert len(dataset.features) == classes * samples
    assert len(dataset.unseen_classes) == spec.unseen
    tested = np.unique(dataset.labels[dataset.splits.test_seen])
    assert np.array_equal(tested, dataset.seen_classes)
    assert len(tested) + spec.unseen == classes


def made(**changes: float) -> FeatureDataset:
    base = dict(part.split("=") for part in SMALL.removeprefix("synthetic:").split(","))
    joined = ",".join(f"{key}={value}" for key, value in (base | changes).items())
    return parse_and_generate(f"synthetic:{joined}")
