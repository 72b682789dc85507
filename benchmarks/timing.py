"""Timing two things in turns, so that a noisy machine slows both alike."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path

Work = Callable[[], object]


def seconds(work: Work) -> float:
    """How long one call takes."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def in_turns(first: Work, second: Work, rounds: int) -> tuple[float, float]:
    """Median seconds of each, measured alternately after one unmeasured round."""
    first(), second()
    pairs = [(seconds(first), seconds(second)) for _ in range(rounds)]
    one, two = zip(*pairs, strict=True)
    return statistics.median(one), statistics.median(two)


def resident_mb() -> float:
    """Memory that this process has resident now, mapped files included."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise OSError("no VmRSS in /proc/self/status: this benchmark needs Linux")
