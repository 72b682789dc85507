"""Charts: numbers land where they belong, and the text is sound XML."""

import math
import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mczsl.reports.plots import COLOURS
from mczsl.reports.svg import (
    Bar,
    Point,
    Series,
    _log_ticks,
    _ticks,
    bar_chart,
    line_chart,
    standalone,
)

NUMBERS = st.floats(-1e6, 1e6).map(lambda number: round(number, 3))
POINTS = st.lists(st.tuples(NUMBERS, NUMBERS, st.none() | st.floats(0, 1e3)), min_size=1)


def root(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


@given(POINTS, st.booleans(), st.booleans(), st.text(max_size=20))
def test_every_chart_is_sound_and_stays_inside(
    points: list[tuple[float, float, float | None]], line: bool, from_zero: bool, name: str
) -> None:
    printable = "".join(character for character in name if character.isprintable())
    series = Series(printable, 3, tuple(Point(*point, tip=printable) for point in points), line)
    svg = line_chart(printable, [series], "x", "y", from_zero=from_zero)
    box = [float(part) for part in root(svg).attrib["viewBox"].split()]
    for places in re.findall(r'points="([^"]*)"', svg):
        for x, y in (map(float, place.split(",")) for place in places.split()):
            assert -10 <= x <= box[2] + 10
            assert -10 <= y <= box[3] + 10
    assert "nan" not in svg.replace(printable, "")


def test_higher_values_are_drawn_higher_and_later_ones_to_the_right() -> None:
    series = Series("a", 0, (Point(1, 10), Point(2, 20), Point(4, 30)))
    (path,) = re.findall(r'<polyline [^>]*points="([^"]*)"', line_chart("t", [series], "x", "y"))
    places = [tuple(map(float, place.split(","))) for place in path.split()]
    (x1, y1), (x2, y2), (x3, y3) = places
    assert y1 - y2 == pytest.approx(y2 - y3, abs=0.11)
    assert y1 > y2 > y3
    assert x3 - x2 == pytest.approx(2 * (x2 - x1), abs=0.11)


def test_bands_have_the_width_of_a_deviation_and_accuracies_stay_above_zero() -> None:
    series = Series("a", 0, (Point(1, 5, 10.0), Point(2, 50, 10.0)))
    svg = line_chart("t", [series], "x", "y")
    (band,) = re.findall(r'<polygon class="band c0" points="([^"]*)"', svg)
    places = [tuple(map(float, place.split(","))) for place in band.split()]
    bottom = max(y for _, y in places)
    (axis,) = re.findall(r'<line class="axis" x1="\S+" y1="(\S+)"', svg)
    assert bottom <= float(axis)


@pytest.mark.parametrize("count", [7, 14])
def test_series_are_told_apart_by_more_than_colour(count: int) -> None:
    series = [Series(f"s{i}", i, (Point(0, i), Point(1, i))) for i in range(count)]
    groups = [g for g in root(line_chart("t", series, "x", "y")) if g.get("class") == "series"]
    looks = set()
    for group in groups:
        line, marker = group[0], group[-1]
        shape = marker.tag + str(len((marker.get("points") or "").split()))
        first = (marker.get("points") or "0,0").split()[0]
        corner = re.sub(r"-?\d+\.\d+", lambda m: str(round(float(m.group()) % 1, 1)), first)
        looks.add((shape, "hollow" in marker.get("class"), line.get("stroke-dasharray"), corner))
    assert len(groups) == count
    assert len(looks) >= min(count, len(COLOURS))


def test_points_without_lines_are_told_apart_too() -> None:
    series = [Series(f"s{i}", i, (Point(0, 0),), line=False) for i in range(28)]
    groups = [g for g in root(line_chart("t", series, "x", "y")) if g.get("class") == "series"]
    markers = [group[-1] for group in groups]
    looks = {(each.tag, each.get("class"), each.get("points")) for each in markers}
    assert len(looks) == 28


@pytest.mark.parametrize("names", [["MCZSL", "ESZSL", "WWWWW"], ["MCZSL (paper) - memory"] * 3])
def test_the_names_in_a_legend_have_room(names: list[str]) -> None:
    series = [Series(f"{name}{i}", i, (Point(0, i),)) for i, name in enumerate(names)]
    keys = [g for g in root(line_chart("t", series, "x", "y")) if g.get("class") == "key"]
    starts = [(float(key[-1].get("x")) - 30, key[-1].get("y"), key[-1].text) for key in keys]
    for (x, y, text), (next_x, next_y, _) in pairwise(starts):
        assert y != next_y or next_x - x >= 30 + 9 * len(text)


def test_what_bars_may_vary_by_stays_inside() -> None:
    svg = bar_chart("t", [Bar("a", 3.0, 5.0)], "mH")
    (zero,) = re.findall(r'<rect [^>]*x="([^"]*)"', svg)
    (low,) = re.findall(r'<line class="axis" x1="([^"]*)"', svg)
    assert float(low) == float(zero)


def test_a_logarithmic_axis_has_equal_steps_for_equal_factors() -> None:
    series = Series("a", 0, tuple(Point(10.0**k, k) for k in range(4)))
    svg = line_chart("t", [series], "x", "y", logarithmic=True)
    (path,) = re.findall(r'<polyline [^>]*points="([^"]*)"', svg)
    xs = [float(place.split(",")[0]) for place in path.split()]
    steps = [after - before for before, after in pairwise(xs)]
    assert steps == pytest.approx([steps[0]] * 3, abs=0.21)


@given(st.floats(1e-3, 1e5), st.floats(1.69, 1e6))
def test_a_logarithmic_axis_has_some_ticks(low: float, factor: float) -> None:
    ticks = _log_ticks(low, low * factor)
    assert 2 <= len(ticks) <= 10
    assert all(low * 0.999 <= tick <= low * factor * 1.001 for tick in ticks)


def test_bars_are_as_long_as_their_values() -> None:
    svg = bar_chart("t", [Bar("a", 10.0, 1.0), Bar("b", 40.0, None, reported=50.0)], "mH")
    widths = [float(width) for width in re.findall(r'<rect [^>]*width="([^"]*)"', svg)]
    assert widths[1] == pytest.approx(4 * widths[0], abs=0.5)
    assert "reported 50.00" in svg
    root(svg)


def test_nothing_gives_nothing() -> None:
    assert line_chart("t", [Series("a", 0, ())], "x", "y") == ""
    assert bar_chart("t", [], "x") == ""


def test_names_are_escaped() -> None:
    evil = '"><script>alert(1)</script>&'
    for svg in (
        line_chart(evil, [Series(evil, 0, (Point(0, 0, None, evil),))], evil, evil),
        bar_chart(evil, [Bar(evil, 1.0)], evil),
    ):
        assert "<script" not in svg
        assert root(svg).get("aria-label") == evil


def test_a_chart_for_a_file_carries_its_style() -> None:
    svg = standalone(bar_chart("t", [Bar("a", 1.0)], "x"))
    assert root(svg).tag == "{http://www.w3.org/2000/svg}svg"
    assert "prefers-color-scheme:dark" in svg


@given(st.floats(-1e5, 1e5), st.floats(1e-3, 1e5))
def test_ticks_are_few_round_and_inside(low: float, width: float) -> None:
    ticks = _ticks(low, low + width)
    assert 1 <= len(ticks) <= 8
    assert all(low - 1e-6 * width <= tick <= low + 1.000001 * width for tick in ticks)
    steps = {round((b - a) / 10 ** math.floor(math.log10(b - a)), 3) for a, b in pairwise(ticks)}
    assert steps <= {1.0, 2.0, 5.0, 10.0}
