"""The page about the classifier runs as it stands, and its figures are what comes out."""

import contextlib
import io
import re
import shlex
import sys
from pathlib import Path

import pytest

from mczsl.cli import main

FENCE = re.compile(r"^```(python|text|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FIGURE = re.compile(r"\d+%")


def run_python(code: str, names: dict[str, object]) -> str:
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        exec(compile(code, "docs/estimator.md", "exec"), names)
    return shown.getvalue()


def run_console(lines: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for line in lines.splitlines():
        monkeypatch.setattr(sys, "argv", shlex.split(line.removeprefix("$ ")))
        with contextlib.redirect_stdout(io.StringIO()), pytest.raises(SystemExit) as stop:
            main()
        assert not stop.value.code, line


def test_the_page_tells_the_truth(
    repo_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for package in ("pyarrow", "onnxruntime", "onnxscript"):
        pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    blocks = FENCE.findall((repo_root / "docs" / "estimator.md").read_text(encoding="utf-8"))
    assert {"python", "text", "console"} == {kind for kind, _ in blocks}
    names: dict[str, object] = {"__name__": "page"}
    shown = ""
    for kind, content in blocks:
        if kind == "python":
            assert not shown, f"the page does not show this: {shown}"
            shown = run_python(content, names)
        elif kind == "console":
            run_console(content, monkeypatch)
        else:
            assert FIGURE.sub("%", shown) == FIGURE.sub("%", content)
            printed, found = FIGURE.findall(content), FIGURE.findall(shown)
            for promised, measured in zip(printed, found, strict=True):
                # Another machine rounds differently, which training amplifies a little.
                assert abs(int(promised[:-1]) - int(measured[:-1])) <= 10, (promised, measured)
            shown = ""
    assert not shown
    assert "unseen" in (tmp_path / "ranked.csv").read_text()
