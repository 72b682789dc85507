"""The page: one file, nothing from elsewhere, and it works in a real browser."""

import io
import json
import re
import shlex
import shutil
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from typer.testing import CliRunner

from mczsl.cli import app
from mczsl.experiments.folder import ResultFolder
from mczsl.experiments.results import read_results
from mczsl.reports.html import render_html, run_command
from tests.reports.made_up import CONFIG, made_up, record
from tests.worlds import SMALL

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def page_file(results_folder: ResultFolder) -> Path:
    path = results_folder.path / "report.html"
    path.write_text(render_html(read_results(results_folder)), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    driver = pytest.importorskip("playwright.sync_api", exc_type=ImportError)
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip("no Chromium here (Debian: apt-get install chromium)")
    with driver.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def page(browser: "Browser", page_file: Path) -> Iterator["Page"]:
    """The page, opened; whatever it complains about or asks for fails the test."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    problems: list[str] = []
    page.on("console", lambda message: problems.append(message.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on(
        "request", lambda asked: problems.append(asked.url) if "file:" not in asked.url else None
    )
    page.goto(page_file.as_uri())
    yield page
    context.close()
    assert [text for text in problems if text not in ("data:,", page_file.as_uri())] == []


def column(page: "Page", table: int, heading: str) -> list[str]:
    """The texts of a column, from top to bottom."""
    return page.evaluate(
        """([table, heading]) => {
            const found = document.querySelectorAll("table.sortable")[table];
            const row = [...found.tHead.rows].at(-1);
            const at = [...row.cells].findIndex((cell) => cell.textContent.trim() === heading);
            return [...found.tBodies[0].rows].map((each) => each.cells[at].textContent.trim());
        }""",
        [table, heading],
    )


def picture(png: bytes) -> np.ndarray:
    image = pytest.importorskip("PIL.Image")
    return np.asarray(image.open(io.BytesIO(png)).convert("L")).astype(np.int16)


def test_names_do_no_harm(page: "Page") -> None:
    assert page.evaluate("window.evil") is None
    assert page.locator("img").count() == 0


def test_a_click_on_a_heading_sorts(page: "Page") -> None:
    heading = page.locator("table.sortable").first.locator("th", has_text=re.compile(r"^mH"))
    before = column(page, 0, "mH")
    assert before[2] == "–"  # the run that diverged
    means = sorted(float(text.split()[0]) for text in before[:2])
    heading.locator("button").click()
    assert heading.get_attribute("aria-sort") == "ascending"
    assert [text.split()[0] for text in column(page, 0, "mH")] == [
        *(f"{mean:.2f}" for mean in means), "–"
    ]  # fmt: skip
    heading.locator("button").click()
    assert heading.get_attribute("aria-sort") == "descending"
    assert [text.split()[0] for text in column(page, 0, "mH")] == [
        *(f"{mean:.2f}" for mean in reversed(means)), "–"
    ]  # fmt: skip
    page.locator("table.sortable").first.locator("th", has_text="method").locator("button").click()
    assert heading.get_attribute("aria-sort") == "none"
    assert column(page, 0, "method") == sorted(column(page, 0, "method"), key=str.lower)


def test_a_legend_hides_its_series_by_mouse_and_by_keyboard(page: "Page") -> None:
    chart = page.locator("svg.chart", has=page.locator("g.key")).first
    key = chart.locator("g.key").first
    series = chart.locator("g.series").first
    assert series.is_visible()
    key.click()
    assert not series.is_visible()
    assert key.get_attribute("aria-pressed") == "false"
    key.press("Enter")
    assert series.is_visible()


def test_the_map_follows_the_task_and_its_boxes(page: "Page") -> None:
    marks = page.locator("#map > *")
    prototypes = page.locator("#map .prototype")
    assert page.locator("#map-task-number").text_content() == "3 of 3"
    assert prototypes.count() == 12
    assert page.locator("#map rect").count() == 0  # nothing is unseen any more
    page.locator("#map-task").fill("1")
    assert page.locator("#map-task-number").text_content() == "1 of 3"
    assert page.locator("#map rect.prototype").count() == 8
    everything = marks.count()
    page.locator("#map-features").uncheck()
    assert marks.count() == 12 < everything
    page.locator("#map-prototypes").uncheck()
    assert marks.count() == 0


def test_another_run_shows_another_inside(page: "Page") -> None:
    before = page.locator("#map").inner_html()
    page.locator("#inside-run").select_option(index=1)
    assert page.locator("#map").inner_html() != before
    assert page.locator("#worst tbody tr").count() == 10
    assert "after task 2" in page.locator("#worst caption").inner_text()
    assert "distance left for calibration, not a result" in page.locator("#left").inner_text()


def test_charts_of_every_kind_are_there(page: "Page") -> None:
    captions = " ".join(page.locator("figcaption").all_inner_texts())
    for kind in ("H per task", "Memory", "Ablation", "Seen and unseen", "Training time"):
        assert kind in captions
    assert page.locator("svg.chart polygon.band").count() > 0
    for svg in page.locator("svg.chart").all():
        assert svg.get_attribute("aria-label")


def test_it_fits_a_phone(browser: "Browser", page_file: Path) -> None:
    context = browser.new_context(viewport={"width": 360, "height": 740}, is_mobile=True)
    page = context.new_page()
    page.goto(page_file.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    sizes = page.evaluate(
        """() => [...document.querySelectorAll("svg.chart text")]
            .map((text) => text.getBoundingClientRect().height)"""
    )
    assert min(sizes) > 8, "letters in charts are too small to read"
    context.close()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 360)])
def test_pictures_are_not_blank(
    browser: "Browser", page_file: Path, scheme: Any, width: int
) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 800}, color_scheme=scheme, reduced_motion="reduce"
    )
    page = context.new_page()
    page.goto(page_file.as_uri())
    whole = picture(page.screenshot(full_page=True))
    paper = whole[2, 2]
    assert (paper > 200) == (scheme == "light")
    inked = np.abs(whole - paper) > 30
    assert inked.mean() > 0.01
    blank_rows = np.diff(np.flatnonzero(inked.any(axis=1)), prepend=0, append=len(inked))
    assert blank_rows.max() < 500, "a stretch of the page is empty"
    for chart in (page.locator("svg.chart").first, page.locator("#map")):
        pixels = picture(chart.screenshot())
        assert len(np.unique(pixels)) > 20
        assert np.abs(pixels - pixels[1, 1]).max() > 100, "nothing in the chart stands out"
    context.close()


def test_it_prints(page: "Page", tmp_path: Path) -> None:
    content = page.pdf(path=tmp_path / "page.pdf", format="A4")
    assert content.startswith(b"%PDF")
    assert len(content) > 20_000
    page.emulate_media(media="print")
    assert not page.locator("nav").is_visible()
    assert page.locator("#inside-name").is_visible()
    page.set_viewport_size({"width": 690, "height": 1000})  # what A4 has room for
    beyond = "e => e.scrollWidth > e.clientWidth + 1"
    assert not any(each.evaluate(beyond) for each in page.locator("pre").all())


class _Tags(HTMLParser):
    """Notes what is open, what is loaded, and which ids there are."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.loaded: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.ids += [values["id"]] if values.get("id") else []
        self.loaded += [v for k, v in attrs if k in ("src", "href") and v and v[0] != "#"]
        if tag not in ("meta", "link", "input", "br", "img"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass  # opens nothing

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_whole_and_loads_nothing(page_file: Path) -> None:
    text = page_file.read_text(encoding="utf-8")
    tags = _Tags()
    tags.feed(text)
    assert tags.open == []
    assert tags.loaded == ["data:,"]
    assert len(tags.ids) == len(set(tags.ids))
    assert "url(" not in text
    assert "mczsl bench table2 tasks memory ablation" in text


def test_failures_are_on_the_page(page_file: Path) -> None:
    text = page_file.read_text(encoding="utf-8")
    assert "2 failed" in text
    assert "lower learning rate" in text


def test_a_page_of_runs_without_any_analysis() -> None:
    text = render_html([made_up([("A", 0, record())])])
    assert 'id="inside"' not in text
    assert "Made up" in text


def test_every_row_has_its_own_look_inside(tmp_path: Path) -> None:
    """Also those of one label that differ in candidates or memory."""
    made = made_up(
        [
            ("A", 0, record()),
            ("A", 0, record(), {"candidates": "restricted"}),
            ("A", 0, record(), {"memory_per_class": 1}),
        ]
    )
    runs = []
    for number, run in enumerate(made.runs):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "analysis.json").write_text(json.dumps({"number": number}))
        runs.append(replace(run, folder=folder))
    text = render_html([replace(made, runs=tuple(runs))])
    found = re.search(r'id="inside-data">(.*?)</script>', text)
    assert found
    where = "data/res101/att, fixed continual GZSL"
    assert {name: each["number"] for name, each in json.loads(found.group(1)).items()} == {
        f"A: {where}, candidates joint, seed 0": 0,
        f"A: {where}, candidates restricted, seed 0": 1,
        f"A, memory 1: {where}, candidates joint, seed 0": 2,
    }


def test_the_command_of_a_run_is_that_run() -> None:
    config = CONFIG | {
        "dataset": SMALL,
        "features": "generated",
        "semantics": "generated",
        "protocol": "dynamic",
        "preset": "paper",
        "tasks": 2,
        "memory_per_class": 3,
        "candidates": "restricted",
        "settings": {"gating": False, "hidden": 16, "memory": "ring", "epochs": 1},
        "seeds": {"training": 4, "memory": 4, "image_split": 5, "class_order": 6},
    }
    outcome = CliRunner().invoke(app, [*shlex.split(run_command(config))[1:], "--json"])
    assert json.loads(outcome.stdout.splitlines()[-1])["run"] == config


def test_the_papers_figures_stand_below_their_heading() -> None:
    runs = [("MCZSL", 0, record()), ("NM-ZSL", 0, record())]
    page = render_html([made_up(runs, reported="table2", dataset="CUB")])
    groups, names = re.findall(r"<tr>(<th.*?)</tr>", page)[:2]
    where = [group for group, width in _heads(groups) for _ in range(width)]
    columns = [name for name, _ in _heads(names)]
    reported = [name for name, group in zip(columns, where, strict=True) if "reported" in group]
    assert reported == ["mSA", "mUA", "mH"]
    assert columns[-1] == "reproducibility"


def _heads(row: str) -> list[tuple[str, int]]:
    cells = re.findall(r"<th(.*?)>(?:<button[^>]*>)?([^<]*)<", row)
    widths = [re.search(r'colspan="(\d+)"', attributes) for attributes, _ in cells]
    return [(t, int(w.group(1)) if w else 1) for (_, t), w in zip(cells, widths, strict=True)]
