"""A folder of results: experiments that were asked for, and the runs that they share.

    experiments/<name>.json   what was asked for last under this name, with the key of every run
    runs/<key>/               run.json, record.json; progress.json and checkpoint/ until it is done;
                              error.json if it failed
    data/<id>/                datasets, for the processes to map into memory

A key is a hash of configuration, data and code, so equal keys mean equal results.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from mczsl import storage
from mczsl.errors import StorageError

if TYPE_CHECKING:
    from mczsl.runs.config import RunConfig
    from mczsl.runs.record import Record

State = Literal["finished", "running", "stopped", "waiting", "diverged", "failed", "broken"]
_NOT_IN_KEY = {"dataset", "features", "semantics", "data_root"}  # the data's id says more
_FIGURES = {"mSA", "mUA", "mH", "ausuc", "forgetting", "train_seconds", "total_seconds"}
_TEXTS = {"status", "dataset", "protocol", "method", "calibration", "version", "torch", "platform"}
_OTHERS = {
    *("features", "semantics", "candidates", "uses_unseen_attributes", "memory_capacity"),
    *("peak_memory_mb", "device", "threads", "fingerprint", "preset"),
}


@dataclass(frozen=True)
class RunState:
    """Where a run is; ``record`` if it is finished, ``error`` if it is not going to be."""

    state: State
    record: Record | None = None
    error: str | None = None
    progress: dict[str, Any] | None = None


def run_key(config: RunConfig, data: str, code: str) -> str:
    """The name of a run: configuration, data and code."""
    told = config.model_dump(mode="json", exclude=_NOT_IN_KEY)
    text = json.dumps([told, data, code], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:20]


@dataclass(frozen=True)
class ResultFolder:
    """The folder that ``--out`` names."""

    path: Path

    def run(self, key: str) -> Path:
        """Where the run of this key is."""
        return self.path / "runs" / key

    def data(self, name: str) -> Path:
        """Where the dataset of this id is."""
        return self.path / "data" / name

    def write_plan(self, name: str, plan: dict[str, Any]) -> None:
        """Keep what was asked for under this name."""
        content = json.dumps(plan, indent=1).encode()
        storage.write_atomically(self.path / "experiments" / f"{name}.json", content)

    def plans(self) -> dict[str, dict[str, Any]]:
        """Every experiment that was asked for, by name."""
        files = sorted((self.path / "experiments").glob("*.json"))
        found = {path.stem: read_json(path) for path in files}
        if not found:
            raise StorageError(
                f"{self.path}: holds no experiments; make some with `mczsl bench NAME --out "
                f"{self.path}`"
            )
        return found

    def state(self, key: str) -> RunState:
        """Where the run of this key is."""
        folder = self.run(key)
        if (folder / "record.json").exists():
            try:
                record = read_record(folder / "record.json")
            except StorageError as error:
                return RunState("broken", error=str(error))
            if record["status"] == "finished":
                return RunState("finished", record)
        if is_locked(folder):
            return RunState("running", progress=_read_or_none(folder / "progress.json"))
        if (failure := _read_or_none(folder / "error.json")) is not None:
            state: State = "diverged" if failure.get("kind") == "diverged" else "failed"
            return RunState(state, error=str(failure.get("message")))
        return RunState("stopped" if (folder / "run.json").exists() else "waiting")


def read_record(path: Path) -> Record:
    """A run's record, if it is whole and of the right kind."""
    record = read_json(path)
    match record:
        case {"tasks": [*tasks], "seeds": {}, "config": {}, "run": {}}:
            figures = [record.get(name, "") for name in _FIGURES]
            figures += [task.get(name, "") for task in tasks for name in "SUH"]
            sound = all(value is None or isinstance(value, int | float) for value in figures)
            sound &= all(isinstance(record.get(name), str) for name in _TEXTS)
            if sound and record.keys() >= _OTHERS:
                return record
    raise StorageError(f"{path}: is no whole record; the same bench command repeats the run")


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object from a file."""
    try:
        value = json.loads(path.read_bytes())
    except OSError as error:
        raise StorageError(f"{path}: cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise StorageError(f"{path}: is damaged ({error}); run the same bench again") from None
    if not isinstance(value, dict):
        raise StorageError(f"{path}: is damaged (no object); run the same bench again")
    return value


@contextmanager
def locked(folder: Path) -> Iterator[bool]:
    """Hold the folder's lock; gives False, without waiting, if another process has it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        why = storage.why_not_written(error)
        raise StorageError(f"{folder}: cannot be written: {why}") from error
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            os.truncate(handle, 0)
            os.write(handle, str(os.getpid()).encode())  # for people who wonder who it is
            yield True
    finally:
        os.close(handle)


def is_locked(folder: Path) -> bool:
    """Whether a process is at work in the folder."""
    try:
        handle = os.open(folder / "lock", os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


def _read_or_none(path: Path) -> dict[str, Any] | None:
    try:
        return read_json(path)
    except StorageError:
        return None
