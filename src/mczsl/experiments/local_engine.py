"""The grid on this machine: one process with one thread for each run, some at a time."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerContext
from multiprocessing.process import BaseProcess
from typing import NamedTuple

from mczsl.experiments import worker
from mczsl.experiments.folder import ResultFolder, is_locked
from mczsl.runs.config import RunConfig
from mczsl.runs.interrupts import catch_signals

_ATTEMPTS = 2  # a process that dies without a word gets another try, from its checkpoint
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
_LOOK_EVERY = 0.2  # seconds between two looks for signals


class Job(NamedTuple):
    """One run to do: its name for people, its key, its configuration, the id of its data."""

    label: str
    key: str
    config: RunConfig
    data: str


OnEnd = Callable[[Job, worker.Failure | None], None]


def run_locally(folder: ResultFolder, jobs: Sequence[Job], processes: int, on_end: OnEnd) -> None:
    """Do every job; ``on_end`` hears of each that ended, with what went wrong if something did."""
    pool = _Pool(folder, on_end)
    waiting = list(jobs)
    with catch_signals() as stop, _forkserver() as context:
        try:
            while (waiting or pool.running) and stop.number is None:
                free = [job for job in waiting if not is_locked(folder.run(job.key))]
                for job in free[: processes - len(pool.running)]:
                    waiting.remove(job)
                    pool.start(context, job)
                waiting += pool.collect()
            pool.stop()
        finally:
            for process in pool.running:
                process.kill()
        stop.check()


class _Pool:
    """The processes at work."""

    def __init__(self, folder: ResultFolder, on_end: OnEnd):
        self._folder, self._on_end = folder, on_end
        self.running: dict[BaseProcess, tuple[Job, Connection]] = {}
        self._deaths: Counter[str] = Counter()
        self._stopping = False

    def start(self, context: ForkServerContext, job: Job) -> None:
        receive, send = context.Pipe(duplex=False)
        places = self._folder.run(job.key), self._folder.data(job.data)
        arguments = (job.config.model_dump_json(), *places, send)
        process = context.Process(target=worker.work, args=arguments, daemon=True)
        process.start()
        send.close()
        self.running[process] = job, receive

    def collect(self) -> list[Job]:
        """Deal with the processes that have ended; gives the jobs that have to be done again."""
        wait([process.sentinel for process in self.running], timeout=_LOOK_EVERY)
        again = []
        for process in [process for process in self.running if not process.is_alive()]:
            job, receive = self.running.pop(process)
            process.join()
            with receive:
                if self._ended(job, process.exitcode or 0, receive):
                    again.append(job)
        return again

    def stop(self) -> None:
        """Let the processes finish their step, save, and go."""
        self._stopping = True
        for process in self.running:
            process.terminate()
        while self.running:
            self.collect()

    def _ended(self, job: Job, exit_code: int, receive: Connection) -> bool:
        """Report how a job ended; gives whether to do it again."""
        if worker.is_finished(self._folder.run(job.key)):
            self._on_end(job, None)
            return False
        if exit_code == worker.BUSY or self._stopping:
            return True
        if exit_code == 1 and receive.poll():
            self._on_end(job, worker.Failure(*json.loads(receive.recv_bytes())))
            return False
        self._deaths[job.key] += 1
        if self._deaths[job.key] < _ATTEMPTS:
            return True
        self._on_end(job, worker.Failure("failed", _cause_of_death(exit_code)))
        return False


def _cause_of_death(exit_code: int) -> str:
    if exit_code < 0:
        name = signal.Signals(-exit_code).name
        hint = "; it may have run out of memory: try fewer --jobs" if name == "SIGKILL" else ""
        return f"the process was killed by {name} {_ATTEMPTS} times{hint}"
    return f"the process ended with exit code {exit_code} {_ATTEMPTS} times, without a record"


@contextmanager
def _forkserver() -> Iterator[ForkServerContext]:
    """A server that has imported torch, so that a process starts at once; one thread for each."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["mczsl.experiments.worker", "torch._dynamo"])
    before = {name: os.environ.get(name) for name in _THREAD_VARIABLES}
    os.environ |= dict.fromkeys(_THREAD_VARIABLES, "1")
    try:
        yield context
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
