"""(e) Seconds per step and resident memory as classes, samples and tasks grow."""

from __future__ import annotations

import multiprocessing
import statistics
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.timing import resident_mb, seconds
from benchmarks.worlds import make_classes, make_method, make_task
from mczsl.methods.base import Progress
from mczsl.protocols import TableSamples, Task

FEATURES, ATTRIBUTES, EPISODES, EPOCHS = 2048, 312, 10, 7
QUICK = {"episodes": EPISODES, "epochs": EPOCHS, "calibration": "none"}


def run() -> dict[str, Any]:
    """Three curves: the same episode size, while the world around it grows."""
    return {  # the many classes last: their samples stay in memory
        "samples": {n: _alone(_more_samples, n) for n in (10_000, 100_000, 1_000_000)},
        "tasks": _more_tasks((5, 50, 200)),
        "classes": _in_turns({n: _more_classes(n) for n in (100, 1_000, 5_000, 20_000)}),
    }


def _alone(work: Callable[[int], dict[str, float]], size: int) -> dict[str, float]:
    """In a process of its own, so that its memory is its own."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, context) as pool:
        return pool.submit(work, size).result()


def _in_turns(learners: dict[int, Iterator[Progress]]) -> dict[int, dict[str, float]]:
    """Milliseconds per episode of several learners, epoch by epoch in turns."""
    for learner in learners.values():
        next(learner)
    times: dict[int, list[float]] = {size: [] for size in learners}
    for _ in range(EPOCHS - 2):
        for size, learner in learners.items():
            times[size].append(seconds(lambda learner=learner: next(learner)))  # type: ignore[misc]
    return {
        size: {"milliseconds_per_episode": 1000 * statistics.median(values) / EPISODES}
        for size, values in times.items()
    }


def _more_classes(count: int) -> Iterator[Progress]:
    classes = make_classes(count, ATTRIBUTES)
    return make_method(FEATURES, ATTRIBUTES, **QUICK).learn(make_task(classes, FEATURES, 5))


def _more_samples(count: int) -> dict[str, float]:
    """A float16 table on disk, sampled through a memory map."""
    classes = make_classes(200, ATTRIBUTES)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "features.npy"
        table = np.lib.format.open_memmap(path, "w+", np.float16, (count, FEATURES))
        generator = np.random.default_rng(0)
        for start in range(0, count, 10_000):
            table[start : start + 10_000] = generator.random((10_000, FEATURES), np.float32)
        table.flush()
        del table
        mapped = np.load(path, mmap_mode="r")
        labels = np.arange(count) % 200
        samples = TableSamples(mapped, labels, np.arange(count))
        learner = make_method(FEATURES, ATTRIBUTES, **QUICK).learn(
            make_task(classes, FEATURES, 0, samples)
        )
        first = seconds(lambda: next(learner))
        times = [seconds(lambda: next(learner)) for _ in range(EPOCHS - 2)]
        step = statistics.median(times)
        return {
            "milliseconds_per_episode": 1000 * step / EPISODES,
            "seconds_before_the_first": first - step,
            "resident_mb": resident_mb(),
        }


def _more_tasks(marks: tuple[int, ...]) -> dict[int, dict[str, float]]:
    """One stream of many tasks with five classes each and a memory of fixed size."""
    settings = QUICK | {"epochs": 2, "ways": 5 * min(marks)}  # episodes of one size throughout
    method = make_method(FEATURES, ATTRIBUTES, memory_capacity=1000, **settings)
    classes = make_classes(5 * max(marks), ATTRIBUTES)
    before, steps, curve = [], [], {}
    for number in range(1, max(marks) + 1):
        seen = classes.select(slice(0, 5 * number))
        new = make_task(seen.select(slice(-5, None)), FEATURES, 20)
        learner = method.learn(Task(number - 1, new.samples, seen, new.unseen))
        first = seconds(lambda learner=learner: next(learner))  # type: ignore[misc]
        steps.append(seconds(lambda learner=learner: next(learner)))  # type: ignore[misc]
        last = seconds(lambda learner=learner: list(learner))  # type: ignore[misc]
        before.append(first - steps[-1] + last)
        if number in marks:
            curve[number] = {
                "milliseconds_per_episode": 1000 * statistics.median(steps[-5:]) / EPISODES,
                "milliseconds_around_a_task": 1000 * statistics.median(before[-5:]),
                "resident_mb": resident_mb(),
            }
    return curve
