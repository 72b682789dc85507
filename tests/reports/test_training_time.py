"""Training times in multiples of one row's."""

import pytest

from mczsl.errors import MczslError
from mczsl.experiments.folder import RunState
from mczsl.reports.training_time import time_table
from tests.reports.made_up import made_up, record


def test_seconds_are_divided_by_those_of_the_base_row() -> None:
    fast, slow = record(train_seconds=4.0), record(train_seconds=30.0)
    table = time_table(
        made_up([("A", 0, fast), ("A", 1, record(train_seconds=8.0)), ("B", 0, slow)]), "A"
    )
    assert [[cell.value for cell in row] for row in table.rows] == [["A", 1.0], ["B", 5.0]]
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
