"""The published figures are what the published records say."""

import re
import statistics
from pathlib import Path

import pytest

from mczsl.experiments.folder import ResultFolder
from mczsl.experiments.results import Results, read_results
from mczsl.reports.page import render_page

README_ROWS = {"gzsl": "GZSL", "dynamic": "dynamic continual GZSL", "fixed": "fixed continual GZSL"}


@pytest.fixture(scope="module")
def published(repo_root: Path) -> dict[str, Results]:
    """Every experiment under ``results/``."""
    return {each.name: each for each in read_results(ResultFolder(repo_root / "results"))}


def test_the_page_is_made_of_the_records(
    repo_root: Path, published: dict[str, Results], tmp_path: Path
) -> None:
    template = repo_root / "docs" / "results" / "results.md.j2"
    render_page(template, list(published.values()), tmp_path / "results.md")
    made = (tmp_path / "results.md").read_text(encoding="utf-8")
    assert made == (repo_root / "docs" / "results.md").read_text(encoding="utf-8"), (
        "mend with: mczsl report results --template docs/results/results.md.j2 -o docs/results.md"
    )
    for picture in (tmp_path / "assets").iterdir():
        there = repo_root / "docs" / "assets" / picture.name
        assert picture.read_bytes() == there.read_bytes(), f"{there} is an old picture"


@pytest.mark.parametrize("protocol", README_ROWS)
def test_the_readme_quotes_the_records(
    repo_root: Path, published: dict[str, Results], protocol: str
) -> None:
    (row,) = re.findall(
        rf"^\| {README_ROWS[protocol]}[^|]*\|(.*)\|$",
        (repo_root / "README.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    records = [
        run.state.record
        for results in published.values()
        if results.name.startswith("table")
        for run in results.runs
        if run.label == "MCZSL" and run.state.record is not None
    ]
    for semantics, quoted in zip(("att", "sent"), row.split("|"), strict=True):
        wanted = ("CUB", semantics, protocol)
        own = [r for r in records if (r["dataset"], r["semantics"], r["protocol"]) == wanted]
        assert len(own) == 3
        mSA, mUA, mH = ([record[name] for record in own] for name in ("mSA", "mUA", "mH"))
        expected = (
            f"{statistics.mean(mSA):.1f} / {statistics.mean(mUA):.1f} / "
            f"**{statistics.mean(mH):.1f} ± {statistics.stdev(mH):.1f}**"
        )
        assert quoted.strip() == expected
