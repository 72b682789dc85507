"""``mczsl data``: get, list and check datasets."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from mczsl.cli.output import show_table

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
