import contextlib
import math
import os
import pty
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mczsl.cli.progress import watch
from mczsl.evaluation.stage import StageResult
from mczsl.runs.loop import RunProgress

RESULT = StageResult(0.5, 0.25, 1 / 3, 0.1, (0.5,))


def steps(result: StageResult = RESULT) -> Iterator[RunProgress]:
    for task in (1, 2):
        for epoch in (1, 2):
            yield RunProgress(task, 2, epoch, 2, 0.7, 3.0, 4.0)
        yield RunProgress(task, 2, 0, 1, None, 5.0, 6.0, result)


def test_elsewhere_it_is_a_line_for_each_task(capsys: pytest.CaptureFixture[str]) -> None:
    with watch() as listener:
        for progress in steps():
            listener(progress)
    written = capsys.readouterr()
    assert written.out == ""
    assert written.err.splitlines() == [
        "task 1/2: S 50.0 U 25.0 H 33.3, 5 s, 6 s left",
        "task 2/2: S 50.0 U 25.0 H 33.3, 5 s, 6 s left",
    ]


def test_what_cannot_be_measured_is_a_dash(capsys: pytest.CaptureFixture[str]) -> None:
    with watch() as listener:
        for progress in steps(StageResult(0.5, math.nan, math.nan, math.nan, (0.5,))):
            listener(progress)
    assert "S 50.0 U - H -" in capsys.readouterr().err


def test_on_a_terminal_it_is_a_bar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    master, slave = pty.openpty()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    with open(slave, "w", encoding="utf-8") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        with watch() as listener:
            for progress in steps():
                listener(progress)
    shown = b""
    with contextlib.suppress(OSError):  # how a terminal says that its other end is closed
        while part := os.read(master, 4096):
            shown += part
    os.close(master)
    shown = shown.decode()
    assert "task 2/2" in shown
    assert "5 s, 6 s left" in shown
