"""Plots of records. Colours are told apart by colour-blind readers, and markers differ as well."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Record = Mapping[str, Any]

# Okabe and Ito's palette, without its yellow, which vanishes on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")


def harmonic_per_task(panels: Mapping[str, Sequence[Record]]) -> Figure:
    """H after every task, one panel for each title, one line for each record's method."""
    from matplotlib.ticker import MaxNLocator

    figure, axes = new_figure(len(panels), height=4)
    methods = list(dict.fromkeys(r["method"] for records in panels.values() for r in records))
    for axis, (title, records) in zip(axes, panels.items(), strict=True):
        for record in records:
            tasks = [task for task in record["tasks"] if task["H"] is not None]
            style = style_of(methods.index(record["method"]))
            label = f"{record['method']} (mean {record['mH']:.1f})"
            axis.plot([t["task"] for t in tasks], [t["H"] for t in tasks], label=label, **style)
        axis.set(title=title, xlabel="task", ylabel="H in %", ylim=(0, 100))
        axis.xaxis.set_major_locator(MaxNLocator(integer=True))
        axis.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.17), ncols=2)
    return figure


def new_figure(panels: int, width: float = 4.5, height: float = 3.4) -> tuple[Figure, list[Axes]]:
    """A figure with panels side by side. It belongs to no global state and needs no display."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * panels, height), layout="constrained")
    axes = figure.subplots(1, panels, squeeze=False)[0].tolist()
    for axis in axes:
        axis.grid(alpha=0.3)
        axis.spines[["top", "right"]].set_visible(False)
    return figure, axes


def style_of(index: int) -> dict[str, Any]:
    """Line and marker of the index-th method."""
    return {"color": COLOURS[index % len(COLOURS)], "marker": MARKERS[index % len(MARKERS)]}


def save_png(figure: Figure, path: Path) -> None:
    """Write a figure as PNG."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
