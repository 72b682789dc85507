"""What a folder of results holds: every run that was asked for, and where it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mczsl.errors import StorageError
from mczsl.experiments.folder import ResultFolder, RunState, read_json


@dataclass(frozen=True)
class Result:
    """One run of an experiment, and how it stands."""

    label: str
    reported: str
    note: str
    config: Mapping[str, Any]
    key: str | None
    state: RunState
    folder: Path | None = None

    def analysis(self) -> dict[str, Any]:
        """What is known of the run beyond its record; nothing if that is lost."""
        try:
            return read_json(self.folder / "analysis.json") if self.folder else {}
        except StorageError:
            return {}


@dataclass(frozen=True)
class Results:
    """An experiment that was asked for, with its runs."""

    name: str
    title: str
    show: str
    reported: str | None
    command: str
    runs: tuple[Result, ...]


def read_results(folder: ResultFolder) -> list[Results]:
    """Every experiment in the folder. A run in several experiments is looked at once."""
    try:
        return _read_results(folder)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise StorageError(
            f"{folder.path / 'experiments'}: was written by another version ({error!r}); run the "
            "same bench again"
        ) from None


def _read_results(folder: ResultFolder) -> list[Results]:
    states: dict[str, RunState] = {}

    def state(entry: Mapping[str, Any]) -> RunState:
        key = entry["key"]
        if key is None:
            return RunState("failed", error=entry["error"])
        if key not in states:
            states[key] = folder.state(key)
        return states[key]

    return [
        Results(
            name=name,
            title=plan["title"],
            show=plan["show"],
            reported=plan["reported"],
            command=plan["command"],
            runs=tuple(
                Result(
                    label=entry["label"],
                    reported=entry["reported"],
                    note=entry["note"],
                    config=entry["config"],
                    key=entry["key"],
                    state=state(entry),
                    folder=folder.run(entry["key"]) if entry["key"] else None,
                )
                for entry in plan["runs"]
            ),
        )
        for name, plan in sorted(folder.plans().items(), key=_place)
    ]


def _place(named_plan: tuple[str, Mapping[str, Any]]) -> tuple[int, str]:
    """Tables of methods come first, ablations last."""
    name, plan = named_plan
    return ("methods", "tasks", "memory", "ablation").index(plan["show"]), name


def summarise(results: Results) -> dict[str, Any]:
    """Progress, time left in seconds (None where nothing tells) and failures of an experiment."""
    counts = Counter(result.state.state for result in results.runs)
    failures = [
        {"run": describe(result), "state": result.state.state, "error": result.state.error}
        for result in results.runs
        if result.state.error is not None
    ]
    return {
        "experiment": results.name,
        "title": results.title,
        "total": len(results.runs),
        **{state: counts[state] for state in ("finished", "running", "stopped", "waiting")},
        "failed": len(failures),
        "seconds_left": seconds_left(results.runs),
        "failures": failures,
    }


def seconds_left(runs: Sequence[Result]) -> float | None:
    """How long the rest takes at the present number of processes, by what is done."""
    open_states = ("waiting", "stopped", "running")
    left = [result for result in runs if result.state.state in open_states]
    if not left:
        return 0.0
    durations: dict[tuple[str, ...], list[float]] = {}
    for result in runs:
        if result.state.record is not None:
            for kind in _kinds(result):
                durations.setdefault(kind, []).append(result.state.record["total_seconds"])
    if not durations and not any(result.state.progress for result in left):
        return None
    total, running = 0.0, 0
    for result in left:
        running += result.state.state == "running"
        progress = result.state.progress
        if progress is not None:
            total += progress["seconds_left"]
            continue
        known = next((durations[kind] for kind in _kinds(result) if kind in durations), [])
        total += sum(known) / max(1, len(known))
    return total / max(1, running)


def _kinds(result: Result) -> list[tuple[str, ...]]:
    """Runs like this one, the nearest kind first."""
    config = result.config
    everything: tuple[str, ...] = ()
    return [
        (config["dataset"], config["protocol"], result.label),
        (config["protocol"],),
        everything,
    ]


def describe(result: Result) -> str:
    """One line that names a run."""
    return describe_config(result.label, result.config)


def describe_config(label: str, config: Mapping[str, Any]) -> str:
    """One line that names a run, by its configuration."""
    data = "/".join(filter(None, [config["dataset"], config["features"], config["semantics"]]))
    per_class = config["memory_per_class"]
    memory = "" if per_class is None else f", memory {per_class} per class"
    only = ", candidates restricted" if config["candidates"] == "restricted" else ""
    seed = config["seeds"]["training"]
    return f"{label} on {data}, {config['protocol']}{memory}{only}, seed {seed}"
