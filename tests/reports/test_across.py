"""One figure of every method across datasets and settings."""

import pytest

from mczsl.errors import MczslError
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
