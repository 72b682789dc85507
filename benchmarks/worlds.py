"""Methods and tasks of given shapes, without a dataset behind them."""

from __future__ import annotations

from typing import Any

import torch

from mczsl.evaluation.calibration import build_method
from mczsl.methods import get_method, make_config
from mczsl.methods.base import Method, Setting
from mczsl.protocols import ClassSet, Samples, Task, TensorSamples


def make_method(
    feature_dim: int, attribute_dim: int, memory_capacity: int = 0, **settings: Any
) -> Method:
    """MCZSL's default preset for features and attributes of these dimensions."""
    config = make_config(get_method("mczsl"), "default", settings)
    return build_method("mczsl", config, Setting(feature_dim, attribute_dim, memory_capacity))


def make_classes(count: int, attribute_dim: int, first: int = 0) -> ClassSet:
    """Classes with random attributes."""
    generator = torch.Generator().manual_seed(first)
    attributes = torch.rand(count, attribute_dim, generator=generator) + 0.01
    return ClassSet(torch.arange(first, first + count), attributes)


def make_task(
    classes: ClassSet, feature_dim: int, per_class: int, samples: Samples | None = None
) -> Task:
    """A task with random samples of each class."""
    if samples is None:
        features = torch.rand(len(classes) * per_class, feature_dim)
        samples = TensorSamples(features, classes.ids.repeat_interleave(per_class))
    return Task(0, samples, classes, classes.select(torch.empty(0, dtype=torch.int64)))
