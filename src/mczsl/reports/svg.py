"""Small charts as SVG text: told apart by colour, marker and dashes; readable in light and dark.

Colours are style classes, so that a page can change them; :func:`standalone` adds a style of its
own, for a chart in a file.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import NamedTuple

from mczsl.reports.plots import COLOURS

# The same hues as on white, lighter.
DARK_COLOURS = ("#5CB8F0", "#FF8C42", "#2ED3A0", "#E8A5CE", "#9BD8FF", "#F5BD48", "#EEEEEE")
_DASHES = ("", "7 3", "2 3", "9 3 2 3")
_CORNERS: tuple[tuple[tuple[float, float], ...], ...] = (
    (),  # the first is a circle
    ((-0.85, -0.85), (0.85, -0.85), (0.85, 0.85), (-0.85, 0.85)),
    ((0, -1), (0.95, 0.8), (-0.95, 0.8)),
    ((0, -1.1), (1.1, 0), (0, 1.1), (-1.1, 0)),
    ((0, 1), (0.95, -0.8), (-0.95, -0.8)),
    ((-1.2, -0.4), (1.2, -0.4), (1.2, 0.4), (-1.2, 0.4)),
    ((-0.4, -1.2), (0.4, -1.2), (0.4, 1.2), (-0.4, 1.2)),
)
_WIDTH, _HEIGHT = 440.0, 300.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 52.0, 12.0, 12.0, 44.0
_LETTER = 8.3  # a guess at the width of a letter at 13 pixels
_LINE = 20.0

STYLE = "".join(
    [
        "svg.chart{font:13px system-ui,sans-serif;color:var(--ink,#222)}",
        "svg.chart text{fill:currentColor}svg.chart .grid{stroke:currentColor;opacity:.15}",
        "svg.chart .axis{stroke:currentColor;opacity:.6}svg.chart .band{opacity:.18;stroke:none}",
        "svg.chart .line{fill:none;stroke-width:2}svg.chart .error{stroke-width:1.5;opacity:.8}",
        *(
            f"svg.chart .c{index}{{stroke:var(--c{index},{colour});fill:var(--c{index},{colour})}}"
            for index, colour in enumerate(COLOURS)
        ),
        "svg.chart .line{fill:none}svg.chart .hollow{fill:var(--paper,#fff);stroke-width:2}",
    ]
)
_DARK = ";".join(f"--c{index}:{colour}" for index, colour in enumerate(DARK_COLOURS))
_DARK_STYLE = f"@media(prefers-color-scheme:dark){{svg.chart{{--ink:#ddd;--paper:#222;{_DARK}}}}}"


class Point(NamedTuple):
    """A point with the deviation of its height, and what to say about it."""

    x: float
    y: float
    deviation: float | None = None
    tip: str = ""


@dataclass(frozen=True)
class Series:
    """Points under one name; ``style`` is a number that stands for colour, marker and dashes."""

    name: str
    style: int
    points: tuple[Point, ...]
    line: bool = True
    markers: bool = True


class Bar(NamedTuple):
    """A bar, with a mark where something else is reported."""

    name: str
    value: float
    deviation: float | None = None
    reported: float | None = None


@dataclass(frozen=True)
class _Axis:
    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def place(self, value: float) -> float:
        low, high = self.low, self.high
        if self.logarithmic:
            low, high, value = math.log(low), math.log(high), math.log(max(value, low))
        return self.start + (value - low) / ((high - low) or 1) * (self.end - self.start)


def line_chart(
    title: str,
    series: Sequence[Series],
    x_label: str,
    y_label: str,
    *,
    x_ticks: Sequence[float] = (),
    logarithmic: bool = False,
    from_zero: bool = False,
) -> str:
    """Lines with bands of one deviation; series without a line are points with error bars."""
    points = [point for each in series for point in each.points]
    if not points:
        return ""
    x_axis = _axis([p.x for p in points], _LEFT, _WIDTH - _RIGHT, logarithmic, from_zero)
    floor = 0.0 if min(p.y for p in points) >= 0 else -math.inf
    reach = [max(floor, p.y + sign * (p.deviation or 0)) for p in points for sign in (-1, 1)]
    y_axis = _axis(reach, _HEIGHT - _BOTTOM, _TOP, from_zero=from_zero)
    parts = [_grid(x_axis, y_axis, x_label, y_label, x_ticks)]
    parts += [_series(each, x_axis, y_axis) for each in series if each.points]
    legend, height = _legend({each.name: each for each in series if each.points}.values())
    return _svg(title, [*parts, legend], _HEIGHT + height)


def bar_chart(title: str, bars: Sequence[Bar], x_label: str, style: int = 0) -> str:
    """Bars from left to right, one below the other, so that names have room."""
    if not bars:
        return ""
    left = min(0.5 * _WIDTH, 12 + _LETTER * max(len(bar.name) for bar in bars))
    reach = [bar.value + (bar.deviation or 0) for bar in bars]
    reach += [bar.reported for bar in bars if bar.reported is not None]
    x_axis = _axis([0.0, *reach], left, _WIDTH - 48, from_zero=True)
    bottom = _TOP + 28 * len(bars)
    parts = [
        _line(x_axis.place(tick), _TOP, x_axis.place(tick), bottom, "grid")
        + _text(x_axis.place(tick), bottom + 16, f"{tick:g}", "middle")
        for tick in _ticks(x_axis.low, x_axis.high)
    ]
    for number, bar in enumerate(bars):
        parts.append(_bar(bar, x_axis, _TOP + 28 * number, style))
    parts.append(_text((left + _WIDTH - 48) / 2, bottom + 36, x_label, "middle"))
    return _svg(title, parts, bottom + 46)


def standalone(svg: str) -> str:
    """A chart with its own style, for a file."""
    head, tag, rest = svg.partition(">")
    return (
        f'{head} xmlns="http://www.w3.org/2000/svg"{tag}<style>{STYLE}{_DARK_STYLE}</style>{rest}'
    )


def _svg(title: str, parts: Iterable[str], height: float) -> str:
    return (
        f'<svg class="chart" role="img" aria-label="{escape(title)}" '
        f'viewBox="0 0 {_WIDTH:g} {height:g}"><title>{escape(title)}</title>{"".join(parts)}</svg>'
    )


def _axis(
    values: Sequence[float],
    start: float,
    end: float,
    logarithmic: bool = False,
    from_zero: bool = False,
) -> _Axis:
    low, high = min(values), max(values)
    if logarithmic:
        low = max(low, 1e-3)
        return _Axis(low / 1.3, max(high, low) * 1.3, start, end, True)
    if from_zero:
        low = min(low, 0.0)
    room = 0.05 * ((high - low) or abs(high) or 1.0)
    lowest = max(0.0, low - room) if low >= 0 else low - room
    return _Axis(lowest, high + room, start, end)


def _ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers between two others.

    >>> _ticks(0, 10), _ticks(41.2, 58.9)
    ([0.0, 2.0, 4.0, 6.0, 8.0, 10.0], [45.0, 50.0, 55.0])
    """
    raw = (high - low) / about
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= raw * 0.99)
    first = math.ceil(low / step - 1e-9)
    return [round(step * k, 10) for k in range(first, math.floor(high / step + 1e-9) + 1)]


def _log_ticks(low: float, high: float) -> list[float]:
    """1, 2, 5, 10, ... between two numbers; some of them if that is many, others if few."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    found = [factor * 10.0**power for power in powers for factor in (1, 2, 5)]
    found = [tick for tick in found if low <= tick <= high]
    if len(found) < 2:
        return [tick for tick in _ticks(low, high) if tick > 0]
    return found if len(found) <= 7 else found[:: max(2, len(found) // 5)]


def _grid(
    x_axis: _Axis, y_axis: _Axis, x_label: str, y_label: str, x_ticks: Sequence[float]
) -> str:
    bottom, right = _HEIGHT - _BOTTOM, _WIDTH - _RIGHT
    parts = [_line(_LEFT, bottom, right, bottom, "axis")]
    for tick in _ticks(y_axis.low, y_axis.high):
        at = y_axis.place(tick)
        parts += [_line(_LEFT, at, right, at, "grid"), _text(_LEFT - 6, at + 4, f"{tick:g}", "end")]
    make = _log_ticks if x_axis.logarithmic else _ticks
    for tick in x_ticks or make(x_axis.low, x_axis.high):
        parts.append(_text(x_axis.place(tick), bottom + 17, f"{tick:g}", "middle"))
    parts.append(_text((_LEFT + right) / 2, bottom + 36, x_label, "middle"))
    middle = (bottom + _TOP) / 2
    turned = f' transform="rotate(-90 13 {middle:g})"'
    return "".join([*parts, _text(13, middle, y_label, "middle", turned)])


def _series(series: Series, x_axis: _Axis, y_axis: _Axis) -> str:
    colour = f"c{series.style % len(COLOURS)}"
    places = [(x_axis.place(p.x), y_axis.place(p.y)) for p in series.points]
    parts = []
    if series.line:
        parts.append(_band(series, x_axis, y_axis, colour))
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        dashes = _dashes(series.style)
        parts.append(f'<polyline class="line {colour}"{dashes} points="{path}"/>')
    for (x, y), point in zip(places, series.points, strict=True):
        if not series.line and point.deviation:
            low = y_axis.place(max(y_axis.low, point.y - point.deviation))
            high = y_axis.place(point.y + point.deviation)
            parts.append(_line(x, low, x, high, f"error {colour}"))
        if series.markers:
            parts.append(_marker(x, y, series.style, point.tip))
    return f'<g class="series" data-series="{escape(series.name)}">{"".join(parts)}</g>'


def _band(series: Series, x_axis: _Axis, y_axis: _Axis, colour: str) -> str:
    spread = [p for p in series.points if p.deviation is not None]
    if len(spread) < 2:
        return ""
    edge = [(p.x, p.y + (p.deviation or 0)) for p in spread]
    edge += [(p.x, max(y_axis.low, p.y - (p.deviation or 0))) for p in reversed(spread)]
    path = " ".join(f"{x_axis.place(x):.1f},{y_axis.place(y):.1f}" for x, y in edge)
    return f'<polygon class="band {colour}" points="{path}"/>'


def _dashes(style: int) -> str:
    """Solid for the first seven, then other dashes."""
    dashes = _DASHES[style // len(COLOURS) % len(_DASHES)]
    return f' stroke-dasharray="{dashes}"' if dashes else ""


def _marker(x: float, y: float, style: int, tip: str, size: float = 4.5) -> str:
    """Filled for the first seven, hollow for the next; every seven, colours get other shapes."""
    turn, colour_number = divmod(style, len(COLOURS))
    shape = (colour_number + turn // 2) % len(_CORNERS)
    colour = f"c{colour_number}{' hollow' if turn % 2 else ''}"
    title = f"<title>{escape(tip)}</title>" if tip else ""
    if shape == 0:
        return (
            f'<circle class="{colour}" cx="{x:.1f}" cy="{y:.1f}" r="{size - 0.5}">{title}</circle>'
        )
    path = " ".join(f"{x + size * dx:.1f},{y + size * dy:.1f}" for dx, dy in _CORNERS[shape])
    return f'<polygon class="{colour}" points="{path}">{title}</polygon>'


def _bar(bar: Bar, x_axis: _Axis, top: float, style: int) -> str:
    zero, end, middle = x_axis.place(0), x_axis.place(bar.value), top + 14
    colour = f"c{style % len(COLOURS)}"
    spread = "" if bar.deviation is None else f" ± {bar.deviation:.1f}"
    told = f"{bar.name}: {bar.value:.2f}{spread}"
    parts = [
        _text(zero - 6, middle + 4, bar.name, "end"),
        f'<rect class="{colour}" x="{zero:.1f}" y="{top + 5:g}" width="{max(0.0, end - zero):.1f}" '
        f'height="18"><title>{escape(told)}</title></rect>',
    ]
    if bar.deviation:
        low, high = max(x_axis.low, bar.value - bar.deviation), bar.value + bar.deviation
        parts.append(_line(x_axis.place(low), middle, x_axis.place(high), middle, "axis"))
    if bar.reported is not None:
        at = x_axis.place(bar.reported)
        title = f"<title>reported {bar.reported:.2f}</title>"
        parts.append(
            f'<path class="hollow c1" d="M{at:.1f} {top + 2:g}v24"/>'
            f'<circle class="hollow c1" cx="{at:.1f}" cy="{middle:g}" r="4">{title}</circle>'
        )
    return "".join([*parts, _text(_WIDTH - 4, middle + 4, f"{bar.value:.1f}", "end")])


def _legend(entries: Iterable[Series]) -> tuple[str, float]:
    """Names with their lines and markers, in as many rows as they need; gives the height too."""
    parts, x, y = [], _LEFT, _HEIGHT + 12
    for name, style, line in ((each.name, each.style, each.line) for each in entries):
        width = 44 + _LETTER * len(name)
        if x > _LEFT and x + width - 10 > _WIDTH:
            x, y = _LEFT, y + _LINE
        colour = f"c{style % len(COLOURS)}"
        stroke = (
            f'<path class="line {colour}"{_dashes(style)} d="M{x:g} {y:g}h24"/>' if line else ""
        )
        inner = stroke + _marker(x + 12, y, style, "") + _text(x + 30, y + 4, name, "start")
        parts.append(f'<g class="key" data-series="{escape(name)}">{inner}</g>')
        x += width
    return "".join(parts), y + 14 - _HEIGHT


def _line(x1: float, y1: float, x2: float, y2: float, style: str) -> str:
    return f'<line class="{style}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _text(x: float, y: float, text: str, anchor: str, more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{escape(text)}</text>'
