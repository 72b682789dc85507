"""Learning a small stream with any method, for the tests of methods."""

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from mczsl.data import FeatureDataset, load_dataset
from mczsl.evaluation.calibration import build_method
from mczsl.evaluation.stage import StageResult, evaluate
from mczsl.methods import get_method, make_config
from mczsl.methods.base import Method, Setting
from mczsl.protocols import Plan, class_set, make_plan
from mczsl.seeding import Seeds

STREAM = "synthetic:classes=24,unseen=6,samples=20,features=32,attributes=16,difficulty=0.2"


def stream(protocol: str = "dynamic", tasks: int | None = 4) -> tuple[FeatureDataset, Plan]:
    """A dataset that is learned in seconds, and its tasks."""
    dataset = load_dataset(STREAM)
    return dataset, make_plan(dataset, protocol, tasks=tasks)


def learned(
    name: str, dataset: FeatureDataset, plan: Plan, seed: int = 0, **settings: Any
) -> Method:
    """The method after all tasks of the plan."""
    method = build(name, dataset, plan.memory_capacity, seed, **settings)
    for index in range(len(plan.stages)):
        list(method.learn(plan.task(dataset, index, method.uses_unseen_attributes)))
    return method


def build(
    name: str, dataset: FeatureDataset, capacity: int, seed: int = 0, **settings: Any
) -> Method:
    """The untrained method."""
    config = make_config(get_method(name), settings=settings)
    dims = dataset.features.shape[1], dataset.attributes.shape[1]
    setting = Setting(*dims, capacity, Seeds(training=seed, memory=seed))
    return build_method(name, config, setting)


def result(method: Method, dataset: FeatureDataset, plan: Plan) -> StageResult:
    """How well the method does after the last task."""
    return evaluate(method, dataset, plan.stages)


def all_scores(method: Method, dataset: FeatureDataset) -> Tensor:
    """Scores of all samples against all classes."""
    classes = class_set(dataset, np.arange(dataset.n_classes))
    return method.scores(torch.from_numpy(np.asarray(dataset.features)), classes)


def reversed_order(plan: Plan) -> Plan:
    """The same tasks, the last one first; ``seen`` grows in the new order."""
    stages = plan.stages[::-1]
    grown = [np.concatenate([s.new_classes for s in stages[: n + 1]]) for n in range(len(stages))]
    return replace(
        plan, stages=tuple(replace(s, seen=g) for s, g in zip(stages, grown, strict=True))
    )
