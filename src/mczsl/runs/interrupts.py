"""Stopping cleanly: a signal is noted, and acted upon between two steps of training."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupted(Exception):
    """A run was asked to stop. ``exit_code`` is the shell's convention for that signal."""

    def __init__(self, number: int):
        super().__init__(f"stopped by {signal.Signals(number).name}")
        self.exit_code = 128 + number


class StopRequest:
    """Remembers the first SIGINT or SIGTERM."""

    def __init__(self) -> None:
        self.number: int | None = None

    def check(self) -> None:
        """Raise :class:`Interrupted` if a signal has come."""
        if self.number is not None:
            raise Interrupted(self.number)


@contextmanager
def catch_signals() -> Iterator[StopRequest]:
    """Collect signals while the body runs; a second one stops at once, as without this."""
    request = StopRequest()
    if threading.current_thread() is not threading.main_thread():
        yield request  # only the main thread can handle signals
        return

    def note(number: int, frame: FrameType | None) -> None:
        request.number = number
        restore()

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    for number in before:
        signal.signal(number, note)
    try:
        yield request
    finally:
        restore()
