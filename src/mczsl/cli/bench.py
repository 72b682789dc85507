"""``mczsl bench``: the paper's tables and figures, or experiments of your own."""

from __future__ import annotations

import json
import shlex
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from mczsl.cli import options
from mczsl.cli.output import as_text, show_table
from mczsl.cli.run import parse_settings
from mczsl.errors import ConfigError, unknown_name

if TYPE_CHECKING:
    from mczsl.experiments.bench import Ended, Engine
    from mczsl.experiments.folder import ResultFolder
    from mczsl.experiments.results import Results
    from mczsl.reports.tables import Table


class _RunIsImplied(TyperGroup):
    """``mczsl bench table2`` means ``mczsl bench run table2``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = ["run", *args]
        return super().parse_args(ctx, args)


class EngineName(StrEnum):
    """Where runs are done."""

    LOCAL = "local"
    RAY = "ray"


app = typer.Typer(cls=_RunIsImplied, no_args_is_help=True)


def _listed(help_text: str) -> Any:
    return typer.Option(metavar="A,B,...", show_default=False, help=help_text)


Names = list[str] | None  # the option may be repeated, or have commas in it
Folder = Annotated[Path, typer.Argument(help="The folder that --out named.")]


@app.command("run")
def run_experiments(
    experiments: Annotated[
        list[str], typer.Argument(help="Names from `mczsl bench list`, or .toml files.")
    ],
    datasets: Annotated[Names, _listed("Only these datasets, or others.")] = None,
    methods: Annotated[Names, _listed("Only these methods or rows, or others.")] = None,
    seeds: Annotated[Names, _listed("Seeds of training and memory: five are 0,1,2,3,4.")] = None,
    features: Annotated[Names, _listed("Other features files.")] = None,
    semantics: Annotated[Names, _listed("Other semantics files.")] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="[METHOD.]KEY=VALUE",
            help="Change a setting of all methods that have it, or of one; repeatable.",
        ),
    ] = None,
    data_root: options.DataRoot = None,
    out: Annotated[Path, typer.Option(help="Folder for runs and tables.")] = Path("bench"),
    jobs: Annotated[int, typer.Option(min=1, help="Runs at the same time.")] = 1,
    engine: Annotated[
        EngineName, typer.Option(help="Processes on this machine, or a Ray cluster.")
    ] = EngineName.LOCAL,
    address: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="Of the Ray cluster.")
    ] = None,
    mlflow: Annotated[
        str | None, typer.Option(metavar="URI", help="Log finished runs to this MLflow.")
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Do the runs of experiments that are not done yet, and print their tables."""
    from mczsl.experiments.bench import perform, prepare
    from mczsl.experiments.experiment import load_experiment
    from mczsl.experiments.folder import ResultFolder
    from mczsl.experiments.results import read_results
    from mczsl.experiments.selection import select, split_names
    from mczsl.runs.interrupts import Interrupted

    names = [Path(name).stem for name in experiments]
    if len(set(names)) < len(names):
        raise ConfigError(f"two experiments have one name among {', '.join(names)}; rename a file")
    chosen = {
        Path(name).stem: select(
            load_experiment(name),
            datasets=split_names(",".join(datasets or [])),
            methods=split_names(",".join(methods or [])),
            seeds=_seeds(",".join(seeds or [])),
            features=split_names(",".join(features or [])),
            semantics=split_names(",".join(semantics or [])),
            settings=parse_settings(settings or []),
        )
        for name in experiments
    }
    folder = ResultFolder(out)
    planned = prepare(chosen, folder, data_root, _command(sys.argv[1:]))
    try:
        perform(folder, planned, _make_engine(engine, jobs, address), _show_ended)
    except Interrupted as stopped:
        print(f"mczsl: {stopped}; the same command goes on from here", file=sys.stderr)
        raise typer.Exit(stopped.exit_code) from None
    results = [each for each in read_results(folder) if each.name in chosen]
    failed = _show_results(folder, results, as_json)
    if mlflow is not None:
        from mczsl.experiments.mlflow_logger import log_to_mlflow

        print(f"logged to MLflow: {log_to_mlflow(mlflow, results)} run(s)", file=sys.stderr)
    if failed:
        raise typer.Exit(1)


@app.command("list")
def list_experiments(as_json: options.AsJson = False) -> None:
    """The experiments that come with the package."""
    import tomllib

    from mczsl.experiments.paper import experiments

    rows = [
        (name, tomllib.loads(path.read_text(encoding="utf-8"))["title"])
        for name, path in experiments().items()
    ]
    if as_json:
        print(json.dumps([{"name": name, "title": title} for name, title in rows]))
    else:
        show_table(["experiment", "what it is"], rows)


@app.command()
def status(folder: Folder, as_json: options.AsJson = False) -> None:
    """Progress, time left and failures of a folder of runs."""
    from mczsl.experiments.folder import ResultFolder
    from mczsl.experiments.results import read_results, summarise

    summaries = [summarise(results) for results in read_results(ResultFolder(folder))]
    if as_json:
        print(json.dumps(summaries))
        return
    header = ["experiment", "runs", "finished", "running", "waiting", "failed", "left"]
    rows = [
        [
            s["experiment"],
            s["total"],
            s["finished"],
            s["running"],
            s["waiting"] + s["stopped"],
            s["failed"],
            _duration(s["seconds_left"]),
        ]
        for s in summaries
    ]
    show_table(header, rows)
    for summary in summaries:
        _print_failures(summary)


def report(
    folder: Folder,
    out: Annotated[
        Path,
        typer.Option("--out", "-o", help="A .html page; or .md, .tex, .csv or .json with tables."),
    ] = Path("report.html"),
    template: Annotated[
        Path | None, typer.Option(help="A page of your own, with places for tables and charts.")
    ] = None,
) -> None:
    """Show a folder of runs as one page, or as tables."""
    from mczsl import storage
    from mczsl.experiments.folder import ResultFolder
    from mczsl.experiments.results import read_results

    experiments = read_results(ResultFolder(folder))
    suffix = out.suffix.removeprefix(".")
    if template is not None:
        from mczsl.reports.page import render_page

        render_page(template, experiments, out)
    elif suffix == "html":
        from mczsl.reports.html import render_html

        storage.write_output(out, render_html(experiments).encode())
    else:
        from mczsl.reports.formats import FORMATS
        from mczsl.reports.tables import make_tables

        if suffix not in FORMATS:
            raise unknown_name("kind of report", suffix, ["html", *FORMATS])
        tables = [table for results in experiments for table in make_tables(results)]
        storage.write_output(out, FORMATS[suffix](tables).encode())
    print(f"report: {out}")


def _make_engine(name: EngineName, jobs: int, address: str | None) -> Engine:
    if name == EngineName.RAY:
        from mczsl.experiments.ray_engine import run_on_ray

        return lambda folder, left, on_end: run_on_ray(folder, left, jobs, on_end, address)
    if address is not None:
        raise ConfigError(f"--address {address} is for --engine ray; add it, or leave it out")
    from mczsl.experiments.local_engine import run_locally

    return lambda folder, left, on_end: run_locally(folder, left, jobs, on_end)


def _show_ended(ended: Ended) -> None:
    """One line for each run that ended."""
    from mczsl.experiments.results import describe_config

    name = describe_config(ended.job.label, ended.job.config.model_dump(mode="json"))
    outcome = "done"
    if ended.failure is not None:
        outcome = f"{ended.failure.kind}: {ended.failure.message.strip().splitlines()[-1]}"
    print(as_text(f"{ended.done}/{ended.total}: {name}: {outcome}"), file=sys.stderr)


def _show_results(folder: ResultFolder, experiments: list[Results], as_json: bool) -> int:
    """Write and print the tables of these experiments; gives how many runs failed."""
    from mczsl import storage
    from mczsl.experiments.results import summarise
    from mczsl.reports.formats import FORMATS
    from mczsl.reports.tables import make_tables

    failed, shown = 0, []
    for results in experiments:
        tables, summary = make_tables(results), summarise(results)
        failed += summary["failed"]
        for suffix, formatted in FORMATS.items():
            path = folder.path / "tables" / f"{results.name}.{suffix}"
            storage.write_atomically(path, formatted(tables).encode())
        shown += tables
        if as_json:
            continue
        for table in tables:
            _show(table)
        _print_failures(summary)
        print(f"tables: {folder.path / 'tables' / results.name}.{{{','.join(FORMATS)}}}")
    if as_json:
        print(FORMATS["json"](shown))
    return failed


def _show(table: Table) -> None:
    rows = [[cell.text("-") for cell in row] for row in table.rows]
    header = [column.full_name for column in table.columns]
    show_table(header, rows, title=table.caption(), caption="\n".join(table.notes))


def _print_failures(summary: dict[str, Any]) -> None:
    told: dict[tuple[str, str], list[str]] = {}
    for failure in summary["failures"]:
        text = failure["error"].strip().splitlines()[-1]
        told.setdefault((failure["state"], text), []).append(failure["run"])
    for (state, text), runs in told.items():
        more = f" and {len(runs) - 1} more" if len(runs) > 1 else ""
        print(
            as_text(f"{summary['experiment']}: {state}: {runs[0]}{more}: {text}"), file=sys.stderr
        )


def _command(arguments: list[str]) -> str:
    """What was typed, but for the place of the data, which is each machine's own.

    >>> _command(["bench", "table2", "--data-root", "/data", "--jobs=2"])
    'mczsl bench table2 --jobs=2'
    """
    kept = [
        word
        for before, word in zip(["", *arguments], arguments, strict=False)
        if before != "--data-root" and not word.startswith("--data-root")
    ]
    return shlex.join(["mczsl", *kept])


def _seeds(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",") if part.strip()]
    except ValueError:
        raise ConfigError(f"--seeds {text!r}: write whole numbers, like 0,1,2") from None


def _duration(seconds: float | None) -> str:
    """As people say it.

    >>> _duration(None), _duration(59), _duration(3700)
    ('unknown', '59 s', '1 h 2 min')
    """
    if seconds is None:
        return "unknown"
    if seconds < 100:
        return f"{seconds:.0f} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"
