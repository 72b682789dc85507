"""The checks, one function for each promise of the contract."""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from mczsl import storage
from mczsl.methods.base import Method, State
from mczsl.seeding import numpy_generator
from mczsl.testing.learning import (
    every_task_is_learned,
    no_more_samples_are_kept_than_allowed,
)
from mczsl.testing.subject import CheckError, Subject, scores, shake
from mczsl.testing.world import WORLD, World, make_world


def check_scores(subject: Subject, method: Method, world: World = WORLD) -> None:
    """Scores are finite and (samples, classes), whichever samples are scored together."""
    classes = world.classes([*world.seen, *world.unseen])
    found = scores(method, world)
    expected = (len(world.labels), len(classes))
    subject.require(
        found.shape == expected, f"scores have shape {tuple(found.shape)}, not {expected}"
    )
    subject.require(bool(found.isfinite().all()), "some scores are not finite")
    for part in (slice(0, 0), slice(1, 2), slice(3, 9)):
        alone = method.scores(world.samples[part], classes).detach().cpu()
        subject.require(
            _close(alone, found[part]), "a sample's scores depend on the samples scored with it"
        )


def every_task_gives_sound_scores(subject: Subject) -> None:
    """Learn each task; progress and scores are sound after it."""
    method = subject.build()
    for index in range(len(WORLD.tasks)):
        steps = list(subject.steps(method, WORLD, index))
        subject.require(
            bool(steps), "learn() yields nothing; yield Progress(epoch, epochs) now and then"
        )
        for progress in steps:
            subject.require(
                1 <= progress.epoch <= progress.epochs,
                f"progress says epoch {progress.epoch} of {progress.epochs}; count from 1",
            )
        check_scores(subject, method)


def same_seeds_give_the_same_bits(subject: Subject) -> None:
    """The seeds decide everything."""
    first, second = scores(subject.learned()), scores(subject.learned())
    subject.require(
        torch.equal(first, second),
        "the same seeds gave other scores; draw random numbers from mczsl.seeding only",
    )


def resuming_equals_never_stopping(subject: Subject) -> None:
    """Stored after every task and taken up by a new instance, it ends with the same bits."""
    resumed = subject.build()
    for index in range(len(WORLD.tasks)):
        for _ in subject.steps(resumed, WORLD, index):
            pass
        state = resumed.state()
        _require_plain(subject, state)
        with tempfile.TemporaryDirectory() as folder:
            storage.save(Path(folder), "state", storage.Stored(state.tensors, state.values))
            stored = storage.load(Path(folder), "state")
        resumed = subject.build()
        resumed.load_state(State(dict(stored.tensors), dict(stored.values)))
    subject.require(
        torch.equal(scores(resumed), scores(subject.learned())),
        "a resumed run ends with other scores; state() leaves something out",
    )


def a_state_is_a_snapshot(subject: Subject) -> None:
    """What state() gave does not change when learning goes on."""
    method = subject.build()
    list(subject.steps(method, WORLD, 0))
    state, before = method.state(), scores(method)
    list(subject.steps(method, WORLD, 1))
    restored = subject.build()
    restored.load_state(state)
    subject.require(
        torch.equal(scores(restored), before),
        "learning on changed a state that was taken before; state() must copy",
    )


def looking_on_changes_nothing(subject: Subject) -> None:
    """Scores and state taken at every step leave the result as it is."""
    watched = subject.build()
    for index in range(len(WORLD.tasks)):
        for _ in subject.steps(watched, WORLD, index):
            scores(watched)
            watched.state()
    subject.require(
        torch.equal(scores(watched), scores(subject.learned())),
        "scoring between two steps of learning changed what is learned",
    )


def the_future_is_out_of_sight(subject: Subject) -> None:
    """Rows outside the current task make no difference, whether real or NaN."""
    subject.require(
        torch.equal(scores(subject.learned(poisoned=False)), scores(subject.learned())),
        "rows outside the current task changed the scores; use task.samples.take() only",
    )


def inputs_and_surroundings_stay_as_they_were(subject: Subject) -> None:
    """Building, learning and scoring change no input and nothing that others share."""
    shake()  # else what an earlier check left behind could be what this method always leaves
    around = _surroundings()
    method = subject.build()
    tasks = [WORLD.task(i, method.uses_unseen_attributes) for i in range(len(WORLD.tasks))]
    classes = WORLD.classes([*WORLD.seen, *WORLD.unseen])
    features = WORLD.samples - 0.5  # negative ones too: an absolute value in place would show

    def inputs() -> list[Tensor]:
        parts = [classes, *(part for task in tasks for part in (task.seen, task.unseen))]
        tensors = [tensor for part in parts for tensor in (part.ids, part.attributes)]
        samples = [task.samples for task in tasks]
        taken = [each.take(torch.arange(len(each.labels))) for each in samples]
        labels = [each.labels for each in samples]
        return [tensor.clone() for tensor in (*tensors, *taken, *labels, features)]

    before = inputs()
    for task in tasks:
        list(method.learn(task))
        method.scores(features, classes)
        subject.require(
            all(map(torch.equal, before, inputs())),
            f"learning task {task.index + 1} or scoring after it changed its input in place; "
            "change a copy",
        )
    subject.require(
        _surroundings() == around,
        "building, learning or scoring changed a global random state or a global setting of "
        "torch; draw from mczsl.seeding, and build a net inside torch.random.fork_rng()",
    )


def single_classes_and_samples_suffice(subject: Subject) -> None:
    """A stream that begins with one class of one sample, then one class, then two."""
    world = make_world([[1], [5], [1, 1]])
    check_scores(subject, subject.learned(world), world)


def old_classes_may_come_again(subject: Subject) -> None:
    """A task that brings no new class, and the same samples once more."""
    world = replace(WORLD, tasks=WORLD.tasks[:1] * 2)
    method = subject.build()
    for index in range(2):
        task = world.task(index, method.uses_unseen_attributes)
        seen = world.classes(WORLD.tasks[0])
        list(method.learn(replace(task, seen=seen)))
    check_scores(subject, method)


def any_memory_will_do(subject: Subject) -> None:
    """No memory, room for one sample, and more room than there are samples."""
    for capacity in (0, 1, 10**6):
        check_scores(subject, replace(subject, capacity=capacity).learned())


def candidates_may_come_in_any_order(subject: Subject) -> None:
    """Columns of scores follow the classes; a further class leaves the others alone."""
    method, numbers = subject.learned(), [*WORLD.seen, *WORLD.unseen]
    found = scores(method)
    turned = method.scores(WORLD.samples, WORLD.classes(numbers[::-1])).detach().cpu()
    subject.require(
        _close(turned.flip(1), found), "scores depend on the order of the candidate classes"
    )
    if method.classes_are_independent:
        alone = [method.scores(WORLD.samples, WORLD.classes([number])) for number in numbers]
        subject.require(
            _close(torch.cat(alone, dim=1).detach().cpu(), found),
            "a further candidate changed the scores of the others, although the method says "
            "classes_are_independent",
        )


def class_numbers_mean_nothing(subject: Subject) -> None:
    """Other class numbers, with gaps and in another order, give the same predictions.

    A class that was never learned can have any number. Where the numbers decide the order of random
    draws, the same only in distribution: over some seeds the accuracy on the samples of the seen
    classes must not be halved.
    """
    _require_that_unseen_classes_are_known_by_attributes(subject)
    numbers = [*WORLD.seen, *WORLD.unseen]
    drawn = numpy_generator(0, "check method", "numbers").choice(1000, len(numbers), False)
    other = WORLD.relabelled(dict(zip(numbers, drawn.tolist(), strict=True)))
    before, after = [], []
    for seed in range(3):
        seeded = replace(subject, seed=seed)
        found, again = scores(seeded.learned()), scores(seeded.learned(other), other)
        if _close(found, again):
            return
        before.append(_seen_accuracy(found, WORLD))
        after.append(_seen_accuracy(again, other))
    subject.require(
        np.mean(after) >= np.mean(before) / 2,
        f"with other class numbers the accuracy on seen classes falls from {np.mean(before):.2f} "
        f"to {np.mean(after):.2f}; find a class by its number in task.seen.ids, not by position",
    )


CHECKS: tuple[Callable[[Subject], None], ...] = (
    every_task_gives_sound_scores,
    same_seeds_give_the_same_bits,
    resuming_equals_never_stopping,
    a_state_is_a_snapshot,
    looking_on_changes_nothing,
    the_future_is_out_of_sight,
    inputs_and_surroundings_stay_as_they_were,
    single_classes_and_samples_suffice,
    old_classes_may_come_again,
    any_memory_will_do,
    no_more_samples_are_kept_than_allowed,
    candidates_may_come_in_any_order,
    class_numbers_mean_nothing,
    every_task_is_learned,
)


def _require_that_unseen_classes_are_known_by_attributes(subject: Subject) -> None:
    method, classes = subject.learned(), WORLD.classes([*WORLD.seen, *WORLD.unseen])
    others = classes.ids.clone()
    others[len(WORLD.seen) :] = 1001 - 3 * others[len(WORLD.seen) :]
    renamed = method.scores(WORLD.samples, replace(classes, ids=others)).detach().cpu()
    subject.require(
        _close(renamed, scores(method)),
        "another number for a class that was never learned changed scores; go by its attributes",
    )


def _require_plain(subject: Subject, state: State) -> None:
    for name, tensor in state.tensors.items():
        subject.require(isinstance(tensor, Tensor), f"state: {name!r} is a {type(tensor).__name__}")
    try:
        again = json.loads(json.dumps(state.values, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise CheckError(f"{subject.name}: state: values are not plain JSON ({error})") from None
    subject.require(
        again == state.values, "state: values change on their way through JSON (tuples, keys?)"
    )


def _surroundings() -> tuple[Any, ...]:
    """What everybody shares: the global random states, and settings of torch."""
    states = str(np.random.get_state(legacy=False)), random.getstate()
    torch_settings = torch.get_num_threads(), torch.get_default_dtype(), torch.is_grad_enabled()
    return (*states, torch.random.get_rng_state().tolist(), torch_settings)


def _close(one: Tensor, other: Tensor) -> bool:
    """Equal but for rounding, which depends on the shapes that are multiplied."""
    if one.shape != other.shape:
        return False
    size = float(other.abs().max()) if other.numel() else 0.0
    return torch.allclose(one, other, rtol=1e-4, atol=1e-4 * min(1.0, size))


def _seen_accuracy(found: Tensor, world: World) -> float:
    rows = np.flatnonzero(np.isin(world.labels, world.seen))
    guesses = np.array(world.seen)[found[rows, : len(world.seen)].argmax(dim=1).numpy()]
    return float((guesses == world.labels[rows]).mean())
