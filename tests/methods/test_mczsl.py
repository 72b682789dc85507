"""MCZSL's options, each through what it does to a run."""

from typing import Any

import numpy as np
import pytest
import torch

from mczsl.memory import MEMORIES
from mczsl.methods import get_method, make_config
from mczsl.methods.base import Setting
from mczsl.methods.mczsl import MCZSLConfig
from mczsl.protocols import ClassSet, Task, TensorSamples
from mczsl.runs.config import RunConfig
from mczsl.runs.loop import Run
from mczsl.seeding import Seeds
from mczsl.testing import check_method
from mczsl.testing.subject import Subject, scores
from mczsl.testing.world import WORLD
from tests.worlds import EASY

TINY: dict[str, Any] = {
    "hidden": 16,
    "epochs": 2,
    "episodes": 1,
    "inner_steps": 2,
    "calibration": "none",
}
# Every option with another value than the default.
OPTIONS: dict[str, Any] = {
    "scale": 10.0,
    "learn_scale": True,
    "attribute_scaling": "raw",
    "bf16": True,
    "feature_transform": "none",
    "metric": "cosine",
    "replay": "samples",
    "memory": "ring",
    "gating": False,
    "normalisation": "none",
    "norm_over": "classes",
    "output_relu": True,
    "meta": True,
    "ways": 2,
    "shots": 2,
    "inner_steps": 3,
    "inner_rate": 1e-2,
    "inner_state": "keep",
    "rate": 1e-2,
    "hidden": 8,
    "epochs": 3,
    "episodes": 3,
    "virtual": 0,
    "attribute_dropout": 0,
    "softmax_over": "seen",
    "calibration": "auto",
}
META_ONLY = ("inner_steps", "inner_rate", "inner_state")
# A memory smaller than the data, and a task long enough for the last choice to matter.
SMALL_MEMORY = 16


def learned(**settings: Any) -> torch.Tensor:
    return scores(Subject("mczsl", TINY | settings, capacity=SMALL_MEMORY).learned())


def test_every_option_is_listed_here() -> None:
    assert OPTIONS.keys() == MCZSLConfig.model_fields.keys()


@pytest.mark.parametrize("option", OPTIONS)
def test_every_option_does_something(option: str) -> None:
    # ways and softmax_over differ once there are more classes than ways.
    base = {"ways": 3, "meta": option in META_ONLY, "rate": 1e-2}
    base.pop(option, None)
    assert not torch.equal(learned(**base), learned(**base, **{option: OPTIONS[option]}))


@pytest.mark.parametrize(
    "settings",
    [
        {"calibration": "auto", "meta": True},
        {"norm_over": "classes", "output_relu": True, "virtual": 0},
        {"norm_over": "classes", "bf16": True},
        {"meta": True, "inner_state": "reset", "learn_scale": True},
        {"softmax_over": "seen", "memory": "ring", "gating": False, "normalisation": "none"},
        {"ways": 1, "shots": 1, "memory": "none"},
    ],
    ids=str,
)
def test_combinations_keep_the_contract(settings: dict[str, Any]) -> None:
    check_method("mczsl", **TINY | settings)


def test_the_training_seed_draws_the_first_weights() -> None:
    first, same, other = (scores(Subject("mczsl", TINY, seed=seed).build()) for seed in (0, 0, 1))
    assert torch.equal(first, same)
    assert not torch.allclose(first, other)


def test_the_papers_preset() -> None:
    config = make_config(get_method("mczsl"), "paper").model_dump()
    expected = {
        "hidden": 2048,
        "epochs": 200,
        "rate": 1e-3,
        "inner_rate": 1e-4,
        "meta": True,
        "gating": True,
        "normalisation": "scaled",
        "memory": "reservoir",
        "calibration": "none",
        "feature_transform": "none",
        "metric": "cosine",
        "replay": "samples",
        "virtual": 0,
        "attribute_dropout": 0,
    }
    assert {key: config[key] for key in expected} == expected


def test_a_samples_length_and_a_descriptions_length_say_nothing() -> None:
    method = Subject("mczsl", TINY).learned()
    classes = WORLD.classes([*WORLD.seen, *WORLD.unseen])
    features = torch.from_numpy(WORLD.features)
    found = method.scores(features, classes)
    longer = ClassSet(classes.ids, classes.attributes * 7)
    assert torch.allclose(method.scores(features * 3, longer), found, atol=1e-4)


def test_scores_are_scaled_cosines() -> None:
    cosines, scaled = (
        scores(Subject("mczsl", TINY | {"scale": scale}).build()) for scale in (1.0, 40.0)
    )
    assert 0 < cosines.abs().max() <= 1.0001
    assert torch.allclose(scaled, 40 * cosines, atol=1e-4)


def test_the_scale_is_learned_only_if_asked() -> None:
    for learn_scale in (False, True):
        method = Subject("mczsl", TINY | {"learn_scale": learn_scale, "rate": 0.1}).learned()
        assert (method.state().tensors["scale"].item() != 25.0) is learn_scale


@pytest.mark.parametrize("meta", [False, True])
def test_the_rate_falls_to_zero_in_the_last_epoch(meta: bool) -> None:
    subject = Subject("mczsl", TINY | {"epochs": 3, "meta": meta})
    method = subject.build()
    weights = []
    for _ in subject.steps(method, WORLD, 0):
        tensors = method.state().part("net").tensors
        weights.append(torch.cat([tensors[name].flatten() for name in sorted(tensors)]))
    first, second, third = weights
    assert not torch.equal(first, second)
    assert torch.equal(second, third)


def test_the_memory_keeps_past_samples_only_after_their_task() -> None:
    subject = Subject("mczsl", TINY | {"memory": "reservoir"}, capacity=1000)
    method = subject.build()
    counts = []
    for index in range(len(WORLD.tasks)):
        for _ in subject.steps(method, WORLD, index):
            counts.append(len(method.state().part("memory").tensors["labels"]))
    sizes = [int(np.isin(WORLD.labels, task).sum()) for task in WORLD.tasks]
    assert counts == [0, 0, sizes[0], sizes[0], sizes[0] + sizes[1], sizes[0] + sizes[1]]


def short_run(seed: int, memory: str) -> dict[str, Any]:
    settings = {"hidden": 64, "epochs": 30, "rate": 3e-3, "calibration": "none", "memory": memory}
    seeds = Seeds(training=seed, memory=seed)
    config = RunConfig(dataset=EASY, protocol="dynamic", tasks=3, seeds=seeds, settings=settings)
    return Run(config).finish()


def test_it_learns_and_remembers() -> None:
    """Chance is 1 of 24; a memory must keep what is lost without one."""
    kept = {memory: [short_run(seed, memory) for seed in (0, 1)] for memory in (*MEMORIES, "none")}

    def mean(memory: str, value: str) -> float:
        return float(np.mean([record[value] for record in kept[memory]]))

    for memory in MEMORIES:
        assert mean(memory, "mH") > 5 * 100 / 24
        assert mean(memory, "mSA") > mean("none", "mSA") + 5
        assert mean(memory, "forgetting") < mean("none", "forgetting") - 10


def test_means_and_samples_share_the_capacity() -> None:
    capacity = 2 * len(WORLD.seen)
    subject = Subject("mczsl", TINY, capacity=capacity)
    method = subject.build()
    for index in range(len(WORLD.tasks)):
        list(subject.steps(method, WORLD, index))
        state = method.state()
        means = state.part("mean_memory").tensors["labels"]
        assert means.tolist() == sorted(c for task in WORLD.tasks[: index + 1] for c in task)
        assert len(means) + len(state.part("memory").tensors["labels"]) == capacity


def test_without_room_for_the_means_samples_have_to_do() -> None:
    capacity = 2 * len(WORLD.tasks[0])  # enough for the first task, not for two
    subject = Subject("mczsl", TINY, capacity=capacity)
    method, kept = subject.build(), []
    for index in range(len(WORLD.tasks)):
        list(subject.steps(method, WORLD, index))
        state = method.state()
        kept.append(len(state.part("mean_memory").tensors["labels"]))
    assert kept == [capacity // 2, 0, 0]
    assert len(state.part("memory").tensors["labels"]) == capacity


def test_a_past_class_comes_back_as_its_mean() -> None:
    """Two places for each class: a mean says more than a sample."""

    def forgetting(replay: str) -> float:
        settings = {"hidden": 64, "epochs": 30, "rate": 3e-3, "calibration": "none"}
        config = RunConfig(
            dataset=EASY,
            protocol="dynamic",
            tasks=3,
            memory_per_class=2,
            settings=settings | {"replay": replay},
        )
        return float(Run(config).finish()["forgetting"])

    assert forgetting("means") < forgetting("samples") - 3


@pytest.mark.parametrize("lowest", [0.0, -1.0])
def test_square_roots_are_taken_of_features_that_are_never_negative(lowest: float) -> None:
    features = torch.rand(12, 4, generator=torch.Generator().manual_seed(0))
    features[0, 0] = lowest
    classes = ClassSet(torch.arange(3), torch.eye(3))
    samples = TensorSamples(features, torch.arange(12) % 3)
    config = make_config(get_method("mczsl"), settings=TINY | {"metric": "cosine"})
    method = get_method("mczsl")(config, Setting(4, 3))
    list(method.learn(Task(0, samples, classes, classes.select(slice(0, 0)))))
    direction = method.prepare(features[1:2] ** 2)
    expected = features[1:2] ** (1 if lowest == 0 else 2)
    assert torch.allclose(direction, torch.nn.functional.normalize(expected, dim=1), atol=1e-6)
