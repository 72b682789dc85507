"""Real processes that start at once: forked from a server that has imported torch already.

They can be killed, limited and signalled like any other, which the test's own process cannot.
"""

import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Mapping
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, NamedTuple

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(
    ["mczsl.cli", "mczsl.runs.loop", "mczsl.estimator.classifier", "torch._dynamo"]
)


def start(target: Callable[..., Any], *arguments: Any) -> BaseProcess:
    """A process that calls an importable function."""
    process = _context.Process(target=target, args=arguments, daemon=True)
    process.start()
    return process


def start_command(
    folder: Path, *arguments: str, environment: Mapping[str, str | None] | None = None
) -> BaseProcess:
    """``mczsl ARGUMENTS`` with its output in ``stdout`` and ``stderr`` in the folder.

    A variable that is None is unset. Programs that start afresh see more of their environment: of
    this one, only what is read after the start.
    """
    folder.mkdir(parents=True, exist_ok=True)
    return start(_command, folder, arguments, dict(environment or {}))


class Finished(NamedTuple):
    """How a command ended, and what it wrote."""

    code: int | None
    stdout: str
    stderr: str


def run_command(
    folder: Path, *arguments: str, environment: Mapping[str, str | None] | None = None
) -> Finished:
    """``mczsl ARGUMENTS``, to its end."""
    process = start_command(folder, *arguments, environment=environment)
    process.join()
    out, err = ((folder / name).read_text(encoding="utf-8") for name in ("stdout", "stderr"))
    return Finished(process.exitcode, out, err)


def wait_until(happened: Callable[[], bool], process: BaseProcess) -> None:
    """Until it happened, or the process has ended without."""
    while not happened() and process.is_alive():
        time.sleep(0.001)


def _command(folder: Path, arguments: tuple[str, ...], environment: dict[str, str | None]) -> None:
    for stream, name in ((sys.stdout, "stdout"), (sys.stderr, "stderr")):
        with open(folder / name, "w") as file:
            os.dup2(file.fileno(), stream.fileno())
    for name, value in environment.items():
        os.environ.pop(name, None)
        if value is not None:
            os.environ[name] = value
    sys.argv = ["mczsl", *arguments]
    from mczsl.cli import main

    main()
