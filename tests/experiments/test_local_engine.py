"""The local engine: real processes that are killed, stopped, starved of disk and find damage."""

import json
import multiprocessing
import os
import resource
import signal
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from mczsl.experiments.bench import Ended, perform, prepare
from mczsl.experiments.folder import ResultFolder, is_locked, locked
from mczsl.experiments.local_engine import Job, OnEnd, run_locally
from mczsl.experiments.results import read_results, summarise
from mczsl.runs.config import RunConfig
from mczsl.runs.interrupts import Interrupted
from mczsl.runs.loop import run
from tests import forked
from tests.grids import QUICK, SLOW, SLOW_ONE, experiment, figures, perform_locally, runs_in
from tests.worlds import SMALL


@pytest.fixture
def folder(tmp_path: Path) -> ResultFolder:
    return ResultFolder(tmp_path / "out")


def uninterrupted(folder: ResultFolder) -> dict:
    """The record of the folder's only run, done in one go in this process."""
    (result,) = runs_in(folder)
    return run(RunConfig.model_validate(result.config))


def when(happens: Callable[[], bool], act: Callable[[], None]) -> threading.Thread:
    """Act from another thread as soon as something happens."""

    def watch() -> None:
        while not happens():
            time.sleep(0.002)
        act()

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    return thread


def checkpointed(folder: ResultFolder) -> Callable[[], bool]:
    """Whether the folder's only run has been through a stage."""
    return lambda: any(folder.path.glob("runs/*/checkpoint/manifest.json"))


def worker_pid(folder: ResultFolder) -> int:
    """The process at work in the folder's first run; 0 while it is just beginning."""
    lock = min(folder.path.glob("runs/*/lock"))
    return int(lock.read_text() or 0)


def kill_worker(folder: ResultFolder) -> None:
    pid = worker_pid(folder)
    assert pid, "0 would be this process's whole group"
    os.kill(pid, signal.SIGKILL)


def test_a_grid_is_done_once_and_equals_single_runs(folder: ResultFolder) -> None:
    wanted = experiment(
        protocols=["gzsl", "fixed"],
        variants=[
            {"label": "MCZSL", "method": "mczsl", "settings": QUICK},
            {"label": "Lower bound", "method": "sequential", "settings": QUICK},
        ],
        seeds=[0, 1],
    )
    heard = perform_locally(folder, wanted)
    assert [ended.done for ended in heard] == list(range(1, 9))
    assert all(ended.failure is None for ended in heard)
    for result in runs_in(folder):
        assert result.state.state == "finished"
        alone = run(RunConfig.model_validate(result.config))
        assert figures(result.state.record) == figures(alone) | {"run": result.config}
        assert result.analysis()["stages"]
        assert not (result.folder / "checkpoint").exists()
    before = {path: path.stat().st_mtime_ns for path in folder.path.glob("runs/*/record.json")}
    assert len(before) == 8
    assert perform_locally(folder, wanted) == []
    assert before == {p: p.stat().st_mtime_ns for p in folder.path.glob("runs/*/record.json")}


def test_no_file_says_where_this_machine_keeps_the_data(folder: ResultFolder) -> None:
    place = folder.path / "the data of this machine"
    jobs = prepare({"test": experiment()}, folder, place)
    perform(folder, jobs, lambda where, left, on_end: run_locally(where, left, 1, on_end))
    assert [run.state.state for run in runs_in(folder)] == ["finished"]
    texts = {path: path.read_text() for path in folder.path.rglob("*.json")}
    assert any(path.name == "record.json" for path in texts)
    assert [path for path, text in texts.items() if place.name in text] == []


def test_another_experiment_shares_the_runs(folder: ResultFolder) -> None:
    perform_locally(folder, experiment(), name="one")
    relabelled = experiment(variants=[{"label": "x", "method": "mczsl", "settings": QUICK}])
    assert perform_locally(folder, relabelled, name="two") == []
    assert [results.runs[0].state.state for results in read_results(folder)] == ["finished"] * 2


def test_a_killed_worker_continues_to_the_same_end(folder: ResultFolder) -> None:
    killer = when(checkpointed(folder), lambda: kill_worker(folder))
    (ended,) = perform_locally(folder, SLOW_ONE)
    killer.join()
    assert ended.failure is None
    (result,) = runs_in(folder)
    assert figures(result.state.record) == figures(uninterrupted(folder)) | {"run": result.config}
    assert [stage["task"] for stage in result.analysis()["stages"]] == [1, 2, 3, 4]


def test_a_worker_that_always_dies_is_marked_and_tried_again_next_time(
    folder: ResultFolder,
) -> None:
    killed: set[int] = set()
    done = threading.Event()

    def kill_every_worker() -> None:
        while not done.is_set():
            if checkpointed(folder)() and (pid := worker_pid(folder)) not in {0, *killed}:
                killed.add(pid)
                os.kill(pid, signal.SIGKILL)
            time.sleep(0.002)

    killer = threading.Thread(target=kill_every_worker)
    killer.start()
    (ended,) = perform_locally(folder, SLOW_ONE)
    done.set()
    killer.join()
    assert ended.failure is not None
    assert "SIGKILL" in ended.failure.message
    assert "fewer --jobs" in ended.failure.message
    assert runs_in(folder)[0].state.state == "failed"
    (ended,) = perform_locally(folder, SLOW_ONE)
    assert ended.failure is None
    assert runs_in(folder)[0].state.state == "finished"


def test_ctrl_c_stops_cleanly_and_the_same_command_goes_on(folder: ResultFolder) -> None:
    killer = when(checkpointed(folder), lambda: os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(Interrupted) as caught:
        perform_locally(folder, SLOW_ONE)
    killer.join()
    assert caught.value.exit_code == 130
    (result,) = runs_in(folder)
    assert result.state.state == "stopped"
    assert not is_locked(result.folder)
    assert (result.folder / "checkpoint" / "manifest.json").exists()
    (ended,) = perform_locally(folder, SLOW_ONE)
    assert ended.failure is None
    (result,) = runs_in(folder)
    assert figures(result.state.record) == figures(uninterrupted(folder)) | {"run": result.config}


def test_workers_go_when_their_parent_is_killed(folder: ResultFolder) -> None:
    context = multiprocessing.get_context("forkserver")
    parent = context.Process(target=perform_locally, args=(folder, SLOW_ONE))
    parent.start()
    forked.wait_until(checkpointed(folder), parent)
    parent.kill()
    parent.join()
    (run_folder,) = folder.path.glob("runs/*")
    while is_locked(run_folder):
        time.sleep(0.002)
    assert runs_in(folder)[0].state.state in ("stopped", "finished")


def test_a_diverged_run_is_marked_counted_and_not_repeated(folder: ResultFolder) -> None:
    wanted = experiment(
        variants=[
            {"label": "wild", "method": "mczsl", "settings": QUICK | {"rate": 1e30, "epochs": 5}},
            {"label": "calm", "method": "mczsl", "settings": QUICK},
        ]
    )
    heard = {ended.job.label: ended.failure for ended in perform_locally(folder, wanted)}
    assert heard["calm"] is None
    assert heard["wild"].kind == "diverged"
    (results,) = read_results(folder)
    assert [result.state.state for result in results.runs] == ["diverged", "finished"]
    summary = summarise(results)
    assert (summary["finished"], summary["failed"]) == (1, 1)
    assert "lower learning rate" in summary["failures"][0]["error"]
    assert perform_locally(folder, wanted) == []


def test_what_cannot_run_is_noted_and_the_rest_runs(folder: ResultFolder) -> None:
    wanted = experiment(
        datasets=[SMALL, "CUBB"],
        variants=[
            {"label": "right", "method": "mczsl", "settings": QUICK},
            {"label": "wrong", "method": "mczsl", "settings": {"hiden": 8}},
        ],
    )
    (ended,) = perform_locally(folder, wanted)
    assert ended.failure is None
    states = {(r.label, r.config["dataset"]): r.state for r in runs_in(folder)}
    assert states["right", SMALL].state == "finished"
    assert "did you mean 'hidden'" in states["wrong", SMALL].error
    assert "unknown dataset 'CUBB'" in states["right", "CUBB"].error


def test_a_full_disk_costs_only_the_run_that_hits_it(folder: ResultFolder) -> None:
    """From the second stage on, the slow run's process may write no file of more than a byte."""
    wanted = experiment(
        variants=[
            {"label": "slow", "method": "mczsl", "settings": SLOW},
            {"label": "quick", "method": "sequential", "settings": QUICK},
        ],
        tasks=4,
    )
    slow = prepare({"test": wanted}, folder)[0].key

    def fill_disk() -> None:
        pid = int((folder.run(slow) / "lock").read_text())
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (1, 1))

    filler = when((folder.run(slow) / "checkpoint" / "manifest.json").exists, fill_disk)
    heard = {ended.job.label: ended.failure for ended in perform_locally(folder, wanted)}
    filler.join()
    assert heard["slow"].kind == "failed"
    assert "cannot be written" in heard["slow"].message
    assert heard["quick"] is None
    (ended,) = perform_locally(folder, wanted)  # there is room again
    assert ended.failure is None
    assert {result.state.state for result in runs_in(folder)} == {"finished"}


@pytest.mark.parametrize("damage", ["half", "mH", "tasks", "version"])
def test_a_broken_record_is_named_and_its_run_repeated(folder: ResultFolder, damage: str) -> None:
    perform_locally(folder, experiment())
    (result,) = runs_in(folder)
    path = result.folder / "record.json"
    whole = path.read_text()
    changed = json.dumps(json.loads(whole) | {damage: {}})
    path.write_text(whole[: len(whole) // 2] if damage == "half" else changed)
    (broken,) = runs_in(folder)
    assert broken.state.state == "broken"
    assert "record.json" in broken.state.error
    (ended,) = perform_locally(folder, experiment())
    assert ended.failure is None
    (mended,) = runs_in(folder)
    assert figures(mended.state.record) == figures(result.state.record)


def test_a_damaged_checkpoint_costs_time_only(folder: ResultFolder) -> None:
    killer = when(checkpointed(folder), lambda: os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(Interrupted):
        perform_locally(folder, SLOW_ONE)
    killer.join()
    (result,) = runs_in(folder)
    (result.folder / "checkpoint" / "manifest.json").write_text(json.dumps({"half": 1}))
    (ended,) = perform_locally(folder, SLOW_ONE)
    assert ended.failure is None
    assert runs_in(folder)[0].state.state == "finished"


def test_a_run_that_another_process_is_at_is_not_done_twice(folder: ResultFolder) -> None:
    """Two commands in one folder share the work."""
    perform_locally(folder, experiment())
    (result,) = runs_in(folder)
    record = (result.folder / "record.json").read_bytes()
    (result.folder / "record.json").unlink()
    other = forked.start(hold_and_finish, result.folder, record)
    forked.wait_until(lambda: is_locked(result.folder), other)
    assert runs_in(folder)[0].state.state == "running"
    heard: list[Ended] = []

    def engine(where: ResultFolder, jobs: Sequence[Job], on_end: OnEnd) -> None:
        (result.folder / "go").touch()
        run_locally(where, jobs, 1, on_end)

    perform(folder, prepare({"test": experiment()}, folder), engine, heard.append)
    other.join()
    assert [ended.failure for ended in heard] == [None]
    assert (result.folder / "record.json").read_bytes() == record


def hold_and_finish(folder: Path, record: bytes) -> None:
    with locked(folder) as mine:
        assert mine
        while not (folder / "go").exists():
            time.sleep(0.002)
        (folder / "record.json").write_bytes(record)
