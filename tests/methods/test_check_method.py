"""Every method passes the shared checks, and every check catches a method that breaks it."""

import random
import traceback
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
import torch

from mczsl.errors import ConfigError
from mczsl.methods import available_methods, get_method
from mczsl.testing import CheckError, check_method, learning
from mczsl.testing.checks import CHECKS
from tests.methods.toys import BROKEN


def quick_settings(name: str) -> dict[str, Any]:
    """Small versions of a method's whole-number settings: few rounds, narrow layers."""
    fields = get_method(name).Config.model_fields.items()
    defaults = {key: field.default for key, field in fields if type(field.default) is int}
    rounds = ("epochs", "steps", "episodes")
    return {key: min(value, 2 if key.endswith(rounds) else 16) for key, value in defaults.items()}


@pytest.mark.parametrize("name", available_methods())
def test_every_method_keeps_the_contract(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """And learns far more than it must: another torch will not make the check refuse it."""
    monkeypatch.setattr(learning, "CLEARLY", 3 * learning.CLEARLY)
    check_method(name, **quick_settings(name))


@pytest.mark.parametrize("name", ["Ridge", "Aware", "KeepsWhatItMay", "SaysItKeepsAll"])
def test_sound_methods_of_others_pass(name: str) -> None:
    check_method(name)


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_method_is_caught(name: str) -> None:
    check, message = BROKEN[name]
    threads = torch.get_num_threads()
    try:
        with pytest.raises(CheckError) as caught:
            check_method(name)
    finally:
        torch.set_num_threads(threads)
    assert str(caught.value).startswith(f"{name}: ")
    assert message in str(caught.value)
    raised = caught.value.__cause__ or caught.value
    assert check in {frame.name for frame in traceback.extract_tb(raised.__traceback__)}


def test_every_check_has_a_method_that_it_catches() -> None:
    assert {check for check, _ in BROKEN.values()} == {check.__name__ for check in CHECKS}


def test_wrong_settings_are_the_callers_mistake() -> None:
    with pytest.raises(ConfigError, match="did you mean 'hidden'"):
        check_method("sequential", hiden=3)
    with pytest.raises(ConfigError, match="unknown method"):
        check_method("nobody")


@pytest.mark.parametrize("name", ["Ridge", "SeedsWhenBuilt"])
def test_checking_leaves_the_global_random_states(name: str) -> None:
    states = torch.random.get_rng_state(), str(np.random.get_state()), random.getstate()
    with nullcontext() if name == "Ridge" else pytest.raises(CheckError):
        check_method(name)
    assert torch.equal(torch.random.get_rng_state(), states[0])
    assert (str(np.random.get_state()), random.getstate()) == states[1:]
