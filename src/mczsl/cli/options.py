"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer


def _method(text: str) -> str:
    from mczsl.methods import use_method

    return use_method(text)


def method_or_none(text: str | None) -> str | None:
    """The same where a method may be left out."""
    return None if text is None else _method(text)


Dataset = Annotated[str, typer.Option(help="A name, `synthetic:...`, or a path.")]
Features = Annotated[str | None, typer.Option(help="Features file, by default res101.")]
Semantics = Annotated[str | None, typer.Option(help="Semantics file, by default att.")]
DataRoot = Annotated[
    Path | None, typer.Option(envvar="MCZSL_DATA", help="Folder that holds the datasets.")
]
Protocol = Annotated[str, typer.Option(help="gzsl, fixed or dynamic.")]
Method = Annotated[
    str, typer.Option(callback=_method, help="See `mczsl methods`; or FILE.py, a method of yours.")
]
Preset = Annotated[str, typer.Option(help="`default`, or another of `mczsl methods NAME`.")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change a setting of the method; repeatable."),
]
Seed = Annotated[int, typer.Option(help="Seed of training and memory.")]
SplitSeed = Annotated[int, typer.Option(help="Seed of the image split (fixed).")]
OrderSeed = Annotated[
    int | None, typer.Option(help="Shuffle the order of the classes by this seed.")
]
Tasks = Annotated[int | None, typer.Option(help="Number of tasks K.")]
MemoryPerClass = Annotated[
    int | None, typer.Option(help="Samples that the memory may hold for each class.")
]
Threads = Annotated[int | None, typer.Option(min=1, max=1024, help="Threads to compute with.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
