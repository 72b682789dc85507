"""The same grid on a Ray cluster: data through the object store, records back to the driver.

A run that loses its worker or its node is done again elsewhere. Only the driver writes, one record
for each key, so nothing is counted twice.
"""

from __future__ import annotations

import os
import socket
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from mczsl import storage
from mczsl.data import FeatureDataset, Splits
from mczsl.errors import ConfigError, MczslError, StorageError
from mczsl.experiments import worker
from mczsl.experiments.analysis import ANALYSIS
from mczsl.experiments.folder import ResultFolder, is_locked, locked
from mczsl.experiments.local_engine import Job, OnEnd
from mczsl.experiments.shared_data import open_shared
from mczsl.runs.code_version import code_version
from mczsl.runs.config import RunConfig
from mczsl.runs.interrupts import catch_signals
from mczsl.runs.loop import RUN_FILE

_RETRIES = 10  # of a run whose worker or node died
_LOOK_EVERY = 0.5  # seconds between two looks for signals


def run_on_ray(
    folder: ResultFolder, jobs: Sequence[Job], processes: int, on_end: OnEnd, address: str | None
) -> None:
    """Do every job on the cluster at ``address``, or on this machine alone without one."""
    with _connected(address, processes) as ray, catch_signals() as stop, ExitStack() as locks:
        cluster = _Cluster(ray, folder, on_end, locks)
        waiting = list(jobs)
        while (waiting or cluster.running) and stop.number is None:
            free = [job for job in waiting if not is_locked(folder.run(job.key))]
            for job in free[: cluster.size() - len(cluster.running)]:
                if cluster.begin(job):
                    waiting.remove(job)
            cluster.collect()
        for reference in cluster.running:
            ray.cancel(reference, force=True)
        stop.check()


class _Cluster:
    """What is at work, and where its results go."""

    def __init__(self, ray: Any, folder: ResultFolder, on_end: OnEnd, locks: ExitStack):
        self._ray, self._folder, self._on_end, self._locks = ray, folder, on_end, locks
        self._data: dict[str, Any] = {}
        self._execute = ray.remote(num_cpus=1, max_retries=_RETRIES)(execute_remotely)
        self.running: dict[Any, tuple[Job, ExitStack]] = {}

    def size(self) -> int:
        """How many runs to have under way: some wait, so that no processor does."""
        return 2 * max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def begin(self, job: Job) -> bool:
        """Hand a job to the cluster; gives False if another command is at it just now."""
        lock = self._locks.enter_context(ExitStack())
        if not lock.enter_context(locked(self._folder.run(job.key))):
            return False
        if worker.is_finished(self._folder.run(job.key)):  # that other command did it
            self._end(job, lock, None)
            return True
        try:
            data = self._shared(job.data)
        except (MczslError, self._ray.exceptions.RayError) as error:
            self._end(job, lock, worker.Failure("failed", f"the data cannot be shared: {error}"))
            return True
        code = code_version(job.config.method)
        reference = self._execute.remote(job.config.model_dump_json(), data, code)
        self.running[reference] = job, lock
        return True

    def collect(self) -> None:
        """Keep the results that have arrived."""
        if not self.running:
            time.sleep(_LOOK_EVERY)
            return
        ready, _ = self._ray.wait(list(self.running), timeout=_LOOK_EVERY)
        for reference in ready:
            job, lock = self.running.pop(reference)
            self._end(job, lock, self._keep(job, reference))

    def _shared(self, data: str) -> Any:
        """The dataset in the object store, where it is put once."""
        if data not in self._data:
            self._data[data] = self._ray.put(_pack(open_shared(self._folder.data(data))))
        return self._data[data]

    def _keep(self, job: Job, reference: Any) -> worker.Failure | None:
        folder = self._folder.run(job.key)
        try:
            outcome = self._ray.get(reference)
        except self._ray.exceptions.RayError as error:
            return worker.Failure("failed", f"Ray lost the run: {error}")
        if "failure" in outcome:
            return worker.Failure(*outcome["failure"])
        try:
            (folder / "error.json").unlink(missing_ok=True)
            for name, content in outcome["files"].items():  # the record is the last one
                storage.write_atomically(folder / name, content)
        except StorageError as error:
            return worker.Failure("failed", str(error))
        return None

    def _end(self, job: Job, lock: ExitStack, failure: worker.Failure | None) -> None:
        with lock:
            self._on_end(job, failure)


def execute_remotely(config_json: str, packed: dict[str, Any], code: str) -> dict[str, Any]:
    """On a node of the cluster: do a run; gives its files, or what went wrong."""
    try:
        config = RunConfig.model_validate_json(config_json)
        if code_version(config.method) != code:
            raise ConfigError(
                f"the node {os.uname().nodename} has other code ({code_version(config.method)}, "
                f"not {code}); install the same version of mczsl on all nodes"
            )
        with tempfile.TemporaryDirectory(prefix="mczsl-") as name:
            worker.execute(config, Path(name), _unpack(packed))
            files = {
                file: (Path(name) / file).read_bytes()
                for file in (RUN_FILE, ANALYSIS, "record.json")
            }
        return {"files": files}
    except Exception as error:
        return {"failure": worker.Failure.of(error)}


@contextmanager
def _connected(address: str | None, processes: int) -> Iterator[Any]:
    """Ray, connected to the cluster."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except (ImportError, RuntimeError) as error:
        hint = "pip install 'mczsl[ray]'"
        raise ConfigError(f"the engine ray needs Ray ({error}); {hint}") from None
    if address:
        _require_answer(address)
    # Alone, as many processors as there are jobs; a cluster has its own.
    alone = {} if address else {"num_cpus": processes, "include_dashboard": False}
    try:
        ray.init(address=address or "local", log_to_driver=False, logging_level="error", **alone)
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        reason = " ".join(str(error).split())
        raise ConfigError(f"no Ray cluster at {address or 'this machine'}: {reason}") from None
    try:
        yield ray
    finally:
        ray.shutdown()


def _require_answer(address: str) -> None:
    """Ray itself would knock for minutes at a door that nobody opens."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not colon or not port.isdigit():
        return  # such as "auto"
    try:
        socket.create_connection((host, int(port)), timeout=10).close()
    except OSError as error:
        raise ConfigError(
            f"nothing answers at {address} ({error}); start a cluster with `ray start --head` and "
            "give its address"
        ) from None


def _pack(dataset: FeatureDataset) -> dict[str, Any]:
    """Plain arrays and values, which Ray shares between the processes of a node."""
    return {
        "name": dataset.name,
        "features": np.ascontiguousarray(dataset.features),
        "labels": dataset.labels,
        "class_names": dataset.class_names,
        "attributes": dataset.attributes,
        "sets": dataset.splits.sets(),
        "validation_classes": dataset.splits.validation_classes,
        "provenance": dict(dataset.provenance),
    }


def _unpack(packed: dict[str, Any]) -> FeatureDataset:
    parts = dict(packed)
    splits = Splits(**parts.pop("sets"), validation_classes=parts.pop("validation_classes"))
    return FeatureDataset(splits=splits, **parts)
