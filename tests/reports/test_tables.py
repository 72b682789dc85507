"""Tables: what is averaged, what is ranked, and what is said about the rest."""

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mczsl.experiments.folder import RunState
from mczsl.experiments.results import Result, Results
from mczsl.reports.cells import Cell, mean_cell, ranked
from mczsl.reports.tables import Table, make_tables
from tests.reports.made_up import made_up, record


def column(table: Table, name: str) -> list[Cell]:
    at = [each.full_name for each in table.columns].index(name)
    return [row[at] for row in table.rows]


def texts(table: Table, name: str) -> list[str]:
    return [cell.text() for cell in column(table, name)]


def test_mean_and_sample_deviation_by_hand() -> None:
    (table,) = make_tables(made_up([("A", 0, record(mH=50.0)), ("A", 1, record(mH=54.0))]))
    (cell,) = column(table, "mH")
    assert (cell.value, cell.deviation) == (52.0, pytest.approx(math.sqrt(8.0)))
    assert cell.text() == "52.00 ± 2.83"
    assert texts(table, "n") == ["2"]


def test_one_seed_has_no_deviation() -> None:
    (table,) = make_tables(made_up([("A", 0, record(mH=50.0))]))
    assert texts(table, "mH") == ["50.00"]
    assert texts(table, "n") == ["1"]


def test_a_diverged_run_is_counted_and_its_row_does_not_compete() -> None:
    failed = RunState("diverged", error="the loss is nan")
    runs = [("A", 0, record(mH=90.0)), ("A", 1, failed), ("B", 0, record(mH=50.0))]
    (table,) = make_tables(made_up(runs))
    assert texts(table, "n") == ["1 of 2 (1 diverged)", "1"]
    assert [cell.rank for cell in column(table, "mH")] == [0, 1]
    assert table.notes == ("1 run(s) of A: diverged: the loss is nan",)


def test_a_row_without_any_result_is_still_there() -> None:
    runs = [("A", 0, RunState("waiting")), ("B", 0, record())]
    (table,) = make_tables(made_up(runs))
    assert texts(table, "method") == ["A", "B"]
    assert texts(table, "mH")[0] == "–"
    assert texts(table, "n") == ["0 of 1 (1 waiting)", "1"]


@pytest.mark.parametrize(
    "change",
    [
        {"dataset": "other"},
        {"features": "other"},
        {"semantics": "other"},
        {"protocol": "dynamic"},
        {"candidates": "restricted"},
        {"tasks": 3},
        {"seeds": {"image_split": 1}},
        {"seeds": {"class_order": 1}},
    ],
    ids=str,
)
def test_runs_on_other_grounds_are_in_another_table(change: dict) -> None:
    runs = [("A", 0, record(mH=10.0)), ("A", 0, record(mH=30.0), change)]
    tables = make_tables(made_up(runs))
    assert [texts(table, "mH") for table in tables] == [["10.00"], ["30.00"]]
    assert len({table.caption() for table in tables}) == 2, "the tables do not say how they differ"


@pytest.mark.parametrize(
    "change", [{"settings": {"calibration": "auto"}}, {"method": "x"}, {"memory_per_class": 3}]
)
def test_other_configurations_are_other_rows(change: dict) -> None:
    runs = [("A", 0, record(mH=10.0)), ("A", 1, record(mH=30.0), change)]
    (table,) = make_tables(made_up(runs))
    assert texts(table, "mH") == ["10.00", "30.00"]


def test_rows_say_their_calibration_and_use_of_unseen_attributes() -> None:
    used = record(calibration="auto", uses_unseen_attributes=True)
    (table,) = make_tables(made_up([("A", 0, record()), ("B", 0, used)]))
    assert texts(table, "calibration") == ["none", "auto"]
    assert texts(table, "unseen attributes") == ["no", "in training"]


def test_reported_figures_have_their_own_columns_and_no_rank() -> None:
    runs = [("MCZSL", 0, record(mH=10.0)), ("Mine", 0, record(mH=20.0))]
    (table,) = make_tables(made_up(runs, reported="table2", dataset="CUB"))
    reported = column(table, "mH, reported (ResNet-101)")
    assert reported[0].value == 51.31
    assert [cell.rank for cell in reported] == [0] * len(table.rows)
    assert [cell.rank for cell in column(table, "mH")[:2]] == [2, 1]
    labels = texts(table, "method")
    assert labels[:2] == ["MCZSL", "Mine"]
    assert set(labels[2:]) == {
        "Sequential", "Seq-CVAE", "Seq-CADA", "AGEM-CZSL", "CZSL-CV+res", "CZSL-CA+res", "NM-ZSL"
    }  # fmt: skip
    assert all(cell.value is None for cell in column(table, "mH")[2:])
    assert any("not ranked" in note for note in table.notes)


def test_errors_of_the_paper_are_noted() -> None:
    runs = [("A", 0, record(), {"protocol": "gzsl"})]
    (table,) = make_tables(made_up(runs, reported="table1", dataset="AWA1"))
    assert any("swaps the columns" in note for note in table.notes)
    assert any("71.0" in note for note in table.notes)


def test_what_only_resembles_the_papers_data_gets_no_reported_column() -> None:
    (table,) = make_tables(
        made_up([("A", 0, record())], reported="table2", dataset="synthetic:cub")
    )
    assert not any(each.group for each in table.columns)


def test_h_per_task() -> None:
    runs = [("A", seed, record(H=[10.0 * seed, 5.0, None])) for seed in (1, 3)]
    _, by_task = make_tables(made_up(runs, show="tasks"))
    assert [cell.text() for cell in by_task.rows[0]] == ["A", "20.00 ± 14.14", "5.00 ± 0.00", "–"]
    assert any("H is not defined there" in note for note in by_task.notes)
    assert not make_tables(made_up([("A", 0, record())], show="tasks"))[1].notes


def test_rows_say_their_memory_where_it_differs() -> None:
    small = record(memory_capacity=10)
    runs = [("A", 0, record()), ("A", 0, small, {"memory_per_class": 1})]
    runs += [("Joint", 0, record(memory_capacity=None)), ("B", 0, RunState("waiting"))]
    (table,) = make_tables(made_up(runs))
    assert texts(table, "memory") == ["100", "10", "all", "–"]
    (table,) = make_tables(made_up([("A", 0, record()), ("B", 0, record())]))
    assert "memory" not in [each.name for each in table.columns]


def test_the_upper_bound_is_not_ranked_and_a_small_memory_not_by_itself() -> None:
    runs = [
        ("Joint", 0, record(mH=90.0, memory_capacity=None)),
        ("A", 0, record(mH=60.0)),
        ("B", 0, record(mH=50.0)),
        ("A", 0, record(mH=40.0, memory_capacity=10), {"memory_per_class": 1}),
    ]
    (table,) = make_tables(made_up(runs))
    assert [cell.rank for cell in column(table, "mH")] == [0, 1, 2, 0]
    assert table.notes == ("Joint keeps all samples and is not ranked.",)


def test_memory_sizes_compete_apart() -> None:
    runs = [
        (label, 0, record(mH=value), {"memory_per_class": size})
        for label, size, value in [("A", 1, 10.0), ("B", 1, 20.0), ("A", 9, 40.0), ("B", 9, 30.0)]
    ]
    (table,) = make_tables(made_up(runs, show="memory"))
    assert [cell.rank for cell in column(table, "mH")] == [2, 1, 1, 2]


@given(st.lists(st.floats(0, 100), min_size=1, max_size=8), st.booleans())
def test_ranks_follow_the_printed_figures(values: list[float], higher: bool) -> None:
    cells = ranked([mean_cell([value]) for value in values], [True] * len(values), higher)
    shown = [float(cell.text()) for cell in cells]
    best = max(shown) if higher else min(shown)
    assert {value for value, cell in zip(shown, cells, strict=True) if cell.rank == 1} == {best}
    others = [value for value in shown if value != best]
    seconds = {value for value, cell in zip(shown, cells, strict=True) if cell.rank == 2}
    assert seconds == ({max(others) if higher else min(others)} if others else set())


def test_a_trace_is_told_in_one_line() -> None:
    trace = "Traceback (most recent call last):\n  File x\nRuntimeError: out of memory"
    (table,) = make_tables(made_up([("A", 0, RunState("failed", error=trace))]))
    assert table.notes == ("1 run(s) of A: failed: RuntimeError: out of memory",)


def test_a_result_without_a_folder_has_no_analysis(tmp_path: Path) -> None:
    result = Result("A", "A", "", {}, None, RunState("failed", error="no data"))
    assert result.analysis() == {}
    assert Result("A", "A", "", {}, "k", RunState("waiting"), tmp_path).analysis() == {}
    assert isinstance(made_up([]), Results)
