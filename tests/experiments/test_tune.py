"""The search for settings looks at validation classes only."""

import json
from pathlib import Path

import numpy as np
import pytest

from mczsl.data import load_dataset
from mczsl.errors import ConfigError
from mczsl.experiments.tune import (
    number_of_trials,
    parse_space,
    poison_test_images,
    tune,
    validation_folds,
)
from mczsl.protocols.fixed import split_images
from mczsl.runs.config import RunConfig
from mczsl.seeding import Seeds

optuna = pytest.importorskip("optuna")
QUICK = {"epochs": 2, "episodes": 3, "hidden": 8, "calibration": "none"}
SPACE = {"rate": [1e-3, 1e-2]}


def config(path: Path, **values: object) -> RunConfig:
    return RunConfig.model_validate({"dataset": str(path), "settings": QUICK, **values})


def write(path: Path, change_test_images: bool) -> Path:
    """Digits as a file; with test images that are nonsense, if so wanted."""
    dataset = load_dataset("digits")
    features, splits = dataset.features.copy(), dataset.splits
    if change_test_images:
        for rows in (splits.test_seen, splits.test_unseen):
            features[rows] = np.random.default_rng(0).random(features[rows].shape)
    np.savez(
        path,
        features=features,
        labels=dataset.labels,
        attributes=dataset.attributes,
        class_names=np.array(dataset.class_names),
        **splits.sets(),
    )
    return path


@pytest.mark.parametrize("protocol", ["gzsl", "dynamic", "fixed"])
def test_test_images_cannot_change_what_wins(tmp_path: Path, protocol: str) -> None:
    real = config(write(tmp_path / "a.npz", False), protocol=protocol, tasks=None)
    nonsense = config(write(tmp_path / "b.npz", True), protocol=protocol, tasks=None)
    one = tune(real, SPACE, 2, tmp_path / "one")
    two = tune(nonsense, SPACE, 2, tmp_path / "two")
    assert one == two
    tried = [
        json.loads((tmp_path / name / "tune.json").read_text())["tried"] for name in ["one", "two"]
    ]
    assert tried[0] == tried[1]
    assert len(tried[0]) == 2


def test_test_images_are_poisoned() -> None:
    dataset = load_dataset("digits")
    also = dataset.splits.trainval[:5]
    poison_test_images(dataset, also)
    assert np.isnan(dataset.features[also]).all()
    assert np.isnan(dataset.features[dataset.splits.test_seen]).all()
    assert np.isnan(dataset.features[dataset.splits.test_unseen]).all()
    assert np.isfinite(dataset.features[dataset.splits.trainval[5:]]).all()


def test_the_winner_has_the_best_mean_over_all_folds(tmp_path: Path) -> None:
    path = write(tmp_path / "a.npz", False)
    best = tune(config(path), {"rate": (1e-5, 1e-1)}, 3, tmp_path)
    tried = json.loads((tmp_path / "tune.json").read_text())["tried"]
    assert len(tried) == 3
    assert all(len(trial["mH"]) == len(validation_folds(config(path))) for trial in tried)
    assert np.mean(best["mH"]) == max(np.mean(trial["mH"]) for trial in tried)


@pytest.mark.parametrize("wrong", ["rate", "rate=", "rate=2..1", "rate=-1..1", "rate=a..b"])
def test_a_search_that_makes_no_sense_is_named(wrong: str) -> None:
    with pytest.raises(ConfigError, match="rate"):
        parse_space([wrong])


def test_the_fixed_protocol_hides_the_images_that_it_tests_on() -> None:
    dataset = load_dataset("digits")
    _, test = split_images(dataset.labels, 3)
    seeds = Seeds(image_split=3)
    (fold,) = validation_folds(RunConfig(dataset="digits", protocol="fixed", seeds=seeds))
    allowed = np.setdiff1d(dataset.splits.trainval, test)
    assert 0 < len(allowed) < len(dataset.splits.trainval)
    assert np.array_equal(fold.features, dataset.features[allowed])


def test_a_range_of_a_whole_number_is_searched_in_whole_numbers(tmp_path: Path) -> None:
    settings = {key: value for key, value in QUICK.items() if key != "hidden"}
    wanted = RunConfig(dataset="digits", settings=settings)
    tune(wanted, parse_space(["hidden=4..9"]), 3, tmp_path)
    tried = json.loads((tmp_path / "tune.json").read_text())["tried"]
    assert all(trial["settings"]["hidden"] in range(4, 10) for trial in tried)


@pytest.mark.parametrize("wrong", ["hiden=4..9", "hiden=4,9", "rate=-1,1"])
def test_a_wrong_setting_is_named_before_anything_is_tried(tmp_path: Path, wrong: str) -> None:
    with pytest.raises(ConfigError, match=r"did you mean 'hidden'|rate"):
        tune(RunConfig(dataset="digits"), parse_space([wrong]), 3, tmp_path)
    assert not list(tmp_path.iterdir())


def test_no_combination_counts_twice() -> None:
    assert number_of_trials(parse_space(["hidden=4,9", "rate=1,2,3"]), 20) == 6
    assert number_of_trials(parse_space(["hidden=4,9", "rate=1..3"]), 20) == 20
