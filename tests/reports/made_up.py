"""Results that nobody had, for tests of how they are shown."""

from typing import Any

from mczsl.experiments.folder import RunState
from mczsl.experiments.results import Result, Results

CONFIG: dict[str, Any] = {
    "dataset": "data",
    "features": "res101",
    "semantics": "att",
    "data_root": None,
    "protocol": "fixed",
    "tasks": None,
    "memory_per_class": None,
    "candidates": "joint",
    "method": "mczsl",
    "preset": "default",
    "settings": {},
    "seeds": {"training": 0, "memory": 0, "image_split": 0, "class_order": None},
    "device": "cpu",
    "threads": 1,
}


def record(H: list[float | None] = [50.0, 60.0], **changes: Any) -> dict[str, Any]:  # noqa: B006
    """A record; the figures are as given, not as they would have to be."""
    return {
        "status": "finished",
        "calibration": "none",
        "uses_unseen_attributes": False,
        "memory_capacity": 100,
        "mSA": 60.0,
        "mUA": 50.0,
        "mH": 54.5,
        "ausuc": 40.0,
        "forgetting": 3.0,
        "tasks": [{"task": number, "H": value} for number, value in enumerate(H, start=1)],
        "train_seconds": 12.5,
        "total_seconds": 13.0,
        "peak_memory_mb": 300.0,
        "version": "0",
        "torch": "2",
        "platform": "here",
        "device": "cpu",
        "threads": 1,
    } | changes


def made_up(
    runs: list[Any], show: str = "methods", reported: str | None = None, dataset: str = "data"
) -> Results:
    """An experiment of (label, seed, record or state, changes of the configuration)."""
    results = []
    for label, seed, outcome, *changes in runs:
        config = {**CONFIG, "dataset": dataset}
        config |= changes[0] if changes else {}
        config["seeds"] = {**CONFIG["seeds"], **config["seeds"], "training": seed, "memory": seed}
        if not isinstance(outcome, RunState):
            names = {key: config[key] for key in ("dataset", "features", "semantics")}
            outcome = RunState("finished", outcome | names)
        results.append(Result(label, label, "", config, f"{label} {config}", outcome))
    return Results("made-up", "Made up", show, reported, "mczsl bench made-up", tuple(results))
