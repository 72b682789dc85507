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
from mczsl.errors import ConfigError


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
    tasks: options.Tasks = None,
    memory_per_class: options.MemoryPerClass = None,
    threads: options.Threads = None,
    trials: Annotated[int, typer.Option(min=1, help="How many settings to try.")] = 20,
    out: Annotated[Path, typer.Option(help="Folder for tune.json.")] = Path("tune"),
    as_json: options.AsJson = False,
) -> None:
    """Search settings on validation classes only; test images are never looked at."""
    from mczsl.experiments import tune as tuning

    config = make_run_config(
        dataset=dataset,
        protocol=protocol,
        method=method,
        preset=preset,
        settings=parse_settings(settings or []),
        features=features,
        semantics=semantics,
        data_root=data_root,
        seeds={"training": seed, "memory": seed},
        tasks=tasks,
        memory_per_class=memory_per_class,
        threads=threads,
    )
    space = tuning.parse_space(search)
    if (out / "tune.json").exists():
        raise ConfigError(f"{out}: holds an earlier search; choose another folder with --out")
    count = tuning.number_of_trials(space, trials)
    tried: list[dict[str, Any]] = []

    def show(trial: dict[str, Any]) -> None:
        tried.append(trial)
        print(f"{len(tried)}/{count}: {_text(trial)}", file=sys.stderr)

    best = tuning.tune(config, space, trials, out, show)
    if as_json:
        print(json.dumps(best))
        return
    rows = sorted(([*t["settings"].values(), _mean(t)] for t in tried), key=lambda row: -row[-1])
    show_table([*best["settings"], "mH"], rows, title="Validation classes only")
    chosen = " ".join(f"--set {key}={json.dumps(v)}" for key, v in best["settings"].items())
    print(f"best: {chosen}\nall trials: {out / 'tune.json'}")


def _mean(trial: dict[str, Any]) -> float:
    return float(sum(trial["mH"]) / len(trial["mH"]))


def _text(trial: dict[str, Any]) -> str:
    settings = ", ".join(f"{key}={value}" for key, value in trial["settings"].items())
    return f"{settings}: mH {_mean(trial):.2f}"
