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
from typing import Any

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
    folder: Path, *arguments: str, environment: Mapping[str, str] | None = None
) -> BaseProcess:
    """``mczsl ARGUMENTS`` with its output in ``stdout`` and ``stderr`` in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    return start(_command, folder, arguments, dict(environment or {}))


def wait_until(happened: Callable[[], bool], process: BaseProcess) -> None:
    """Until it happened, or the process has ended without."""
    while not happened() and process.is_alive():
        time.sleep(0.001)


def _command(folder: Path, arguments: tuple[str, ...], environment: dict[str, str]) -> None:
    for stream, name in ((sys.stdout, "stdout"), (sys.stderr, "stderr")):
        with open(folder / name, "w") as file:
            os.dup2(file.fileno(), stream.fileno())
    os.environ |= environment
    sys.argv = ["mczsl", *arguments]
    from mczsl.cli import main

    main()
