"""A plot of each curve that the benchmarks measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mczsl.reports.plots import new_figure, save_png, style_of


def growth(curves: dict[str, dict[str, dict[str, float]]], path: Path) -> None:
    """Time of an episode (and memory) as the world grows, one panel for each way of growing."""
    figure, axes = new_figure(len(curves))
    for axis, (what, curve) in zip(axes, curves.items(), strict=True):
        sizes = [int(size) for size in curve]
        times = [point["milliseconds_per_episode"] for point in curve.values()]
        axis.plot(sizes, times, **style_of(0))
        axis.set(xlabel=what, ylabel="ms per episode", xscale="log", ylim=(0, 1.5 * max(times)))
        memory = [point.get("resident_mb") for point in curve.values()]
        if None not in memory:
            right = axis.twinx()
            right.plot(sizes, memory, **style_of(1))
            right.set(ylabel="resident memory in MB (squares)", ylim=(0, 1.5 * max(memory)))
    save_png(figure, path)


def training(result: dict[str, Any], path: Path) -> None:
    """H against seconds of training."""
    figure, (axis,) = new_figure(1, width=6)
    ours, plain = result["mczsl"], result["plain_nm_zsl"]
    seconds, harmonic = [p["seconds"] for p in ours], [p["H"] for p in ours]
    axis.plot(seconds, harmonic, label="MCZSL, more and more epochs", **style_of(0))
    axis.plot([plain["seconds"]], [plain["H"]], ls="", label="plain NM-ZSL", **style_of(1))
    axis.axhline(plain["H"], color="grey", lw=0.8)
    axis.set(xlabel="seconds of training", ylabel="H in %", xlim=(0, None))
    axis.legend(frameon=False, loc="lower right")
    save_png(figure, path)


def prediction(result: dict[str, dict[str, float]], path: Path) -> None:
    """Samples per second, as classes grow."""
    figure, (axis,) = new_figure(1, width=6)
    classes = [int(count) for count in result]
    rates = [p["samples"] / p["top_5_with_class_side_seconds"] for p in result.values()]
    axis.plot(classes, rates, label="five best, prototypes computed as well", **style_of(0))
    known = [(int(c), p) for c, p in result.items() if "samples_per_second" in p]
    scores = [p["samples_per_second"] for _, p in known]
    axis.plot([c for c, _ in known], scores, label="best class, prototypes at hand", **style_of(1))
    bare = [rate / p["share_of_gemm_rate"] for rate, (_, p) in zip(scores, known, strict=True)]
    axis.plot([c for c, _ in known], bare, label="one bare matrix product", **style_of(2))
    axis.set(xlabel="classes", ylabel="samples per second", xscale="log", yscale="log")
    axis.legend(frameon=False)
    save_png(figure, path)
