"""The classifier's own parameters, checked when they are first used."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from operator import index
from typing import Any

import torch

from mczsl.errors import ConfigError
from mczsl.estimator.describe import Descriptions, first_table
from mczsl.estimator.labels import Label
from mczsl.estimator.model import Model
from mczsl.methods import get_method, make_config
from mczsl.methods.base import Setting
from mczsl.seeding import Seeds


def new_model(parameters: Any, said: Descriptions, labels: list[Label], features: int) -> Model:
    """A model as the parameters ask for, which knows these labels and has learned nothing."""
    _require_names(parameters)
    config = make_config(get_method(parameters.method), parameters.preset, parameters.settings)
    seed = whole_number("random_state", parameters.random_state, 2**32 - 1)
    capacity = whole_number("memory_size", parameters.memory_size, 2**40)
    device = available_device(parameters.device)
    classes, semantics = first_table(said, labels)
    setting = Setting(
        feature_dim=features,
        attribute_dim=classes.attribute_dim,
        memory_capacity=capacity,
        seeds=Seeds(training=seed, memory=seed),
        device=device,
    )
    return Model.new(parameters.method, config, setting, classes, semantics)


def whole_number(name: str, value: Any, most: int, least: int = 0) -> int:
    """A whole number within limits."""
    try:
        number = index(value) if not isinstance(value, bool) else least - 1
    except TypeError:
        number = least - 1
    if not least <= number <= most:
        raise ConfigError(f"{name}: must be a whole number from {least} to {most}, not {value!r}")
    return number


def share(name: str, value: Any) -> float:
    """A number from 0 to below 1."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) < 1:
        raise ConfigError(f"{name}: must be a number from 0 to below 1, not {value!r}")
    return float(value)


def _require_names(parameters: Any) -> None:
    """What must be texts, or a mapping with texts as keys."""
    for name in ("method", "preset"):
        if not isinstance(getattr(parameters, name), str):
            raise ConfigError(f"{name}: must be a name, not {getattr(parameters, name)!r}")
    settings = parameters.settings if parameters.settings is not None else {}
    if not isinstance(settings, Mapping) or not all(isinstance(key, str) for key in settings):
        raise ConfigError(f"settings: must be a mapping from name to value, not {settings!r}")


def available_device(name: Any) -> str:
    """The name of a device that this machine has."""
    try:
        torch.empty(1, device=torch.device(name)).cpu()
    except (RuntimeError, TypeError, AssertionError, NotImplementedError) as problem:
        reason = str(problem).partition("\n")[0]
        raise ConfigError(f"device {name!r} cannot be used here ({reason}); use 'cpu'") from None
    return str(name)
