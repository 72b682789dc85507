"""Charts: what they say about what they show."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from mczsl.experiments.results import Results
from mczsl.reports.charts import make_charts, styles
from tests.reports.made_up import made_up, record

CURVE = {"seen": [80.0, 0.0], "unseen": [0.0, 60.0], "here": [60.0, 30.0]}


def analysed(folder: Path, curves: list[dict[str, Any]], seeds: list[int]) -> Results:
    """A row with two finished runs for each of the curves, which belong to the row's first run."""
    told = record(ausuc=99.0)
    told["tasks"] = [{"task": n, "H": 40.0, "ausuc": 20.0 + n} for n in (1, 2, 3)]
    runs = [(f"row {n}", seed + more, told) for n, seed in enumerate(seeds) for more in (0, 1)]
    made = made_up(runs)
    found = []
    for number, run in enumerate(made.runs):
        (place := folder / str(number)).mkdir()
        analysis = {"task": 2, "curve": curves[number // 2]}
        (place / "analysis.json").write_text(json.dumps(analysis))
        found.append(replace(run, folder=place))
    return replace(made, runs=tuple(found))


def seen_unseen(results: Results) -> str:
    charts = make_charts(results, styles([results]))
    (svg,) = (chart.svg for chart in charts if chart.kind == "Seen and unseen")
    return svg


def test_a_curve_says_of_which_run_and_task_it_is_with_that_tasks_area(tmp_path: Path) -> None:
    svg = seen_unseen(analysed(tmp_path, [CURVE], [5]))
    assert "as their balance shifts, after task 2, seed 5</title>" in svg
    assert "unseen accuracy in % (after task 2, seed 5)</text>" in svg
    tip = "row 0, after task 2, seed 5: unseen 30.0, seen 60.0; AUSUC 22.00"
    assert f"<title>{tip}</title>" in svg, "an analysis of before the best offset was in it"
    assert "99" not in svg


def test_what_the_best_offset_would_give_is_told_and_not_as_a_result(tmp_path: Path) -> None:
    svg = seen_unseen(analysed(tmp_path, [CURVE | {"best_H": 43.21}], [0]))
    assert (
        "AUSUC 22.00; H 40.00, and 43.21 with an offset picked on the test: the distance left for "
        "calibration, not a result</title>"
    ) in svg


def test_curves_of_different_seeds_say_so(tmp_path: Path) -> None:
    svg = seen_unseen(analysed(tmp_path, [CURVE, CURVE], [0, 3]))
    assert "unseen accuracy in % (one run of each)</text>" in svg
    assert "after task 2, seed 0; after task 2, seed 3</title>" in svg


def test_rows_of_one_label_have_names_and_styles_of_their_own() -> None:
    small = {"memory_per_class": 1}
    results = made_up([("A", 0, record()), ("A", 0, record(), small), ("B", 0, record())])
    style = styles([results])
    assert style == {"A": 0, "B": 1, "A, memory 1": 2}
    svg = next(c.svg for c in make_charts(results, style) if c.kind == "H per task")
    assert [name in svg for name in ('data-series="A"', 'data-series="A, memory 1"')] == [True] * 2
