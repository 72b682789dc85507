"""One run from data to record, with a checkpoint after every task."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

import mczsl
from mczsl import storage
from mczsl.data import FeatureDataset, load_dataset
from mczsl.errors import ConfigError, DivergedError, StorageError
from mczsl.evaluation.calibration import build_method
from mczsl.evaluation.stage import StageResult, evaluate
from mczsl.methods import get_method, make_config
from mczsl.methods.base import Progress, Setting, State
from mczsl.protocols import make_plan
from mczsl.runs.code_version import code_if_known
from mczsl.runs.config import RunConfig
from mczsl.runs.interrupts import Interrupted, catch_signals
from mczsl.runs.record import Record, Status, make_record, write_record

CHECKPOINT, RUN_FILE = "checkpoint", "run.json"


@dataclass(frozen=True)
class RunProgress:
    """Where a run is: task and epoch (from 1), the newest loss, seconds used and left.

    ``result`` is there once, when a task has been learned and tested.
    """

    task: int
    tasks: int
    epoch: int
    epochs: int
    loss: float | None
    seconds: float
    seconds_left: float
    result: StageResult | None = None


Listener = Callable[[RunProgress], None]


def run(config: RunConfig, out: Path | None = None, listener: Listener | None = None) -> Record:
    """Run from the beginning; with ``out``, into a folder that :func:`resume` can continue."""
    if out is not None and (out / RUN_FILE).exists():
        raise StorageError(
            f"{out}: already holds a run; continue it with --resume {out}, or choose another folder"
        )
    fresh = Run(config)
    if out is not None:
        storage.write_atomically(out / RUN_FILE, config.model_dump_json(indent=1).encode())
    return fresh.finish(out, listener)


def resume(out: Path, listener: Listener | None = None, method: str | None = None) -> Record:
    """Continue the run in a folder; it ends bit-identical to one that was never interrupted.

    ``method`` may name the run's method, which makes a method in a file of one's own known.
    """
    path = out / RUN_FILE
    try:
        config = RunConfig.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        raise StorageError(f"{out}: there is no run here to continue (no {RUN_FILE})") from None
    except (OSError, ValueError) as error:
        raise StorageError(f"{path}: is damaged ({error}); start the run again") from None
    if method not in (None, config.method):
        raise ConfigError(f"{out}: is a run of {config.method!r}, not of {method!r}")
    continued = Run(config)
    if (out / CHECKPOINT / storage.MANIFEST).exists():
        continued.restore(out)
    return continued.finish(out, listener)


class Run:
    """A run in progress: its data, its plan, its method, and the results so far.

    The data are loaded as the configuration says, unless they are handed in.
    """

    def __init__(self, config: RunConfig, dataset: FeatureDataset | None = None):
        if config.threads:
            torch.set_num_threads(config.threads)
        if config.device.startswith("cuda") and not torch.cuda.is_available():
            raise ConfigError(f"device {config.device!r} is not available here; use --device cpu")
        method_config = make_config(get_method(config.method), config.preset, config.settings)
        self.config = config
        self.dataset = dataset or load_dataset(
            config.dataset,
            features=config.features,
            semantics=config.semantics,
            root=config.data_root,
        )
        self.plan = make_plan(
            self.dataset,
            config.protocol,
            tasks=config.tasks,
            memory_per_class=config.memory_per_class,
            seeds=config.seeds,
        )
        setting = Setting(
            feature_dim=self.dataset.features.shape[1],
            attribute_dim=self.dataset.attributes.shape[1],
            memory_capacity=self.plan.memory_capacity,
            seeds=config.seeds,
            device=config.device,
        )
        self.method = build_method(config.method, method_config, setting)
        self.results: list[StageResult] = []
        self.train_seconds = self.total_seconds = 0.0

    def finish(self, out: Path | None = None, listener: Listener | None = None) -> Record:
        """Learn and test every stage that is left; returns the record."""
        with catch_signals() as stop:
            try:
                for index in range(len(self.results), len(self.plan.stages)):
                    begin = time.perf_counter()
                    task = self.plan.task(self.dataset, index, self.method.uses_unseen_attributes)
                    for progress in self.method.learn(task):
                        self._report(listener, progress, time.perf_counter() - begin)
                        stop.check()
                    self.train_seconds += time.perf_counter() - begin
                    stages = self.plan.stages[: index + 1]
                    result = evaluate(self.method, self.dataset, stages, self.config.candidates)
                    self.results.append(result)
                    self.total_seconds += time.perf_counter() - begin
                    if out is not None:
                        self.save(out)
                    self._report(listener, Progress(0, 1), 0.0, result)
                    stop.check()
            except (Interrupted, DivergedError) as stopped:
                if out is not None:
                    status: Status = (
                        "interrupted" if isinstance(stopped, Interrupted) else "diverged"
                    )
                    write_record(out, self.record(status))
                raise
        record = self.record()
        if out is not None:
            write_record(out, record)
        return record

    def record(self, status: Status = "finished") -> Record:
        """The record of what has been done so far."""
        return make_record(
            status,
            self.config,
            self.dataset,
            self.plan,
            self.method,
            self.results,
            self.train_seconds,
            self.total_seconds,
        )

    def save(self, out: Path) -> None:
        """Write a checkpoint, in place of the one before."""
        state = self.method.state()
        values = {
            "fingerprint": self.dataset.fingerprint,
            "run": self._identity(),
            "version": mczsl.__version__,
            "code": code_if_known(self.config.method),
            "threads": torch.get_num_threads(),
            "method": state.values,
            "results": [_without_nan(asdict(result)) for result in self.results],
            "train_seconds": self.train_seconds,
            "total_seconds": self.total_seconds,
        }
        storage.save(out / CHECKPOINT, "checkpoint", storage.Stored(state.tensors, values))

    def restore(self, out: Path) -> None:
        """Take over a checkpoint, if this very run made it."""
        stored = storage.load(out / CHECKPOINT, "checkpoint")
        try:
            self._take_over(stored, out)
        except (KeyError, TypeError, ValueError, RuntimeError) as error:
            raise StorageError(
                f"{out}: mczsl {mczsl.__version__} cannot continue a checkpoint of mczsl "
                f"{stored.values.get('version')} ({error}); start a new run"
            ) from error

    def _take_over(self, stored: storage.Stored, out: Path) -> None:
        values = stored.values
        if values["fingerprint"] != self.dataset.fingerprint:
            raise StorageError(
                f"{out}: this run was begun on other data (fingerprint {values['fingerprint']}, "
                f"now {self.dataset.fingerprint}); restore the data or start a new run"
            )
        if values["run"] != self._identity():
            raise StorageError(
                f"{out}: {RUN_FILE} was changed since the checkpoint was made; undo that, or start "
                "a new run"
            )
        if values["code"] != code_if_known(self.config.method):
            raise StorageError(
                f"{out}: this run was begun with other code; go back to that, or start a new run"
            )
        torch.set_num_threads(values["threads"])  # another count would round differently
        self.method.load_state(State(dict(stored.tensors), values["method"]))
        self.results = [StageResult(**_with_nan(result)) for result in values["results"]]
        self.train_seconds, self.total_seconds = values["train_seconds"], values["total_seconds"]

    def _identity(self) -> dict[str, Any]:
        """What decides the result; where the data lie does not."""
        return self.config.model_dump(mode="json", exclude={"data_root"})

    def _report(
        self,
        listener: Listener | None,
        progress: Progress,
        seconds: float,
        result: StageResult | None = None,
    ) -> None:
        if listener is None:
            return
        tasks, finished = len(self.plan.stages), len(self.results)
        done = (finished + progress.epoch / progress.epochs) / tasks
        used = self.total_seconds + seconds
        listener(
            RunProgress(
                task=min(finished + (result is None), tasks),
                tasks=tasks,
                epoch=progress.epoch,
                epochs=progress.epochs,
                loss=progress.loss,
                seconds=used,
                seconds_left=used / done * (1 - done),
                result=result,
            )
        )


def _without_nan(values: dict[str, Any]) -> dict[str, Any]:
    """JSON knows no NaN."""
    return {
        key: [None if math.isnan(item) else item for item in value]
        if isinstance(value, tuple)
        else (None if math.isnan(value) else value)
        for key, value in values.items()
    }


def _with_nan(values: dict[str, Any]) -> dict[str, Any]:
    return {
        key: tuple(math.nan if item is None else item for item in value)
        if isinstance(value, list)
        else (math.nan if value is None else value)
        for key, value in values.items()
    }
