"""The emoji that come with the package: small, quick to load, honest splits, recognisable."""

from __future__ import annotations

import subprocess
import sys
import time
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from mczsl.data import emoji
from mczsl.data.dataset import FeatureDataset

TRAINED = {"noto", "noto-v1", "emojione", "fluent-emoji-flat", "fluent-emoji"}
NEW = {"twemoji", "fxemoji"}


@pytest.fixture(scope="module")
def dataset() -> FeatureDataset:
    return emoji.load()


def test_all_that_ships_is_at_most_six_megabytes() -> None:
    folder = Path(emoji.__file__).parent / "embedded"
    assert sum(path.stat().st_size for path in folder.iterdir()) <= 6_000_000


def test_loading_is_quick_and_needs_neither_torch_nor_pillow() -> None:
    program = (
        "import sys; from mczsl.data import emoji; emoji.load(); emoji.descriptions()\n"
        "print({'torch', 'PIL', 'scipy', 'sklearn', 'pandas'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "set()\n", done.stderr
    times = []
    for _ in range(5):
        emoji._embedded.cache_clear()
        start = time.process_time()
        emoji.load()
        times.append(time.process_time() - start)
    assert min(times) < 0.3


def test_the_published_sizes(dataset: FeatureDataset) -> None:
    assert dataset.n_classes == 1604
    assert dataset.features.shape == (9195, 384)
    assert dataset.attributes.shape == (1604, 384)
    assert len(dataset.unseen_classes) == 200
    assert {name: len(rows) for name, rows in dataset.splits.sets().items()} == {
        "trainval": 6106,
        "test_seen": 1925,
        "test_unseen": 1164,
    }
    assert dataset.fingerprint == emoji.load().fingerprint


def test_no_drawing_by_a_test_artist_is_trained_on(dataset: FeatureDataset) -> None:
    drawn_by = np.array(emoji.drawn_by())
    splits = dataset.splits
    assert set(drawn_by[splits.trainval]) == TRAINED
    assert set(drawn_by[splits.test_seen]) == NEW
    assert set(drawn_by[splits.test_unseen]) == TRAINED | NEW
    used = np.concatenate(list(splits.sets().values()))
    assert len(used) == len(set(used.tolist())) == len(dataset.labels)


def test_each_emoji_is_drawn_at_most_once_in_a_set(dataset: FeatureDataset) -> None:
    pairs = list(zip(dataset.labels.tolist(), emoji.drawn_by(), strict=True))
    assert len(set(pairs)) == len(pairs)


def test_no_drawing_is_in_training_and_in_the_test_as_well(dataset: FeatureDataset) -> None:
    """Nor nearly so: few drawings by new artists come close to one that was trained on."""
    units = dataset.features / np.linalg.norm(dataset.features, axis=1, keepdims=True)
    splits = dataset.splits
    nearest = (units[splits.test_seen] @ units[splits.trainval].T).max(axis=1)
    assert (nearest > 0.95).mean() < 0.02


def test_validation_classes_are_seen_disjoint_and_of_every_kind(dataset: FeatureDataset) -> None:
    lists = [set(each) for each in dataset.splits.validation_classes]
    assert [len(each) for each in lists] == [200, 200, 200]
    assert set.union(*lists) <= set(dataset.seen_classes.tolist())
    assert not any(first & second for first, second in combinations(lists, 2))


def test_descriptions_start_with_the_name_and_add_keywords(dataset: FeatureDataset) -> None:
    texts = emoji.descriptions()
    assert len(texts) == dataset.n_classes
    assert all(t.startswith(name) for t, name in zip(texts, dataset.class_names, strict=True))
    apple = dataset.class_names.index("red apple")
    assert emoji.characters()[apple] == "🍎"
    assert "fruit" in texts[apple]


def test_thumbnails_show_what_the_class_names_say(dataset: FeatureDataset) -> None:
    thumbnails = emoji.thumbnails()
    assert thumbnails.shape == (9195, 32, 32, 3)
    for name, colour in {"red heart": 0, "green heart": 1, "blue heart": 2}.items():
        rows = np.flatnonzero(dataset.labels == dataset.class_names.index(name))
        middle = thumbnails[rows, 12:20, 12:20].mean(axis=(0, 1, 2))
        assert middle.argmax() == colour


def test_a_linear_map_recognises_emoji_that_were_never_trained_on(dataset: FeatureDataset) -> None:
    """From drawings to descriptions by least squares: 200 unseen emoji, chance is 0.5 %."""
    splits, features = dataset.splits, dataset.features
    units = features / np.linalg.norm(features, axis=1, keepdims=True)
    described = dataset.attributes - dataset.attributes[dataset.seen_classes].mean(axis=0)
    described /= np.linalg.norm(described, axis=1, keepdims=True)
    train, wanted = units[splits.trainval], described[dataset.labels[splits.trainval]]
    gram = train.T @ train
    ridge = 0.3 * np.trace(gram) / len(gram) * np.eye(len(gram))
    weights = np.linalg.solve(gram + ridge, train.T @ wanted)
    candidates = dataset.unseen_classes
    scores = units[splits.test_unseen] @ weights @ described[candidates].T
    guessed = candidates[scores.argmax(axis=1)]
    assert (guessed == dataset.labels[splits.test_unseen]).mean() > 0.2


def test_features_of_any_picture_can_be_reduced_alike(dataset: FeatureDataset) -> None:
    reduction = emoji.reduction()
    assert reduction.axes.shape == (1280, 384)
    reduced = reduction.apply(np.random.default_rng(0).random((3, 1280)))
    assert reduced.shape == (3, 384)
    assert np.isfinite(reduced).all()


def test_every_artist_is_credited_with_a_licence() -> None:
    text = emoji.attribution()
    for name in sorted(TRAINED | NEW):
        assert f"@iconify-json/{name} " in text
    for licence in ("Apache-2.0", "CC-BY-4.0", "MIT", "Unicode-3.0"):
        assert licence in text
