"""Checks of what a method learns from a task, and of what it keeps of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from mczsl.methods import get_method
from mczsl.methods.base import State
from mczsl.testing.subject import Subject
from mczsl.testing.world import World, make_world

EVEN = make_world([[8, 8, 8, 8], [8, 8, 8, 8]])
"""Four classes in each task, none with a single sample: its mean would be that sample."""

CLEARLY = 0.5
"""How much labels must matter, in deviations of the scores. The methods here reach 1.8 and more."""


def every_task_is_learned(subject: Subject) -> None:
    """Right after each task, its samples lean towards the classes that they are labelled with.

    Settings that were chosen to be quick may be too small for that; then the method's own numbers
    have to do.
    """
    fault = _what_is_not_learned(subject)
    if fault is not None:
        fault = _what_is_not_learned(replace(subject, settings=_with_its_own_numbers(subject)))
    subject.require(fault is None, fault or "")


def _what_is_not_learned(subject: Subject) -> str | None:
    for task, gain in _gains(subject):
        if gain < CLEARLY:
            what = "make next to no difference" if gain > -CLEARLY else "are taken for others"
            return (
                f"the labels of task {task} {what}; learn from the samples of every task, find "
                "their class by its number in task.seen.ids, and score the likelier class higher"
            )
    return None


def _gains(subject: Subject) -> Iterator[tuple[int, float]]:
    """For each two classes of a task, how much it matters which of them a sample is labelled with.

    Each task is learned twice from the same state, the second time with the samples of the two
    exchanged. What is forgotten later does not count, nor what a method can tell of a class from
    its attributes alone.
    """
    method, exchanged = subject.build(), _with_pairs_exchanged(EVEN)
    for index, numbers in enumerate(EVEN.tasks):
        other = subject.build()
        other.load_state(method.state())
        list(subject.steps(method, EVEN, index))
        list(subject.steps(other, exchanged, index))
        rows = np.flatnonzero(np.isin(EVEN.labels, numbers))
        samples, classes = EVEN.samples[rows], EVEN.classes(numbers)
        with torch.no_grad():
            found = method.scores(samples, classes).double().cpu()
            against = other.scores(samples, classes).double().cpu()
        size = max(float(found.std()), 1e-12)
        own = EVEN.labels[rows, None] == np.array(numbers)
        for first in range(0, len(numbers), 2):
            pair = slice(first, first + 2)
            is_own = torch.from_numpy(own[:, pair])
            gain = _lead(found[:, pair], is_own) - _lead(against[:, pair], is_own)
            yield index + 1, gain / size


def _lead(found: Tensor, is_own: Tensor) -> float:
    """How much higher the samples of two classes score for their own class than for the other.

    Both classes together: what speaks for one of them whatever the sample cancels out.
    """
    of_both = is_own.any(dim=1)
    signs = torch.where(is_own, 1.0, -1.0)
    return 2 * float((found * signs)[of_both].sum(dim=1).mean())


def _with_pairs_exchanged(world: World) -> World:
    partner: dict[int, int] = {}
    for task in world.tasks:
        for one, two in zip(task[::2], task[1::2], strict=True):
            partner |= {one: two, two: one}
    return replace(world, labels=np.array([partner.get(n, n) for n in world.labels.tolist()]))


def _with_its_own_numbers(subject: Subject) -> dict[str, Any]:
    """The given settings without the numbers that have a default."""
    fields = get_method(subject.name).Config.model_fields
    return {
        key: value
        for key, value in subject.settings.items()
        if fields[key].is_required() or isinstance(value, bool | str) or value is None
    }


def no_more_samples_are_kept_than_allowed(subject: Subject) -> None:
    """The state has at most as many samples of past tasks as the memory's capacity.

    Only samples that are kept as they came can be recognised, not what was computed from them.
    """
    for capacity in (0, 10):
        method = replace(subject, capacity=capacity).build()
        allowed = method.memory_capacity
        if allowed is None:  # it says that there is no limit, and so does every result
            return
        subject.require(
            allowed <= capacity,
            f"memory_capacity says {allowed} where {capacity} samples may be kept; return None if "
            "the method keeps samples without limit",
        )
        for index in range(len(EVEN.tasks)):
            list(subject.steps(method, EVEN, index))
            kept = len(_rows(torch.from_numpy(EVEN.features)) & _rows_of(method.state()))
            subject.require(
                kept <= allowed,
                f"after task {index + 1} the state has {kept} samples of the past, although "
                f"{allowed} may be kept; keep setting.memory_capacity at most, or let "
                "memory_capacity return None",
            )


def _rows_of(state: State) -> set[bytes]:
    width = EVEN.features.shape[1]
    tensors = [tensor for tensor in state.tensors.values() if tensor.numel() % width == 0]
    return {row for tensor in tensors for row in _rows(tensor.reshape(-1, width))}


def _rows(table: Tensor) -> set[bytes]:
    return {row.tobytes() for row in table.detach().cpu().float().numpy()}
