"""One run of a grid in a process of its own: continues where it was, ends in a record or error."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import signal
import sys
import time
import traceback
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

from mczsl import storage
from mczsl.data import FeatureDataset
from mczsl.errors import DivergedError, MczslError, StorageError
from mczsl.experiments.analysis import Analysis
from mczsl.experiments.folder import locked, read_record
from mczsl.experiments.shared_data import open_shared
from mczsl.runs.config import RunConfig
from mczsl.runs.interrupts import Interrupted
from mczsl.runs.loop import CHECKPOINT, RUN_FILE, Listener, Run, RunProgress
from mczsl.runs.record import Record

BUSY = 75  # exit code: another process is at this run
_BETWEEN_PROGRESS = 2.0  # seconds


class Failure(NamedTuple):
    """Why a run gave no record: ``diverged`` would come again, ``failed`` may be mended."""

    kind: str
    message: str

    @classmethod
    def of(cls, error: BaseException) -> Failure:
        """What to keep of an exception: for a user's mistake the message, else the trace."""
        if isinstance(error, MczslError):
            return cls("diverged" if isinstance(error, DivergedError) else "failed", str(error))
        return cls("failed", "".join(traceback.format_exception(error)))

    def write(self, folder: Path) -> None:
        """Mark the run in this folder."""
        content = json.dumps(self._asdict(), indent=1).encode()
        storage.write_atomically(folder / "error.json", content)


def work(config_json: str, folder: Path, data: Path, failures: Connection) -> None:
    """The body of a local process; what goes wrong is told to the parent, as JSON."""
    os.setsid()  # the terminal's Ctrl-C is for the parent, which passes it on once
    config = RunConfig.model_validate_json(config_json)
    with locked(folder) as mine:
        if not mine:
            sys.exit(BUSY)
        try:
            if not is_finished(folder):
                execute(config, folder, open_shared(data))
        except Interrupted as stopped:
            sys.exit(stopped.exit_code)
        except Exception as error:
            failures.send_bytes(json.dumps(Failure.of(error)).encode())
            sys.exit(1)


def execute(config: RunConfig, folder: Path, dataset: FeatureDataset) -> Record:
    """Run, from the last checkpoint if there is a sound one; leaves a record and nothing else."""
    for stale in ("error.json", "record.json"):
        (folder / stale).unlink(missing_ok=True)
    storage.write_atomically(folder / RUN_FILE, config.model_dump_json(indent=1).encode())
    run = Run(config, dataset)
    if (folder / CHECKPOINT / storage.MANIFEST).exists():
        try:
            run.restore(folder)
        except StorageError:  # damaged: it costs time, but nothing else
            run = Run(config, dataset)
    record = run.finish(folder, _listener(run, folder))
    shutil.rmtree(folder / CHECKPOINT, ignore_errors=True)
    (folder / "progress.json").unlink(missing_ok=True)
    return record


def is_finished(folder: Path) -> bool:
    """Whether there is a sound record of the whole run."""
    try:
        return bool(read_record(folder / "record.json")["status"] == "finished")
    except StorageError:
        return False


def _listener(run: Run, folder: Path) -> Listener:
    """Keeps the progress and the analysis; stops when nobody waits for the result any more."""
    analysis, last = Analysis(run, folder), 0.0

    def listen(progress: RunProgress) -> None:
        nonlocal last
        parent = multiprocessing.parent_process()
        if parent is not None and not parent.is_alive():
            raise Interrupted(signal.SIGTERM)
        if progress.result is not None:
            analysis.add_stage()
        if time.monotonic() - last > _BETWEEN_PROGRESS:
            last = time.monotonic()
            told = {
                "task": progress.task,
                "tasks": progress.tasks,
                "seconds": progress.seconds,
                "seconds_left": progress.seconds_left,
            }
            storage.write_atomically(folder / "progress.json", json.dumps(told).encode())

    return listen
