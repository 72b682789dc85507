"""``python -m benchmarks [step training prediction growth estimator paper_runs]``: all by default."""

from __future__ import annotations

import importlib
import json
import platform
import sys
from pathlib import Path
from typing import Any

import torch

from benchmarks.timing import seconds

NAMES = ("step", "training", "prediction", "growth", "estimator", "paper_runs")
OUT = Path("bench")


def main(names: list[str]) -> None:
    """Run the named benchmarks, print them, and write JSON and plots into ``bench/``."""
    unknown = set(names) - set(NAMES)
    if unknown:
        raise SystemExit(f"unknown benchmark {', '.join(unknown)}; known: {', '.join(NAMES)}")
    OUT.mkdir(exist_ok=True)
    results: dict[str, Any] = {
        "machine": {"threads": torch.get_num_threads(), "platform": platform.platform()}
    }
    for name in names or NAMES:
        module = importlib.import_module(f"benchmarks.{name}")
        print(f"== {(module.__doc__ or name).splitlines()[0]}", flush=True)
        elapsed = seconds(lambda module=module, name=name: results.update({name: module.run()}))
        print(json.dumps(results[name], indent=1), f"({elapsed:.0f} s)", flush=True)
        (OUT / "bench.json").write_text(json.dumps(results, indent=1))
    if "growth" in results:
        plot_growth(results["growth"])


def plot_growth(growth: dict[str, dict[int, dict[str, float]]]) -> None:
    """One panel for each curve."""
    from mczsl.reports.plots import new_figure, save_png, style_of

    figure, axes = new_figure(len(growth))
    for axis, (what, curve) in zip(axes, growth.items(), strict=True):
        sizes = list(curve)
        times = [point["milliseconds_per_episode"] for point in curve.values()]
        axis.plot(sizes, times, **style_of(0))
        axis.set(xlabel=what, ylabel="ms per episode", xscale="log", ylim=(0, 1.3 * max(times)))
        memory = [point.get("resident_mb") for point in curve.values()]
        if None not in memory:
            right = axis.twinx()
            right.plot(sizes, memory, **style_of(1))
            right.set(ylabel="resident memory in MB", ylim=(0, None))
    save_png(figure, OUT / "growth.png")


main(sys.argv[1:])
