"""``mczsl data``: get, list and check datasets."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path, PurePosixPath
from typing import Annotated
from urllib.parse import urlsplit

import typer

from mczsl.cli.output import as_text, show_table
from mczsl.errors import unknown_name

app = typer.Typer(no_args_is_help=True)

Root = Annotated[
    Path | None,
    typer.Option(
        "--data-root", help="Where datasets are kept; also MCZSL_DATA.", show_default=False
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command("list")
def list_datasets(data_root: Root = None, as_json: Json = False) -> None:
    """Every dataset that can be used now, with its features and semantics."""
    from mczsl.data.catalog import available

    infos = available(data_root)
    if as_json:
        typer.echo(json.dumps([asdict(info) for info in infos]))
        return
    header = ("dataset", "kind", "what it is", "features", "semantics")
    rows = [
        (
            info.name,
            info.kind,
            info.description,
            ", ".join(info.features),
            ", ".join(info.semantics),
        )
        for info in infos
    ]
    show_table(header, rows)


@app.command()
def check(
    dataset: Annotated[str, typer.Argument(help="A name from `mczsl data list`, or a path.")],
    features: Annotated[str | None, typer.Option(help="Which features file.")] = None,
    semantics: Annotated[str | None, typer.Option(help="Which semantics file.")] = None,
    data_root: Root = None,
    as_json: Json = False,
) -> None:
    """What a dataset is, and everything that is wrong with it. Exit code 1 if it cannot be used."""
    from mczsl.data import report

    found = report.check(dataset, features=features, semantics=semantics, root=data_root)
    typer.echo(json.dumps(found.to_json()) if as_json else str(found))
    raise typer.Exit(0 if found.ok else 1)


@app.command()
def get(
    name: Annotated[str, typer.Argument(help="Which archive.")] = "xlsa17",
    url: Annotated[str | None, typer.Option(help="Another address of a zip archive.")] = None,
    sha256: Annotated[str | None, typer.Option(help="Accept only a file of this checksum.")] = None,
    data_root: Root = None,
) -> None:
    """Download an archive of datasets, or go on where that broke off, and unpack it."""
    from mczsl.data import download

    archives = {"xlsa17": download.DEFAULT_URL}
    if url is None and name not in archives:
        raise unknown_name("archive", name, archives, "Or give its address with --url")
    address = url or archives[name]
    root = data_root or download.default_root()
    file_name = PurePosixPath(urlsplit(address).path).name.strip(".") or "archive.zip"
    with _watch_download(file_name) as progress:
        archive = download.get(address, root / file_name, sha256=sha256, progress=progress)
    datasets = download.unpack(archive, root)
    where = f" --data-root {data_root}" if data_root else ""
    typer.echo(f"The datasets are in {datasets}; `mczsl data list{where}` shows them.")


@contextmanager
def _watch_download(name: str) -> Iterator[Callable[[int, int | None], None]]:
    """Shows how many bytes there are: a bar on a terminal, a line for each tenth elsewhere."""
    if not sys.stderr.isatty():
        yield _TenthLines(name)
        return
    from rich import progress
    from rich.console import Console

    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.DownloadColumn(),
        progress.TransferSpeedColumn(),
        progress.TimeRemainingColumn(),
    )
    with progress.Progress(*columns, console=Console(stderr=True)) as bar:
        line = bar.add_task(as_text(name), total=None)
        yield lambda done, total: bar.update(line, completed=done, total=total)


class _TenthLines:
    """Prints a line when another tenth, or another 100 MB of an unknown size, has arrived."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._printed = -1

    def __call__(self, done: int, total: int | None) -> None:
        step = 10 * done // total if total else done // 10**8
        if step > self._printed:
            self._printed = step
            of_total = f" of {total / 1e6:.1f}" if total else ""
            print(as_text(f"{self._name}: {done / 1e6:.1f}{of_total} MB"), file=sys.stderr)
