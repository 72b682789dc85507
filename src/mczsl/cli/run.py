"""``mczsl run`` and ``mczsl methods``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mczsl.cli import options
from mczsl.cli.output import show_table
from mczsl.errors import ConfigError

if TYPE_CHECKING:
    from mczsl.runs.config import RunConfig


def run(
    context: typer.Context,
    dataset: options.Dataset = "emoji",
    protocol: options.Protocol = "gzsl",
    method: options.Method = "mczsl",
    preset: options.Preset = "default",
    settings: options.Settings = None,
    features: options.Features = None,
    semantics: options.Semantics = None,
    data_root: options.DataRoot = None,
    seed: options.Seed = 0,
    memory_seed: Annotated[int | None, typer.Option(help="Another seed for the memory.")] = None,
    split_seed: options.SplitSeed = 0,
    order_seed: options.OrderSeed = None,
    tasks: options.Tasks = None,
    memory_per_class: options.MemoryPerClass = None,
    candidates: Annotated[
        str, typer.Option(help="`joint`: all known classes compete; `restricted`: one side.")
    ] = "joint",
    out: Annotated[Path | None, typer.Option(help="Folder for the record and checkpoint.")] = None,
    resume: Annotated[Path | None, typer.Option(help="Continue the run in this folder.")] = None,
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    threads: options.Threads = None,
    profile: Annotated[bool, typer.Option("--profile", help="Show where the time goes.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The record as the last line.")] = False,
) -> None:
    """Train and test one method on one dataset in one setting."""
    from mczsl.cli.profiling import profiled
    from mczsl.cli.progress import watch
    from mczsl.runs import loop
    from mczsl.runs.interrupts import Interrupted

    try:
        with profiled(profile), watch() as listener:
            if resume is not None:
                refuse_other_options(context)
                named = method if _was_given(context, "method") else None
                record = loop.resume(resume, listener, named)
            else:
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
                        "memory": seed if memory_seed is None else memory_seed,
                        "image_split": split_seed,
                        "class_order": order_seed,
                    },
                    tasks=tasks,
                    memory_per_class=memory_per_class,
                    candidates=candidates,
                    device=device,
                    threads=threads,
                )
                record = loop.run(config, out, listener)
    except Interrupted as stopped:
        folder = resume or out
        hint = f"continue with: mczsl run --resume {folder}" if folder else "nothing was saved"
        print(f"mczsl: {stopped}; {hint}", file=sys.stderr)
        raise typer.Exit(stopped.exit_code) from None
    if as_json:
        print(json.dumps(record))
    else:
        show_record(record)


def refuse_other_options(context: typer.Context) -> None:
    """A run is continued as it was begun: an option that says otherwise would be ignored."""
    others = [
        parameter.opts[0]
        for parameter in context.command.params
        if parameter.name not in ("resume", "method", "profile", "as_json")
        and _was_given(context, str(parameter.name))
    ]
    if others:
        raise ConfigError(
            f"--resume continues a run as it was begun; leave out {' and '.join(others)}"
        )


def _was_given(context: typer.Context, name: str) -> bool:
    return getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE"


def methods(
    name: Annotated[
        str | None, typer.Argument(callback=options.method_or_none, help="One, with its settings.")
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """List the methods, or the settings and presets of one."""
    from mczsl.methods import available_methods

    if name is not None:
        _show_method(name, as_json)
        return
    infos = available_methods().values()
    if as_json:
        print(json.dumps([{"name": info.name, "summary": info.summary} for info in infos]))
    else:
        show_table(["method", "what it is"], [[info.name, info.summary] for info in infos])


def _show_method(name: str, as_json: bool) -> None:
    from mczsl.methods import get_method, make_config

    method = get_method(name)
    defaults = make_config(method).model_dump(mode="json")
    told = {key: field.description or "" for key, field in method.Config.model_fields.items()}
    presets = {preset: dict(values) for preset, values in method.presets.items()}
    if as_json:
        print(json.dumps({"name": name, "settings": defaults, "presets": presets}))
        return
    rows = [[key, json.dumps(value), told[key]] for key, value in defaults.items()]
    show_table(["--set", "default", "what it is"], rows, title=f"Settings of {name}")
    for preset, values in presets.items():
        changes = " ".join(f"{key}={json.dumps(value)}" for key, value in values.items())
        print(f"--preset {preset}: {changes or 'the same'}")


def make_run_config(**values: Any) -> RunConfig:
    """A run's configuration; a wrong value is named."""
    from pydantic import ValidationError

    from mczsl.runs.config import RunConfig

    try:
        return RunConfig.model_validate(values)
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, item['loc']))}: {item['msg']} (got {item['input']!r})"
            for item in error.errors()
        )
        raise ConfigError(problems) from None


def parse_settings(pairs: list[str]) -> dict[str, Any]:
    """``key=value`` pairs; a value is read as JSON where it is JSON, else as text.

    >>> parse_settings(["hidden=512", "memory=ring", "gating=false"])
    {'hidden': 512, 'memory': 'ring', 'gating': False}
    """
    settings: dict[str, Any] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not equals or not key:
            raise ConfigError(f"--set {pair!r}: write it as key=value")
        try:
            settings[key] = json.loads(text)
        except ValueError:
            settings[key] = text
    return settings


def show_record(record: dict[str, Any]) -> None:
    """A table of the tasks and a line of means."""
    rows = [
        [task["task"], task["S"], task["U"], task["H"], task["forgetting"]]
        for task in record["tasks"]
    ]
    if len(rows) > 1:
        rows.append(["mean", record["mSA"], record["mUA"], record["mH"], None])
    at_end = f", forgetting at the end {record['forgetting']}" if len(rows) > 1 else ""
    semantics = "/".join(filter(None, [record["features"], record["semantics"]]))
    show_table(
        ["task", "S", "U", "H", "forgetting"],
        rows,
        title=f"{record['method']} on {record['dataset']} ({semantics}), {record['protocol']}",
        caption=(
            f"calibration {record['calibration']}, candidates {record['candidates']}, AUSUC "
            f"{record['ausuc']}{at_end}, training {record['train_seconds']:.1f} s, total "
            f"{record['total_seconds']:.1f} s, {record['peak_memory_mb']:.0f} MB"
        ),
    )
