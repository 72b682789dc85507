"""``mczsl run --profile``: where the time goes."""

from __future__ import annotations

import cProfile
import pstats
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePath
from typing import Any

from mczsl.cli.output import show_table

_ROWS = 15


@contextmanager
def profiled(wanted: bool) -> Iterator[None]:
    """Profile the body, if wanted, and print the functions that took most of the time."""
    if not wanted:
        yield
        return
    profile = cProfile.Profile()
    try:
        with profile:
            yield
    finally:
        _show(profile)


def _show(profile: cProfile.Profile) -> None:
    stats: dict[Any, Any] = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    total = sum(own for _, _, own, _, _ in stats.values())
    busiest = sorted(stats.items(), key=lambda item: -item[1][2])[:_ROWS]
    rows = [
        [100 * own / total, own, calls, _name(*where)] for where, (_, calls, own, _, _) in busiest
    ]
    show_table(
        ["%", "seconds", "calls", "function"],
        rows,
        title=f"Where {total:.1f} s went (time in the function itself)",
        caption="run_backward is the gradient, linear and mm are matrix products",
    )


def _name(path: str, line: int, function: str) -> str:
    """A function as people look for it: its file's last two parts, line and name."""
    if path == "~":
        return function.strip("<>")
    return f"{'/'.join(PurePath(path).parts[-2:])}:{line} {function}"
