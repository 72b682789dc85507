"""Rows: what they are called, and which of them compete."""

import pytest

from mczsl.reports.cells import Cell
from mczsl.reports.rows import Ground, Group, grounds, grouped, not_ranked, ranked_rows
from tests.reports.made_up import made_up, record

ALL = record(memory_capacity=None)


def rows_of(*runs: tuple) -> list[Group]:
    ((_, groups),) = grouped(made_up(list(runs)).runs)
    return groups


def ranks(groups: list[Group], values: list[float]) -> list[int]:
    return [cell.rank for cell in ranked_rows(groups, [Cell(value) for value in values])]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"candidates": "restricted"}, ("candidates joint", "candidates restricted")),
        ({"tasks": 3}, ("tasks default", "tasks 3")),
        ({"seeds": {"image_split": 1}}, ("image split seed 0", "image split seed 1")),
        ({"seeds": {"class_order": 1}}, ("class order default", "class order seed 1")),
    ],
    ids=str,
)
def test_tables_are_called_by_what_sets_them_apart(change: dict, told: tuple[str, str]) -> None:
    tables = grouped(made_up([("A", 0, record()), ("A", 0, record(), change)]).runs)
    assert [ground.setting for ground in grounds(facts for facts, _ in tables).values()] == [
        f"fixed continual GZSL, {each}" for each in told
    ]


def test_what_differs_with_the_setting_anyway_is_not_said() -> None:
    runs = [("A", 0, record(), {"protocol": name, "tasks": 3}) for name in ("fixed", "dynamic")]
    tables = grouped(made_up(runs).runs)
    assert list(grounds(facts for facts, _ in tables).values()) == [
        Ground("data/res101/att", "fixed continual GZSL"),
        Ground("data/res101/att", "dynamic continual GZSL"),
    ]


def test_rows_of_one_label_are_called_by_what_sets_them_apart() -> None:
    groups = rows_of(
        ("A", 0, record()),
        ("A", 0, record(), {"preset": "paper"}),
        ("A", 0, record(), {"preset": "paper", "settings": {"hidden": 8}}),
        ("B", 0, record(), {"settings": {"hidden": 9}}),
    )
    assert [group.label for group in groups] == [
        "A, preset default, hidden default",
        "A, preset paper, hidden default",
        "A, preset paper, hidden 8",
        "B",
    ]


def test_a_row_is_called_by_its_memory_where_that_differs() -> None:
    small = {"memory_per_class": 1}
    groups = rows_of(("A", 0, record()), ("A", 0, record(), small), ("B", 0, record(), small))
    assert [group.name for group in groups] == ["A", "A, memory 1", "B, memory 1"]
    assert [group.label for group in groups] == ["A", "A", "B"]
    assert [group.name for group in rows_of(("A", 0, record(), small))] == ["A"]


def test_the_same_run_counts_once_however_its_data_was_named() -> None:
    runs = made_up([("A", 0, record())]).runs
    ((_, (group,)),) = grouped(runs + runs)
    assert group.count() == "1"


def test_a_row_that_keeps_everything_does_not_compete() -> None:
    groups = rows_of(("Joint", 0, ALL), ("A", 0, record()), ("B", 0, record(memory_capacity=0)))
    assert ranks(groups, [90.0, 50.0, 60.0]) == [0, 2, 1]
    assert not_ranked(groups) == ["Joint keeps all samples and is not ranked."]


def test_in_gzsl_there_is_no_past_to_keep() -> None:
    gzsl = {"protocol": "gzsl"}
    groups = rows_of(("Joint", 0, ALL, gzsl), ("A", 0, record(memory_capacity=0), gzsl))
    assert ranks(groups, [90.0, 50.0]) == [1, 2]
    assert not not_ranked(groups)


def test_less_than_the_usual_memory_competes_with_it_and_more_does_not() -> None:
    groups = rows_of(
        ("A", 0, record()),
        ("B", 0, record()),
        ("A", 0, record(memory_capacity=10), {"memory_per_class": 1}),
        ("A", 0, record(memory_capacity=500), {"memory_per_class": 50}),
    )
    assert ranks(groups, [50.0, 40.0, 30.0, 90.0]) == [1, 2, 0, 0]
    assert ranks(groups, [50.0, 40.0, 60.0, 90.0]) == [2, 0, 1, 0]
