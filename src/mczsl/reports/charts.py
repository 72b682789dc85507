"""Which charts an experiment gets, and what they show."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any

from mczsl.experiments.reported import reported
from mczsl.experiments.results import Results
from mczsl.reports.svg import Bar, Point, Series, bar_chart, line_chart
from mczsl.reports.tables import SETTINGS, Facts, Group, data_name, grouped


@dataclass(frozen=True)
class Chart:
    """A picture, what kind it is, and what is to be seen."""

    kind: str
    title: str
    svg: str


def styles(experiments: Iterable[Results]) -> dict[str, int]:
    """The same colour and marker for the same row in all charts."""
    labels = dict.fromkeys(run.label for results in experiments for run in results.runs)
    return {label: index for index, label in enumerate(labels)}


def make_charts(results: Results, style: dict[str, int]) -> list[Chart]:
    """All charts of an experiment, table by table."""
    found = []
    for facts, groups in grouped(results):
        shown = [group for group in groups if group.records]
        for kind, draw in _DRAWN.items():
            if shown and (svg := draw(results, dict(facts), shown, style)):
                found.append(Chart(kind, chart_title(kind, facts), svg))
    return found


def chart_title(kind: str, facts: Facts) -> str:
    """What is shown, and for which data and setting."""
    told = dict(facts)
    return f"{kind}: {data_name(told)}, {told['setting']}"


def _per_task(
    results: Results, facts: dict[str, str], groups: Sequence[Group], style: dict[str, int]
) -> str:
    if facts["setting"] == SETTINGS["gzsl"] or results.show in ("memory", "ablation"):
        return ""
    series = []
    for group in groups:
        count = max(len(record["tasks"]) for record in group.records)
        points = [_point(group, task, _harmonic(task - 1), "task") for task in range(1, count + 1)]
        series.append(Series(group.label, style[group.label], tuple(filter(None, points))))
    last = max((point.x for each in series for point in each.points), default=1)
    ticks = [task for task in range(1, int(last) + 1) if last <= 10 or task == 1 or task % 5 == 0]
    return line_chart("H after every task", series, "task", "H in %", x_ticks=ticks)


def _memory(
    results: Results, facts: dict[str, str], groups: Sequence[Group], style: dict[str, int]
) -> str:
    if results.show != "memory":
        return ""
    lines: dict[str, list[Point]] = {}
    for group in groups:
        size = group.runs[0].config["memory_per_class"]
        point = _point(group, size or 0, _mean_harmonic, "memory per class")
        if point is not None:
            lines.setdefault(group.label, []).append(point)
    series = [Series(name, style[name], tuple(sorted(points))) for name, points in lines.items()]
    sizes = sorted({point.x for points in lines.values() for point in points})
    label = "samples in memory for each class"
    return line_chart("mH against memory", series, label, "mH in %", x_ticks=sizes)


def _ablation(
    results: Results, facts: dict[str, str], groups: Sequence[Group], style: dict[str, int]
) -> str:
    if results.show != "ablation":
        return ""
    paper = reported(results.reported, facts["dataset"], groups[0].protocol)
    bars = []
    for group in groups:
        cell = group.figure(_mean_harmonic)
        if isinstance(cell.value, float):
            row = paper.rows.get(group.runs[0].reported, {}) if paper else {}
            bars.append(Bar(group.label, cell.value, cell.deviation, row.get("mH")))
    has_reported = any(bar.reported is not None for bar in bars)
    label = f"mH in %{'; ring: reported (ResNet-101)' if has_reported else ''}"
    return bar_chart("mH with parts left out", bars, label)


def _seen_unseen(
    results: Results, facts: dict[str, str], groups: Sequence[Group], style: dict[str, int]
) -> str:
    """Each method's curve as the balance shifts, and where on it the method stands."""
    if results.show in ("memory", "tasks"):
        return ""
    series = []
    for group in groups:
        run = next(run for run in group.runs if run.state.record is not None)
        curve = run.analysis().get("curve")
        if curve is not None:
            line = [Point(x, y) for x, y in zip(curve["unseen"], curve["seen"], strict=True)]
            seen, unseen = curve["here"]
            area = group.figure(itemgetter("ausuc")).text()
            tip = f"{group.label}: unseen {unseen:.1f}, seen {seen:.1f}; AUSUC {area}"
            here = Series(group.label, style[group.label], (Point(unseen, seen, None, tip),))
            series += [replace(here, points=tuple(line), markers=False), here]
    title = "Seen against unseen accuracy as their balance shifts"
    return line_chart(title, series, "unseen accuracy in %", "seen accuracy in %", from_zero=True)


def _time(
    results: Results, facts: dict[str, str], groups: Sequence[Group], style: dict[str, int]
) -> str:
    if results.show in ("memory", "tasks"):
        return ""
    series = []
    for group in groups:
        seconds, harmonic = group.seconds(), group.figure(_mean_harmonic)
        if isinstance(seconds.value, float) and isinstance(harmonic.value, float):
            tip = f"{group.label}: {seconds.text()} s, mH {harmonic.text()}"
            point = Point(seconds.value, harmonic.value, harmonic.deviation, tip)
            series.append(Series(group.label, style[group.label], (point,), line=False))
    title = "Accuracy against training time"
    return line_chart(title, series, "seconds of training", "mH in %", logarithmic=True)


def _point(group: Group, x: float, value: Callable[..., float | None], what: str) -> Point | None:
    cell = group.figure(value)
    if not isinstance(cell.value, float):
        return None
    return Point(x, cell.value, cell.deviation, f"{group.label}, {what} {x:g}: {cell.text()}")


def _harmonic(task: int) -> Callable[[dict[str, Any]], float | None]:
    return lambda record: record["tasks"][task]["H"] if task < len(record["tasks"]) else None


_mean_harmonic = itemgetter("mH")
_DRAWN = {
    "H per task": _per_task,
    "Memory": _memory,
    "Ablation": _ablation,
    "Seen and unseen": _seen_unseen,
    "Training time": _time,
}
