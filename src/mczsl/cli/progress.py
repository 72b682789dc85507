"""Showing a run's progress: a bar on a terminal, plain lines elsewhere, always on stderr."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mczsl.runs.loop import Listener, RunProgress


@contextmanager
def watch() -> Iterator[Listener]:
    """A listener for a run."""
    if not sys.stderr.isatty():
        yield _print_line
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[note]}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        line = bar.add_task("starting", total=1.0, note="")

        def show(progress: RunProgress) -> None:
            finished = progress.task - (progress.result is None)
            share = finished / progress.tasks
            if progress.result is None:
                share += progress.epoch / progress.epochs / progress.tasks
            bar.update(line, completed=share, description=_where(progress), note=_times(progress))

        yield show


def _print_line(progress: RunProgress) -> None:
    """One line for each task that is done: a log file wants no more."""
    if progress.result is not None:
        result = progress.result
        named = {"S": result.seen, "U": result.unseen, "H": result.harmonic}
        shares = " ".join(f"{name} {_percent(share)}" for name, share in named.items())
        where = f"task {progress.task}/{progress.tasks}"
        print(f"{where}: {shares}, {_times(progress)}", file=sys.stderr)


def _percent(share: float) -> str:
    return "-" if math.isnan(share) else f"{100 * share:.1f}"


def _where(progress: RunProgress) -> str:
    loss = "" if progress.loss is None else f" loss {progress.loss:.3f}"
    return f"task {progress.task}/{progress.tasks} epoch {progress.epoch}/{progress.epochs}{loss}"


def _times(progress: RunProgress) -> str:
    return f"{progress.seconds:.0f} s, {progress.seconds_left:.0f} s left"
