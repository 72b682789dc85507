"""ESZSL: the continual solution is the joint one, and the joint one is the paper's formula."""

from dataclasses import replace

import numpy as np
import torch

from mczsl.data import FeatureDataset
from mczsl.methods.base import Method
from mczsl.methods.eszsl import ESZSL
from mczsl.protocols import Plan, SelectedSamples
from tests.methods.streams import build, learned, reversed_order, stream


def solution(method: Method) -> torch.Tensor:
    assert isinstance(method, ESZSL)
    return method.map


def closed_form(dataset: FeatureDataset, plan: Plan, gamma: float, lambda_: float) -> np.ndarray:
    """The paper's equation on all data at once, with Y of 1 and -1 written out."""
    rows = np.concatenate([stage.train_rows for stage in plan.stages])
    seen = plan.stages[-1].seen
    X = dataset.features[rows].astype(np.float64)
    S = dataset.attributes[seen].astype(np.float64)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    S /= np.linalg.norm(S, axis=1, keepdims=True)
    Y = np.where(dataset.labels[rows][:, None] == seen, 1.0, -1.0)
    left = np.linalg.inv(X.T @ X + gamma * np.eye(X.shape[1]))
    right = np.linalg.inv(S.T @ S + lambda_ * np.eye(S.shape[1]))
    return left @ X.T @ Y @ S @ right


def test_task_by_task_gives_the_joint_solution() -> None:
    dataset, plan = stream("dynamic", tasks=6)
    continual = solution(learned("eszsl", dataset, plan, gamma=0.5, lambda_=0.1))
    _, at_once = stream("gzsl", tasks=None)
    joint = solution(learned("eszsl", dataset, at_once, gamma=0.5, lambda_=0.1))
    torch.testing.assert_close(continual, joint, rtol=1e-9, atol=1e-9)
    expected = closed_form(dataset, plan, 0.5, 0.1)
    torch.testing.assert_close(joint, torch.from_numpy(expected), rtol=1e-9, atol=1e-9)


def test_the_order_of_the_tasks_does_not_matter() -> None:
    dataset, plan = stream("fixed", tasks=5)
    forwards, backwards = (
        learned("eszsl", dataset, plan),
        learned("eszsl", dataset, reversed_order(plan)),
    )
    torch.testing.assert_close(solution(forwards), solution(backwards), rtol=1e-9, atol=1e-9)


def test_a_class_that_comes_again_is_described_once() -> None:
    """Two halves of a class's samples in two tasks are the same as the whole in one."""
    dataset, plan = stream("gzsl", tasks=None)
    task = plan.task(dataset, 0)
    method = build("eszsl", dataset, 0)
    rows = torch.arange(len(task.samples.labels))
    for part in (rows[::2], rows[1::2]):
        list(method.learn(replace(task, samples=SelectedSamples(task.samples, part))))
    whole = solution(learned("eszsl", dataset, plan))
    torch.testing.assert_close(solution(method), whole, rtol=1e-9, atol=1e-9)
