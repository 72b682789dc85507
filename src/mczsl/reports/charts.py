"""Which charts an experiment gets, and what they show."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any

from mczsl.evaluation.metrics import harmonic_mean
from mczsl.experiments.reported import reported
from mczsl.experiments.results import Result, Results
from mczsl.reports.rows import SETTINGS, Ground, Group, grounds, grouped
from mczsl.reports.svg import Bar, Point, Series, bar_chart, line_chart


@dataclass(frozen=True)
class Chart:
    """A picture, what kind it is, and what is to be seen."""

    kind: str
    title: str
    svg: str


def styles(experiments: Iterable[Results]) -> dict[str, int]:
    """The same colour and marker for the same row in all charts."""
    known = list(experiments)
    names = dict.fromkeys(run.label for results in known for run in results.runs)
    for results in known:
        for _, groups in grouped(results.runs):
            names |= dict.fromkeys(name for group in groups for name in (group.label, group.name))
    return {name: index for index, name in enumerate(names)}


def make_charts(results: Results, style: dict[str, int]) -> list[Chart]:
    """All charts of an experiment, table by table."""
    found = []
    tables = grouped(results.runs)
    names = grounds(facts for facts, _ in tables)
    for facts, groups in tables:
        shown = [group for group in groups if group.records]
        for kind, draw in _DRAWN.items():
            if shown and (svg := draw(results, dict(facts), shown, style)):
                found.append(Chart(kind, chart_title(kind, names[facts]), svg))
    return found


def chart_title(kind: str, ground: Ground) -> str:
    """What is shown, and for which data and setting."""
    return f"{kind}: {ground.data}, {ground.setting}"


def _per_task(
    results: Results, facts: dict[str, str], groups: Sequence[Group], style: dict[str, int]
) -> str:
    if facts["setting"] == SETTINGS["gzsl"] or results.show in ("memory", "ablation"):
        return ""
    series = []
    for group in groups:
        count = max(len(record["tasks"]) for record in group.records)
        points = [
            _point(group, task, _harmonic(task - 1), f"{group.name}, task {task}")
            for task in range(1, count + 1)
        ]
        series.append(Series(group.name, style[group.name], tuple(filter(None, points))))
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
        size = group.memory_per_class or 0
        tip = f"{group.label}, memory per class {size}"
        point = _point(group, size, _mean_harmonic, tip)
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
            bars.append(Bar(group.name, cell.value, cell.deviation, row.get("mH")))
    has_reported = any(bar.reported is not None for bar in bars)
    label = f"mH in %{'; ring: reported (ResNet-101)' if has_reported else ''}"
    return bar_chart("mH with parts left out", bars, label)


def _seen_unseen(
    results: Results, facts: dict[str, str], groups: Sequence[Group], style: dict[str, int]
) -> str:
    """Each method's curve as the balance shifts, and where on it the method stands.

    A curve is that of one run after its last task that counts.
    """
    if results.show in ("memory", "tasks"):
        return ""
    series: list[Series] = []
    moments: dict[str, None] = {}
    for group in groups:
        run = next(run for run in group.runs if run.state.record is not None)
        analysis = run.analysis()
        curve = analysis.get("curve")
        if curve is not None:
            line = [Point(x, y) for x, y in zip(curve["unseen"], curve["seen"], strict=True)]
            seen, unseen = curve["here"]
            moment = f"after task {analysis['task']}, seed {run.config['seeds']['training']}"
            tip = f"{group.name}, {moment}: {_told(curve, run, analysis['task'])}"
            here = Series(group.name, style[group.name], (Point(unseen, seen, None, tip),))
            series += [replace(here, points=tuple(line), markers=False), here]
            moments[moment] = None
    when = "; ".join(moments)
    title = f"Seen against unseen accuracy as their balance shifts, {when}"
    x_label = f"unseen accuracy in % ({when if len(moments) == 1 else 'one run of each'})"
    return line_chart(title, series, x_label, "seen accuracy in %", from_zero=True)


def _told(curve: dict[str, Any], run: Result, task: int) -> str:
    """The figures of a curve; older analyses do not have what the best offset would give."""
    seen, unseen = curve["here"]
    told = f"unseen {unseen:.1f}, seen {seen:.1f}"
    if run.state.record is not None:
        told += f"; AUSUC {run.state.record['tasks'][task - 1]['ausuc']:.2f}"
    if (best := curve.get("best_H")) is not None:
        now = harmonic_mean(seen, unseen)
        told += (
            f"; H {now:.2f}, and {best:.2f} with an offset picked on the test: the distance left "
            "for calibration, not a result"
        )
    return told


def _time(
    results: Results, facts: dict[str, str], groups: Sequence[Group], style: dict[str, int]
) -> str:
    if results.show in ("memory", "tasks"):
        return ""
    series = []
    for group in groups:
        seconds, harmonic = group.seconds(), group.figure(_mean_harmonic)
        if isinstance(seconds.value, float) and isinstance(harmonic.value, float):
            tip = f"{group.name}: {seconds.text()} s, mH {harmonic.text()}"
            point = Point(seconds.value, harmonic.value, harmonic.deviation, tip)
            series.append(Series(group.name, style[group.name], (point,), line=False))
    title = "Accuracy against training time"
    return line_chart(title, series, "seconds of training", "mH in %", logarithmic=True)


def _point(group: Group, x: float, value: Callable[..., float | None], tip: str) -> Point | None:
    cell = group.figure(value)
    if not isinstance(cell.value, float):
        return None
    return Point(x, cell.value, cell.deviation, f"{tip}: {cell.text()}")


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
