"""Every system really learns: far above chance, and above the lower bound in a stream."""

from functools import cache
from typing import Any

import pytest

from mczsl.methods import available_methods
from mczsl.runs.config import RunConfig
from mczsl.runs.loop import Run
from mczsl.runs.record import Record
from tests.worlds import EASY

GUESSING = 100 / 18 / 6  # AUSUC in percent: 18 seen classes, 6 unseen ones
# Small nets, trained long enough for so few samples.
NARROW: dict[str, Any] = {"hidden": 64, "epochs": 60, "rate": 3e-3}
CVAE: dict[str, Any] = {"hidden": 64, "latent": 8, "epochs": 60}
CADA: dict[str, Any] = {
    **{
        f"{side}_{part}": 64 for side in ("feature", "attribute") for part in ("encoder", "decoder")
    },
    **{"latent": 16, "epochs": 60, "rate": 1e-3},
}
SETTINGS: dict[str, dict[str, Any]] = {
    "mczsl": {"hidden": 64},
    "joint": {"hidden": 64},
    "nm_zsl": NARROW,
    "sequential": NARROW,
    "agem": NARROW,
    "eszsl": {},
    "seq_cvae": CVAE,
    "cvae_res": CVAE,
    "seq_cada": CADA,
    "cada_res": CADA,
}


@cache
def run(name: str, protocol: str, tasks: int | None = None) -> Record:
    given = {"protocol": protocol, "tasks": tasks, "method": name, "settings": SETTINGS[name]}
    return Run(RunConfig.model_validate({"dataset": EASY, "threads": 1, **given})).finish()


@pytest.mark.parametrize("name", available_methods())
def test_it_is_far_above_chance(name: str) -> None:
    """By AUSUC: some lean far to one side in so small a world, which an offset would mend."""
    assert run(name, "gzsl")["ausuc"] > 10 * GUESSING


@pytest.mark.parametrize("name", sorted({*available_methods()} - {"sequential"}))
def test_in_a_stream_it_is_above_the_lower_bound(name: str) -> None:
    assert run(name, "dynamic", 4)["mH"] > run("sequential", "dynamic", 4)["mH"]
