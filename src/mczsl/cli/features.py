"""``mczsl features`` and ``mczsl data build``: pictures become a file of features."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated

import typer

from mczsl.cli.output import as_text
from mczsl.errors import unknown_name


def features(
    source: Annotated[
        Path,
        typer.Argument(
            help="A folder of class folders, or a CSV table: path,label. Without labels: a folder "
            "of pictures, or one picture."
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The .npz file to write.")],
    backbone: Annotated[
        str, typer.Option(help="efficientnet_lite0, or the path of an .onnx file.")
    ] = "efficientnet_lite0",
    scaling: Annotated[
        str, typer.Option(help="How an .onnx expects colours: imagenet, symmetric, unit or lite.")
    ] = "imagenet",
    strict: Annotated[
        bool, typer.Option("--strict", help="Bad files are an error, not only reported.")
    ] = False,
) -> None:
    """Turn pictures into features, in the form that every command here reads.

    What was encoded before is kept beside the file (FILE.cache), so an interrupted run goes on
    where it stopped and new pictures cost only themselves.
    """
    from mczsl.encoders.backbones import load_backbone
    from mczsl.encoders.images import encode_images, require_place

    require_place(out)
    network = load_backbone(backbone, scaling)
    with watch_count("pictures") as progress:
        encoded = encode_images(
            source, network, cache=out.with_suffix(".cache"), strict=strict, progress=progress
        )
    encoded.save(out)
    for problem in encoded.pictures.problems:
        typer.echo(as_text(f"skipped {problem}"), err=True)
    count, width = encoded.features.shape
    pictures = encoded.pictures
    kinds = f"of {len(set(pictures.labels))} classes" if pictures.labels else "without labels"
    names = f", {len(pictures.class_names)} class names" if pictures.labels else ""
    typer.echo(
        f"{out}: {count} pictures {kinds}, {width} features each; "
        f"{len(pictures.problems)} problems{names}"
    )


def build(
    name: Annotated[str, typer.Argument(help="Which dataset: emoji.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to build in.")],
) -> None:
    """Build an embedded dataset anew from its sources; run it again if it was interrupted.

    Needs the program npm and the extras images, text and emoji-build. About 40 minutes on one core.
    """
    if name != "emoji":
        raise unknown_name("dataset to build", name, ["emoji"])
    from mczsl.encoders.emoji.build import build as build_emoji

    with ExitStack() as stack:
        bars: dict[str, Callable[[int, int], None]] = {}

        def show(what: str, done: int, total: int) -> None:
            if what not in bars:
                stack.close()  # one bar at a time
                bars[what] = stack.enter_context(watch_count(what))
            bars[what](done, total)

        path = build_emoji(out, show)
    typer.echo(f"{path}: {path.stat().st_size / 1e6:.1f} MB; licences are in {out / 'emoji.txt'}")


@contextmanager
def watch_count(what: str) -> Iterator[Callable[[int, int], None]]:
    """Shows how many are done: a bar on a terminal, a line for each tenth elsewhere."""
    if not sys.stderr.isatty():
        yield _TenthLines(what)
        return
    from rich import progress
    from rich.console import Console

    columns = (
        progress.TextColumn(what),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeRemainingColumn(),
    )
    with progress.Progress(*columns, console=Console(stderr=True)) as bar:
        line = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(line, completed=done, total=total)


class _TenthLines:
    """Prints a line whenever another tenth is done."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._printed = 0

    def __call__(self, done: int, total: int) -> None:
        if 10 * done // total > self._printed:
            self._printed = 10 * done // total
            print(f"{self._what}: {done} of {total}", file=sys.stderr)
