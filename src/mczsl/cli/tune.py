"""``mczsl tune``: search settings on validation classes."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from mczsl.cli import options
from mczsl.cli.output import show_table
from mczsl.cli.run import make_run_config, parse_settings


def tune(
    search: Annotated[
        list[str],
        typer.Option(
            metavar="KEY=A,B,C|KEY=LOW..HIGH", help="A setting to search, with its values."
        ),
    ],
    dataset: options.Dataset = "emoji",
    protocol: options.Protocol = "gzsl",
    method: options.Method = "mczsl",
    preset: options.Preset = "default",
    settings: options.Settings = None,
    features: options.Features = None,
    semantics: options.Semantics = None,
    data_root: options.DataRoot = None,
    seed: options.Seed = 0,
    split_seed: options.SplitSeed = 0,
    order_seed: options.OrderSeed = None,
    tasks: options.Tasks = None,
    memory_per_class: options.MemoryPerClass = None,
    threads: options.Threads = None,
    trials: Annotated[int, typer.Option(min=1, help="How many settings to try.")] = 20,
    out: Annotated[
        Path, typer.Option(help="Folder for tune.json; a search that it holds goes on.")
    ] = Path("tune"),
    as_json: options.AsJson = False,
) -> None:
    """Search settings on validation classes only; test images are never looked at.

    In the fixed setting the images that --split-seed tests on are left out too.
    """
    from mczsl.experiments import tune as tuning
    from mczsl.runs.interrupts import Interrupted

    config = make_run_config(
        dataset=dataset,
        protocol=protocol,
        method=method,
        preset=preset,
        settings=parse_settings(settings or []),
        features=features,
        semantics=semantics,
        data_root=data_root,
        seeds={
            "training": seed,
            "memory": seed,
            "image_split": split_seed,
            "class_order": order_seed,
        },
        tasks=tasks,
        memory_per_class=memory_per_class,
        threads=threads,
    )
    space = tuning.parse_space(search)
    count = tuning.number_of_trials(space, trials)
    tried: list[dict[str, Any]] = []

    def show(trial: dict[str, Any]) -> None:
        tried.append(trial)
        settings = ", ".join(f"{key}={_short(value)}" for key, value in trial["settings"].items())
        told = f"{settings}: mH {tuning.mean_harmonic(trial):.2f}"
        print(f"{len(tried)}/{count}: {told}", file=sys.stderr)

    try:
        best = tuning.tune(config, space, trials, out, show)
    except Interrupted as stopped:
        kept = f"what was tried is in {out / 'tune.json'}, and the same command goes on from here"
        print(f"mczsl: {stopped}; {kept if tried else 'nothing was tried yet'}", file=sys.stderr)
        raise typer.Exit(stopped.exit_code) from None
    if as_json:
        print(json.dumps(best))
        return
    mean = tuning.mean_harmonic
    ranked = sorted(tried, key=mean, reverse=True)
    rows = [[*map(_short, trial["settings"].values()), mean(trial)] for trial in ranked]
    show_table([*best["settings"], "mH"], rows, title="Validation classes only")
    chosen = " ".join(f"--set {key}={json.dumps(v)}" for key, v in best["settings"].items())
    print(f"best: {chosen}\nall trials: {out / 'tune.json'}")


def _short(value: Any) -> str:
    """A setting with as many digits as tell it apart.

    >>> _short(0.00012345), _short("ring"), _short(True)
    ('0.0001234', 'ring', 'true')
    """
    if isinstance(value, float):
        return f"{value:.4g}"
    return value if isinstance(value, str) else json.dumps(value)
