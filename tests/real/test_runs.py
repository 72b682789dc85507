"""Short runs on real birds: far above chance in every setting, and by the attributes' merit."""

import dataclasses
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mczsl.data import FeatureDataset, load_dataset
from mczsl.evaluation.metrics import harmonic_mean
from mczsl.runs.config import RunConfig
from mczsl.runs.loop import Record, Run

CHANCE = 100 / 200  # percent, of 200 classes


@cache
def birds(data_root: Path, semantics: str) -> FeatureDataset:
    return load_dataset("CUB", features="effnetlite0", semantics=semantics, root=data_root)


def short_run(
    dataset: FeatureDataset, protocol: str, method: str = "mczsl", **settings: Any
) -> Record:
    config = RunConfig(
        dataset="CUB",
        protocol=protocol,
        tasks=None if protocol == "gzsl" else 5,
        method=method,
        settings={"hidden": 64, "epochs": 3, **settings},
    )
    return Run(config, dataset).finish()


@cache
def lower_bound(data_root: Path) -> Record:
    return short_run(birds(data_root, "att"), "dynamic", "sequential", epochs=10)


@pytest.mark.parametrize("protocol", ["gzsl", "fixed", "dynamic"])
@pytest.mark.parametrize("semantics", ["att", "sent"])
def test_mczsl_is_far_above_chance(data_root: Path, semantics: str, protocol: str) -> None:
    record = short_run(birds(data_root, semantics), protocol)
    assert record["status"] == "finished"
    assert (record["features"], record["semantics"]) == ("effnetlite0", semantics)
    assert record["mSA"] > 20 * CHANCE
    assert record["mUA"] > 20 * CHANCE
    assert record["mH"] > 20 * CHANCE
    assert record["ausuc"] > 2
    assert record["mH"] <= harmonic_mean(record["mSA"], record["mUA"]) + 0.02  # rounding


def test_unseen_birds_are_known_by_their_attributes_alone(data_root: Path) -> None:
    """With the attributes dealt out at random, seen birds are learned and unseen ones are not."""
    dataset = birds(data_root, "att")
    order = np.random.default_rng(0).permutation(dataset.n_classes)
    dealt = dataclasses.replace(dataset, attributes=dataset.attributes[order])
    record = short_run(dealt, "gzsl", calibration="none", epochs=6)
    assert record["mSA"] > 10 * CHANCE
    assert record["mUA"] < 4 * CHANCE


def test_calibration_lifts_the_harmonic_mean(data_root: Path) -> None:
    dataset = birds(data_root, "att")
    plain, calibrated = (
        short_run(dataset, "dynamic", calibration=calibration) for calibration in ("none", "auto")
    )
    assert calibrated["mH"] > plain["mH"] + 3
    assert calibrated["ausuc"] == plain["ausuc"], "an offset cannot change the area"


def test_a_memory_keeps_what_the_lower_bound_forgets(data_root: Path) -> None:
    dataset = birds(data_root, "att")
    remembered = short_run(dataset, "dynamic", calibration="none")
    forgotten = short_run(dataset, "dynamic", calibration="none", memory="none")
    assert remembered["forgetting"] < forgotten["forgetting"] - 3
    assert remembered["mSA"] > forgotten["mSA"]


def test_a_gem_forgets_less_than_the_lower_bound(data_root: Path) -> None:
    record = short_run(birds(data_root, "att"), "dynamic", "agem", epochs=10)
    assert record["mH"] > 10 * CHANCE
    assert record["forgetting"] < lower_bound(data_root)["forgetting"]


@pytest.mark.parametrize("method", ["nm_zsl", "seq_cvae", "cvae_res"])
def test_other_systems_are_above_the_lower_bound(data_root: Path, method: str) -> None:
    record = short_run(birds(data_root, "att"), "dynamic", method)
    assert record["mH"] > lower_bound(data_root)["mH"]
    assert record["ausuc"] > lower_bound(data_root)["ausuc"]


def test_aligned_auto_encoders_are_above_the_lower_bound(data_root: Path) -> None:
    sides, parts = ("feature", "attribute"), ("encoder", "decoder")
    narrow = {f"{side}_{part}": 64 for side in sides for part in parts}
    config = RunConfig(
        dataset="CUB",
        protocol="dynamic",
        tasks=5,
        method="cada_res",
        settings={**narrow, "epochs": 6, "rate": 2e-3},
    )
    record = Run(config, birds(data_root, "att")).finish()
    assert record["mH"] > lower_bound(data_root)["mH"]
