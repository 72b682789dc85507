"""One figure of every method across datasets and settings."""

from dataclasses import replace

import pytest

from mczsl.errors import ConfigError, MczslError
from mczsl.experiments.folder import RunState
from mczsl.reports.across import harmonic_table, time_table
from tests.reports.made_up import made_up, record


def test_seconds_are_divided_by_those_of_the_base_row() -> None:
    fast, slow = record(train_seconds=4.0), record(train_seconds=30.0)
    table = time_table(
        made_up([("A", 0, fast), ("A", 1, record(train_seconds=8.0)), ("B", 0, slow)]), "A"
    )
    assert [[cell.value for cell in row] for row in table.rows] == [["A", 1.0], ["B", 7.5]]
    assert [column.full_name for column in table.columns] == [
        "method",
        "data/res101/att, fixed continual GZSL",
    ]


def test_each_setting_has_a_column_and_what_is_missing_stays_empty() -> None:
    waiting = RunState("waiting")
    gzsl = {"protocol": "gzsl"}
    table = time_table(
        made_up(
            [
                ("A", 0, record(train_seconds=2.0)),
                ("B", 0, waiting),
                ("A", 0, waiting, gzsl),
                ("B", 0, record(train_seconds=9.0), gzsl),
            ]
        ),
        "A",
    )
    assert [[cell.value for cell in row] for row in table.rows] == [
        ["A", 1.0, None],
        ["B", None, None],
    ]


def test_an_unknown_base_suggests_the_nearest() -> None:
    with pytest.raises(MczslError, match="'MCZSL'"):
        time_table(made_up([("MCZSL", 0, record())]), "MCSZL")


def test_the_overview_has_a_column_for_each_setting_of_all_experiments() -> None:
    fixed = made_up(
        [("A", 0, record(mH=40.0)), ("A", 1, record(mH=42.0)), ("B", 0, record(mH=50.0))]
    )
    gzsl = made_up([("B", 0, record(mH=30.0), {"protocol": "gzsl"})])
    table = harmonic_table([fixed, gzsl])
    assert [column.group for column in table.columns] == ["", "fixed continual GZSL", "GZSL"]
    assert [[cell.text() for cell in row] for row in table.rows] == [
        ["A", "41.00 ± 1.41", "–"],
        ["B", "50.00", "30.00"],
    ]
    assert [row[1].rank for row in table.rows] == [2, 1]


def test_a_row_with_missing_runs_is_not_ranked_in_the_overview() -> None:
    runs = [("A", 0, record(mH=90.0)), ("A", 1, RunState("waiting")), ("B", 0, record(mH=10.0))]
    table = harmonic_table([made_up(runs)])
    assert [row[1].rank for row in table.rows] == [0, 1]


RESTRICTED = {"candidates": "restricted"}


def test_results_that_cannot_be_compared_stand_in_columns_of_their_own() -> None:
    runs = [
        ("A", 0, record(mH=40.0, train_seconds=2.0)),
        ("B", 0, record(mH=50.0, train_seconds=6.0)),
        ("B", 0, record(mH=90.0, train_seconds=8.0), RESTRICTED),
    ]
    headings = [
        "method",
        "data/res101/att, fixed continual GZSL, candidates joint",
        "data/res101/att, fixed continual GZSL, candidates restricted",
    ]
    table = harmonic_table([made_up(runs)])
    assert [column.full_name for column in table.columns] == headings
    assert [[cell.value for cell in row] for row in table.rows] == [
        ["A", 40.0, None],
        ["B", 50.0, 90.0],
    ]
    table = time_table(made_up(runs), "A")
    assert [column.full_name for column in table.columns] == headings
    assert [[cell.value for cell in row] for row in table.rows] == [
        ["A", 1.0, None],
        ["B", 3.0, None],
    ]
    assert table.notes == (f"{headings[-1]}: has no row A.",)


def test_experiments_that_differ_in_their_tasks_are_told_apart() -> None:
    usual, few = made_up([("A", 0, record(mH=40.0))]), [("A", 0, record(mH=60.0), {"tasks": 2})]
    table = harmonic_table([usual, made_up(few)])
    assert [column.group.rpartition(", ")[2] for column in table.columns] == [
        "", "tasks default", "tasks 2"
    ]  # fmt: skip
    assert [cell.value for cell in table.rows[0]] == ["A", 40.0, 60.0]


def test_rows_of_one_label_are_not_merged() -> None:
    runs = [
        ("A", 0, record(mH=40.0)),
        ("A", 0, record(mH=30.0), {"memory_per_class": 1}),
        ("B", 0, record(mH=20.0)),
    ]
    other = made_up([("B", 0, record(mH=10.0), {"preset": "paper"})])
    table = harmonic_table([made_up(runs), other])
    assert [[cell.value for cell in row] for row in table.rows] == [
        ["A", 40.0],
        ["A, memory 1", 30.0],
        ["B, preset default", 20.0],
        ["B, preset paper", 10.0],
    ]
    assert [row[1].rank for row in table.rows] == [1, 2, 0, 0]


def test_a_run_of_several_experiments_is_counted_once() -> None:
    first = made_up([("A", 0, record(mH=40.0)), ("A", 1, record(mH=42.0))])
    second = made_up([("A", 0, record(mH=40.0)), ("B", 0, record(mH=50.0))])
    table = harmonic_table([first, second])
    assert [[cell.text() for cell in row] for row in table.rows] == [
        ["A", "41.00 ± 1.41"],
        ["B", "50.00"],
    ]
    assert [row[1].rank for row in table.rows] == [2, 1]


def test_runs_of_other_code_are_not_shown_as_one() -> None:
    (run,) = made_up([("A", 0, record())]).runs
    newer = replace(made_up([]), runs=(replace(run, key="of newer code"),))
    with pytest.raises(ConfigError, match="A on data/res101/att, fixed, seed 0: is of different"):
        harmonic_table([made_up([("A", 0, record())]), newer])


def test_rows_that_no_name_tells_apart_are_refused() -> None:
    """The seed of the image split, which the setting does not use."""
    dynamic = {"protocol": "dynamic"}
    runs = [
        ("A", 0, record(), dynamic),
        ("A", 0, record(), dynamic | {"seeds": {"image_split": 1}}),
    ]
    with pytest.raises(ConfigError, match="give each a label of its own"):
        harmonic_table([made_up(runs)])


def test_the_upper_bound_is_not_ranked_in_the_overview() -> None:
    runs = [("Joint", 0, record(mH=90.0, memory_capacity=None)), ("A", 0, record(mH=10.0))]
    table = harmonic_table([made_up(runs)])
    assert [row[1].rank for row in table.rows] == [0, 1]
    assert table.notes == ("Joint keeps all samples and is not ranked.",)
