"""One page with everything in it: tables, charts, a look inside the models. No network."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping
from importlib import resources
from typing import Any

import jinja2
from markupsafe import Markup

import mczsl
from mczsl.experiments.results import Result, Results, describe, summarise
from mczsl.reports.charts import chart_title, make_charts, styles
from mczsl.reports.page import versions
from mczsl.reports.plots import COLOURS
from mczsl.reports.rows import grounds, grouped
from mczsl.reports.svg import DARK_COLOURS, STYLE
from mczsl.reports.tables import make_tables


def render_html(experiments: list[Results], title: str = "MCZSL results") -> str:
    """The page, as text."""
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_read),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style = styles(experiments)
    return environment.get_template("report.html").render(
        title=title,
        version=mczsl.__version__,
        css=Markup(_read("report.css")),
        script=Markup(_read("report.js")),
        chart_style=Markup(STYLE),
        colours=COLOURS,
        dark_colours=DARK_COLOURS,
        experiments=[
            {
                "name": results.name,
                "title": results.title,
                "summary": summarise(results),
                "tables": make_tables(results),
                "charts": [
                    {"kind": chart.kind, "title": chart.title, "svg": Markup(chart.svg)}
                    for chart in make_charts(results, style)
                ],
            }
            for results in experiments
        ],
        inside=_inside(experiments),
        runs=_runs(experiments),
        commands=list(dict.fromkeys(results.command for results in experiments)),
        versions=versions(experiments),
    )


def _read(name: str) -> str:
    return (resources.files("mczsl.reports") / "templates" / name).read_text(encoding="utf-8")


def _inside(experiments: Iterable[Results]) -> dict[str, dict[str, Any]]:
    """For every row of every table the first run that has an analysis, by a name for people."""
    found: dict[str, dict[str, Any]] = {}
    tables = grouped([run for results in experiments for run in results.runs])
    names = grounds(facts for facts, _ in tables)
    for facts, groups in tables:
        for group in groups:
            run = next((run for run in group.runs if run.state.record is not None), None)
            if run is not None and (analysis := run.analysis()):
                name = f"{chart_title(group.name, names[facts])}, seed {_seed(run)}"
                found[f"{name}, run {run.key}" if name in found else name] = analysis
    return found


def _runs(experiments: Iterable[Results]) -> list[dict[str, Any]]:
    """Every run once, with the command that repeats it alone."""
    runs = {}
    for results in experiments:
        for run in results.runs:
            record = run.state.record or {}
            runs[run.key or describe(run)] = {
                "name": describe(run),
                "key": run.key or "",
                "state": run.state.state,
                "error": run.state.error,
                "mH": record.get("mH"),
                "seconds": record.get("train_seconds"),
                "memory": record.get("peak_memory_mb"),
                "command": run_command(run.config),
            }
    return list(runs.values())


def _seed(run: Result) -> int:
    return int(run.config["seeds"]["training"])


def run_command(config: Mapping[str, Any]) -> str:
    """The command that does a run by itself."""
    seeds = config["seeds"]
    options = {
        "--dataset": config["dataset"],
        "--features": config["features"],
        "--semantics": config["semantics"],
        "--protocol": config["protocol"],
        "--method": config["method"],
        "--preset": None if config["preset"] == "default" else config["preset"],
        "--tasks": config["tasks"],
        "--memory-per-class": config["memory_per_class"],
        "--candidates": None if config["candidates"] == "joint" else config["candidates"],
        "--seed": seeds["training"],
        "--split-seed": seeds["image_split"] or None,
        "--order-seed": seeds["class_order"],
        "--threads": config["threads"],
    }
    words = [word for key, value in options.items() if value is not None for word in (key, value)]
    for key, value in config["settings"].items():
        words += ["--set", f"{key}={_plain(value)}"]
    return shlex.join(["mczsl", "run", *map(str, words)])


def _plain(value: Any) -> str:
    """A setting as the command line reads it."""
    return value if isinstance(value, str) else json.dumps(value)
