"""The lower bound: it learns each task, keeps no sample, and forgets."""

import pytest

from mczsl.errors import ConfigError
from mczsl.methods import get_method, make_config
from mczsl.runs.config import RunConfig
from mczsl.runs.loop import Run
from mczsl.testing.subject import Subject
from tests.worlds import EASY


def test_it_keeps_no_sample() -> None:
    method = Subject("sequential", {"hidden": 8, "epochs": 1}, capacity=1000).learned()
    memory = method.state().part("memory").tensors
    assert len(memory["features"]) == len(memory["labels"]) == 0


def test_a_memory_would_be_a_contradiction() -> None:
    with pytest.raises(ConfigError, match="memory"):
        make_config(get_method("sequential"), settings={"memory": "reservoir"})


def test_it_learns_the_newest_task_and_forgets_the_first() -> None:
    config = RunConfig(
        dataset=EASY,
        protocol="dynamic",
        tasks=3,
        method="sequential",
        settings={"hidden": 64, "epochs": 60, "rate": 3e-3, "calibration": "none"},
    )
    record = Run(config).finish()
    last = record["tasks"][-1]
    assert last["by_task"][-1] > 50
    assert last["by_task"][0] < 40
    assert record["forgetting"] > 15
