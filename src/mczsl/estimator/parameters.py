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
from mczsl.estimator.model import Model, Origin
from mczsl.methods import get_method, make_config
from mczsl.methods.base import MethodConfig, Setting
from mczsl.seeding import Seeds


def new_model(parameters: Any, said: Descriptions, labels: list[Label], features: int) -> Model:
    """A model as the parameters ask for, which knows these labels and has learned nothing."""
    origin = _origin(parameters)
    config = _config(origin)
    capacity = memory_size(parameters)
    device = available_device(parameters.device)
    classes, semantics = first_table(said, labels)
    setting = Setting(
        feature_dim=features,
        attribute_dim=classes.attribute_dim,
        memory_capacity=capacity,
        seeds=Seeds(training=origin.random_state, memory=origin.random_state),
        device=device,
    )
    return Model.new(origin, config, setting, classes, semantics)


def adapted(model: Model, parameters: Any) -> Model:
    """The model with what the parameters ask for now; what cannot be changed is an error."""
    _require_same(model.origin, _origin(parameters))
    return with_memory_size(model, parameters)


def with_memory_size(model: Model, parameters: Any) -> Model:
    """The model with a memory of the size that the parameters ask for now."""
    capacity = memory_size(parameters)
    is_same = capacity == model.method.setting.memory_capacity
    return model if is_same else model.with_memory(capacity)


def memory_size(parameters: Any) -> int:
    """How many samples the parameters allow a model to keep."""
    return whole_number("memory_size", parameters.memory_size, 2**40)


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


def _origin(parameters: Any) -> Origin:
    _require_names(parameters)
    settings = None if parameters.settings is None else dict(parameters.settings)
    seed = whole_number("random_state", parameters.random_state, 2**32 - 1)
    return Origin(parameters.method, parameters.preset, settings, seed)


def _config(origin: Origin) -> MethodConfig:
    return make_config(get_method(origin.method), origin.preset, origin.settings)


def _require_same(made: Origin, asked: Origin) -> None:
    """Refuse a change that a model which has learned something cannot follow."""
    changed = [name for name in ("method", "random_state") if _differs(name, made, asked)]
    # Both are read by this version: a preset may have been another when the model was saved.
    if not changed and _config(made) != _config(asked):
        changed = [name for name in ("preset", "settings") if _differs(name, made, asked)]
    if changed:
        name = changed[0]
        raise ConfigError(
            f"{name}: is {getattr(asked, name)!r} now, but the model was made with "
            f"{getattr(made, name)!r} and cannot change it while it learns on; set it back, or "
            "call fit to begin anew"
        )


def _differs(name: str, made: Origin, asked: Origin) -> bool:
    return bool(getattr(made, name) != getattr(asked, name))


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
