"""Progress, time left and failures, from what is on disk."""

from pathlib import Path
from typing import Any

import pytest

from mczsl.errors import StorageError
from mczsl.experiments.folder import ResultFolder, RunState, is_locked, locked, run_key
from mczsl.experiments.results import (
    Result,
    Results,
    describe,
    read_results,
    seconds_left,
    summarise,
)
from mczsl.runs.config import RunConfig

CONFIG: dict[str, Any] = RunConfig(dataset="CUB", semantics="att").model_dump(mode="json")


def result(state: RunState, label: str = "A", **changes: Any) -> Result:
    return Result(label, label, "", CONFIG | changes, "key", state)


def finished(seconds: float) -> RunState:
    return RunState("finished", {"total_seconds": seconds})


def running(seconds: float, left: float) -> RunState:
    return RunState("running", progress={"seconds": seconds, "seconds_left": left})


def test_time_left_is_that_of_runs_like_it() -> None:
    waiting = RunState("waiting")
    assert seconds_left([result(finished(10))]) == 0
    assert seconds_left([result(waiting)]) is None
    assert seconds_left([result(finished(10)), result(finished(20)), result(waiting)]) == 15
    mixed = [result(finished(10)), result(finished(100), label="B"), result(waiting, label="B")]
    assert seconds_left(mixed) == 100
    assert seconds_left([result(finished(8)), result(waiting, dataset="other")]) == 8


def test_running_runs_share_the_rest() -> None:
    runs = [result(finished(10)), result(running(4, 6)), result(running(2, 8))]
    assert seconds_left([*runs, result(RunState("waiting"))]) == (6 + 8 + 10) / 2
    assert seconds_left([result(running(1, 30)), result(RunState("stopped"))]) == 30


def test_a_summary_counts_every_run_once() -> None:
    states = [
        finished(1),
        running(1, 1),
        RunState("waiting"),
        RunState("stopped"),
        RunState("failed", error="no room"),
        RunState("diverged", error="nan"),
        RunState("broken", error="half a record"),
    ]
    found = summarise(Results("x", "X", "methods", None, "", tuple(map(result, states))))
    assert found["total"] == 7
    parts = ("finished", "running", "waiting", "stopped", "failed")
    assert [found[part] for part in parts] == [1, 1, 1, 1, 3]
    assert [failure["error"] for failure in found["failures"]] == [
        "no room",
        "nan",
        "half a record",
    ]


def test_a_run_is_described_by_what_sets_it_apart() -> None:
    told = describe(result(RunState("waiting"), protocol="fixed", memory_per_class=3))
    assert told == "A on CUB/att, fixed, memory 3 per class, seed 0"
    told = describe(result(RunState("waiting"), protocol="fixed", candidates="restricted"))
    assert told == "A on CUB/att, fixed, candidates restricted, seed 0"


def test_keys_follow_configuration_data_and_code_but_not_places() -> None:
    config = RunConfig(dataset="CUB", data_root=Path("here"))
    key = run_key(config, "data", "code")
    moved = config.model_copy(update={"data_root": Path("there"), "dataset": "there/CUB"})
    assert run_key(moved, "data", "code") == key
    other = config.model_copy(update={"settings": {"hidden": 3}})
    keys = {
        key,
        run_key(other, "data", "code"),
        run_key(config, "d", "code"),
        run_key(config, "data", "c"),
    }
    assert len(keys) == 4


def test_a_lock_is_held_by_one(tmp_path: Path) -> None:
    assert not is_locked(tmp_path)
    with locked(tmp_path) as mine, locked(tmp_path) as other:
        assert (mine, other) == (True, False)
        assert is_locked(tmp_path)
    assert not is_locked(tmp_path)


def test_a_plan_of_another_version_says_what_to_do(tmp_path: Path) -> None:
    folder = ResultFolder(tmp_path)
    folder.write_plan("old", {"title": "Old", "runs": [{"label": "A"}]})
    with pytest.raises(StorageError, match="run the same bench again"):
        read_results(folder)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"status": "finished"}', "\x00"])
def test_a_broken_record_is_neither_finished_nor_waiting(tmp_path: Path, content: str) -> None:
    folder = ResultFolder(tmp_path)
    folder.run("k").mkdir(parents=True)
    (folder.run("k") / "record.json").write_text(content)
    state = folder.state("k")
    assert state.state == "broken"
    assert "record.json" in (state.error or "")
