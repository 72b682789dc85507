"""(g) GZSL training of every system side by side on CUB: processor seconds, multiples of MCZSL's.

All are in training at the same time, in one thread, and whichever has done the smallest share of
its epochs goes on: whatever else the machine does slows all of them alike. The generative systems
stand there twice, with their published numbers of epochs (``paper``) too.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from benchmarks.training import real_cub_or_synthetic
from mczsl.runs.config import RunConfig
from mczsl.runs.loop import Run

SYSTEMS = ("mczsl", "nm_zsl", "cvae_res", "cada_res", "sequential", "eszsl")
PUBLISHED = ("cvae_res", "cada_res", "mczsl")
_SLICE = 1.0  # seconds that a system goes on for before another one has its turn


def run() -> dict[str, Any]:
    """GZSL with short and with published epochs."""
    short, published = [(name, "default") for name in SYSTEMS], [(n, "paper") for n in PUBLISHED]
    return side_by_side(real_cub_or_synthetic(), short + published)


def side_by_side(config: RunConfig, systems: list[tuple[str, str]]) -> dict[str, Any]:
    """Train these methods, each with a preset; seconds of each, and multiples of MCZSL's."""
    dataset = Run(config).dataset
    trained = {}
    for name, preset in systems:
        own = config.model_copy(update={"method": name, "preset": preset, "threads": 1})
        trained[f"{name} ({preset})"] = _Training(Run(own, dataset))
    while left := [training for training in trained.values() if training.share < 1]:
        min(left, key=lambda training: training.share).go_on()
    unit = trained["mczsl (default)"].seconds
    times = {
        label: {"seconds": round(training.seconds, 2), "ratio": round(training.seconds / unit, 2)}
        for label, training in trained.items()
    }
    return {"dataset": f"{dataset.name} {dataset.provenance.get('features')}", "times": times}


class _Training:
    """A run that can be stopped after any epoch; ``share`` of it is done."""

    def __init__(self, run: Run):
        self.share = self.seconds = 0.0
        self._steps = _learn(run)

    def go_on(self) -> None:
        """Train for a while."""
        begin = time.process_time()  # of this process, whatever else the machine does
        while self.share < 1 and time.process_time() - begin < _SLICE:
            self.share = next(self._steps, 1.0)
        self.seconds += time.process_time() - begin


def _learn(run: Run) -> Iterator[float]:
    """Learn all tasks; gives the share of the run that is done, less than 1 until all of it is."""
    tasks = len(run.plan.stages)
    for index in range(tasks):
        task = run.plan.task(run.dataset, index, run.method.uses_unseen_attributes)
        for progress in run.method.learn(task):
            yield (index + min(0.99, progress.epoch / progress.epochs)) / tasks
