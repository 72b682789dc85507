"""Runs: what a record says, and that no interruption changes it."""

import json
import math
import os
import shutil
import signal
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mczsl import storage
from mczsl.data import FeatureDataset
from mczsl.errors import ConfigError, DataError, DivergedError, MczslError, StorageError
from mczsl.runs.config import RunConfig
from mczsl.runs.interrupts import Interrupted
from mczsl.runs.loop import CHECKPOINT, RUN_FILE, Run, RunProgress, resume, run
from tests.forked import start_command, wait_until
from tests.worlds import SMALL, dataset_of

TASKS = 4
# Long enough to be interrupted in every task.
SETTINGS = {"hidden": 16, "epochs": 30, "episodes": 5}
CONFIG = RunConfig(dataset=SMALL, protocol="dynamic", tasks=TASKS, settings=SETTINGS)
ARGUMENTS = (
    *("run", "--dataset", SMALL, "--protocol", "dynamic", "--tasks", str(TASKS)),
    *(word for key, value in SETTINGS.items() for word in ("--set", f"{key}={value}")),
)
# All that the issue lists, by name.
FIELDS = {
    *("dataset", "features", "semantics", "protocol", "method", "calibration", "candidates"),
    *("seeds", "config", "mSA", "mUA", "mH", "tasks", "forgetting", "ausuc", "train_seconds"),
    *("total_seconds", "peak_memory_mb", "fingerprint", "version", "code"),
}
TIMES = ("train_seconds", "total_seconds", "peak_memory_mb")


def quick(**changes: Any) -> RunConfig:
    settings = {"hidden": 8, "epochs": 1, "episodes": 1}
    values = {"dataset": SMALL, "protocol": "dynamic", "tasks": 2, "settings": settings, **changes}
    return RunConfig.model_validate(values)


def read_record(out: Path) -> dict[str, Any]:
    """The record, if it is JSON to the letter: no NaN."""
    text = (out / "record.json").read_text()
    return json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} in the record"))


def without_times(record: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key not in TIMES}


def weights(out: Path) -> bytes:
    (file,) = (out / CHECKPOINT).glob("weights-*.safetensors")
    return file.read_bytes()


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("uninterrupted") / "out"
    run(CONFIG, out)
    return out


def assert_same_end(out: Path, uninterrupted: Path) -> None:
    assert without_times(read_record(out)) == without_times(read_record(uninterrupted))
    assert weights(out) == weights(uninterrupted)


def tasks_done(out: Path) -> int:
    try:
        values = storage.read_manifest(out / CHECKPOINT, "checkpoint")["values"]
    except StorageError:
        return 0
    return len(values["results"])


# ---------------------------------------------------------------- interruptions


def test_killed_again_and_again_it_ends_with_the_same_bits(
    tmp_path: Path, uninterrupted: Path
) -> None:
    out = tmp_path / "out"
    arguments: tuple[str, ...] = (*ARGUMENTS, "--out", str(out))
    for task in range(1, TASKS - 1):
        process = start_command(tmp_path, *arguments)
        wait_until(lambda task=task: tasks_done(out) >= task, process)
        process.kill()
        process.join()
        assert process.exitcode == -signal.SIGKILL, (tmp_path / "stderr").read_text()
        assert task <= tasks_done(out) < TASKS
        assert not (out / "record.json").exists()
        arguments = ("run", "--resume", str(out))
    record = resume(out)
    assert record == read_record(out)
    assert_same_end(out, uninterrupted)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_leave_a_folder_to_continue(
    tmp_path: Path, uninterrupted: Path, number: int, code: int
) -> None:
    out = tmp_path / "out"
    process = start_command(tmp_path, *ARGUMENTS, "--out", str(out), "--json")
    wait_until(lambda: tasks_done(out) >= 2, process)
    os.kill(process.pid, number)
    process.join()
    said = (tmp_path / "stderr").read_text()
    assert process.exitcode == code, said
    assert f"mczsl run --resume {out}" in said
    assert "Traceback" not in said
    assert (tmp_path / "stdout").read_text() == "", "an interrupted run has no result"
    record = read_record(out)
    assert record["status"] == "interrupted"
    assert 2 <= len(record["tasks"]) < TASKS
    assert record["mH"] is record["mSA"] is record["mUA"] is None, "the mean of some of the tasks"
    resume(out)
    assert_same_end(out, uninterrupted)


def test_stopped_before_the_first_checkpoint(tmp_path: Path, uninterrupted: Path) -> None:
    out = tmp_path / "out"

    def stop_at_once(progress: RunProgress) -> None:
        if (progress.task, progress.epoch) == (1, 1):
            signal.raise_signal(signal.SIGTERM)

    with pytest.raises(Interrupted):
        run(CONFIG, out, stop_at_once)
    assert not (out / CHECKPOINT).exists()
    assert read_record(out)["tasks"] == []
    resume(out)
    assert_same_end(out, uninterrupted)


def test_without_a_folder_nothing_is_written(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    run(quick())
    assert list(tmp_path.iterdir()) == []


def test_resuming_a_finished_run_repeats_its_record(tmp_path: Path) -> None:
    first = run(quick(), tmp_path)
    written = weights(tmp_path)
    assert without_times(resume(tmp_path)) == without_times(first)
    assert weights(tmp_path) == written
    assert read_record(tmp_path)["train_seconds"] == first["train_seconds"]


def test_a_used_folder_is_not_overwritten(tmp_path: Path) -> None:
    run(quick(), tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(StorageError, match="already holds a run; continue it with --resume"):
        run(quick(), tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


# ---------------------------------------------------------------- checkpoints


@pytest.fixture
def halfway(tmp_path: Path) -> Path:
    """A run that was stopped after the first of two tasks."""
    out = tmp_path / "out"

    def stop_after_one(progress: RunProgress) -> None:
        if progress.result is not None:
            signal.raise_signal(signal.SIGTERM)

    with pytest.raises(Interrupted):
        run(quick(), out, stop_after_one)
    assert tasks_done(out) == 1
    return out


def edit_run_file(out: Path, **changes: Any) -> None:
    values = json.loads((out / RUN_FILE).read_text()) | changes
    (out / RUN_FILE).write_text(json.dumps(values))


@pytest.mark.parametrize(
    "changes",
    [
        {"settings": {"hidden": 9, "epochs": 1, "episodes": 1}},
        {"settings": {"hidden": 8, "epochs": 2, "episodes": 1}},
        {"method": "sequential", "settings": {"hidden": 8, "epochs": 1}},
        {"protocol": "fixed"},
        {"tasks": 3},
        {"seeds": {"training": 1}},
    ],
    ids=str,
)
def test_a_checkpoint_of_another_run_is_refused(halfway: Path, changes: dict[str, Any]) -> None:
    edit_run_file(halfway, **changes)
    with pytest.raises(StorageError, match="was changed since the checkpoint was made"):
        resume(halfway)


def write_npz(path: Path, dataset: FeatureDataset) -> None:
    np.savez(
        path,
        features=dataset.features,
        labels=dataset.labels,
        attributes=dataset.attributes,
        **dataset.splits.sets(),
    )


def test_a_checkpoint_of_other_data_is_refused(tmp_path: Path) -> None:
    file, out = tmp_path / "own.npz", tmp_path / "out"
    write_npz(file, dataset_of([6] * 8, [1, 4, 6]))
    run(quick(dataset=str(file)), out)
    resume(out)
    write_npz(file, dataset_of([6] * 8, [1, 4, 6], seed=1))
    with pytest.raises(StorageError, match="begun on other data"):
        resume(out)
    file.unlink()
    with pytest.raises(DataError, match=r"own\.npz"):
        resume(out)


def test_moved_data_are_the_same_data(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    write_npz(first / "own.npz", dataset_of([6] * 8, [1, 4, 6]))
    out = tmp_path / "out"
    record = run(quick(dataset="own", data_root=first), out)
    first.rename(second)
    edit_run_file(out, data_root=str(second))
    assert resume(out)["tasks"] == record["tasks"]


@pytest.mark.parametrize("name", [f"{CHECKPOINT}/{storage.MANIFEST}", "weights"])
def test_a_truncated_checkpoint_is_named(halfway: Path, name: str) -> None:
    path = next((halfway / CHECKPOINT).glob("weights-*")) if name == "weights" else halfway / name
    os.truncate(path, path.stat().st_size // 2)
    with pytest.raises(StorageError, match=path.name):
        resume(halfway)


def test_a_checkpoint_that_does_not_fit_is_named(halfway: Path) -> None:
    """As another version might have written it."""
    folder = halfway / CHECKPOINT
    stored = storage.load(folder, "checkpoint")
    without = {key: value for key, value in stored.values.items() if key != "results"}
    for tensors, values in (
        (stored.tensors, without),
        ({}, stored.values),
        (
            {name: tensor[:0] for name, tensor in stored.tensors.items() if tensor.ndim},
            stored.values,
        ),
    ):
        storage.save(folder, "checkpoint", storage.Stored(tensors, values))
        with pytest.raises(StorageError, match="cannot continue a checkpoint of mczsl"):
            resume(halfway)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"dataset": 3}', '{"dataset": "digits", "x": 1}'])
def test_a_damaged_run_file_is_named(halfway: Path, text: str) -> None:
    (halfway / RUN_FILE).write_text(text)
    with pytest.raises(StorageError, match=RUN_FILE):
        resume(halfway)


def test_nothing_to_resume(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(StorageError, match="no run here to continue"):
            resume(folder)
    (tmp_path / RUN_FILE).mkdir()
    with pytest.raises(StorageError, match=RUN_FILE):
        resume(tmp_path)


def test_an_older_checkpoint_still_serves(halfway: Path, tmp_path: Path) -> None:
    """A copy of the folder is as good as the folder."""
    copy = tmp_path / "copy"
    shutil.copytree(halfway, copy)
    assert without_times(resume(halfway)) == without_times(resume(copy))


# ---------------------------------------------------------------- records


def test_the_record_has_all_fields(uninterrupted: Path) -> None:
    record = read_record(uninterrupted)
    assert record.keys() >= FIELDS
    assert record["status"] == "finished"
    assert [task["task"] for task in record["tasks"]] == [1, 2, 3, 4]
    assert all({"S", "U", "H"} <= task.keys() for task in record["tasks"])
    assert record["seeds"] == {"training": 0, "memory": 0, "image_split": 0, "class_order": None}
    assert record["config"]["hidden"] == 16
    assert record["calibration"] == record["config"]["calibration"]
    assert 0 < record["train_seconds"] <= record["total_seconds"]
    assert record["peak_memory_mb"] > 1
    assert RunConfig.model_validate(record["run"]) == CONFIG, "a record must say how to repeat it"


def test_means_are_over_the_same_tasks(uninterrupted: Path) -> None:
    record = read_record(uninterrupted)
    for mean, each in (("mSA", "S"), ("mUA", "U"), ("mH", "H")):
        values = [task[each] for task in record["tasks"]]
        assert record[mean] == pytest.approx(np.mean(values), abs=0.01)
        assert all(0 <= value <= 100 for value in values)


def test_the_last_fixed_task_is_shown_but_not_averaged() -> None:
    record = run(quick(protocol="fixed", tasks=3))
    *scored, last = record["tasks"]
    assert last["S"] is not None
    assert last["U"] is last["H"] is last["ausuc"] is None
    assert record["mSA"] == pytest.approx(np.mean([task["S"] for task in scored]), abs=0.01)
    assert record["mH"] == pytest.approx(np.mean([task["H"] for task in scored]), abs=0.01)
    assert len(last["by_task"]) == 3


def test_a_task_that_cannot_be_measured_does_not_hide_the_rest() -> None:
    """The first task's only class has a single image, which is trained on."""
    dataset = dataset_of([1, 6, 6, 6], unseen=[3])
    record = Run(quick(protocol="fixed", tasks=4), dataset).finish()
    first, *others, _ = record["tasks"]
    assert first["S"] is first["H"] is None
    assert record["mH"] == pytest.approx(np.mean([task["H"] for task in others]), abs=0.01)
    assert record["mUA"] == pytest.approx(np.mean([task["U"] for task in others]), abs=0.01)
    assert record["forgetting"] is not None


def test_each_seed_changes_the_run_it_should() -> None:
    def weights(**seeds: int) -> list[float]:
        settings = {"hidden": 8, "epochs": 1, "calibration": "none"}
        finished = Run(quick(settings=settings, memory_per_class=2, seeds=seeds))
        finished.finish()
        tensors = finished.method.state().part("net").tensors
        return [value for name in sorted(tensors) for value in tensors[name].flatten().tolist()]

    assert weights() == weights()
    assert weights() == weights(image_split=3), "the dynamic protocol has a published image split"
    for seed in ("training", "memory", "class_order"):
        assert weights() != weights(**{seed: 3}), f"{seed} changes nothing"


def test_candidates_are_recorded_and_restricted_ones_are_easier() -> None:
    settings = {"hidden": 16, "epochs": 10, "calibration": "none"}
    joint = run(quick(settings=settings))
    restricted = run(quick(settings=settings, candidates="restricted"))
    assert (joint["candidates"], restricted["candidates"]) == ("joint", "restricted")
    for one, other in zip(joint["tasks"], restricted["tasks"], strict=True):
        assert one["S"] <= other["S"]
        assert one["U"] <= other["U"]
        assert one["ausuc"] == other["ausuc"]


def test_progress_is_complete_and_in_order() -> None:
    seen: list[RunProgress] = []
    run(quick(settings={"hidden": 8, "epochs": 3, "calibration": "none"}), listener=seen.append)
    assert [(each.task, each.epoch) for each in seen if each.result is None] == [
        (task, epoch) for task in (1, 2) for epoch in (1, 2, 3)
    ]
    assert [each.task for each in seen if each.result is not None] == [1, 2]
    assert all(each.tasks == 2 and each.seconds_left >= 0 for each in seen)
    assert seen[-1].seconds_left == pytest.approx(0)
    assert all(earlier.seconds <= later.seconds for earlier, later in pairwise(seen))


# ---------------------------------------------------------------- what must not run


DIVERGING = {"hidden": 8, "epochs": 2, "rate": 1e30, "calibration": "none"}


@pytest.mark.parametrize("method", ["mczsl", "sequential"])
def test_a_diverged_run_is_marked_and_has_no_result(tmp_path: Path, method: str) -> None:
    settings = DIVERGING | ({"normalisation": "none"} if method == "mczsl" else {})
    config = quick(method=method, settings=settings)
    with pytest.raises(DivergedError, match=f"{method}: .*lower learning rate"):
        run(config, tmp_path)
    record = read_record(tmp_path)
    assert record["status"] == "diverged"
    assert record["mSA"] is record["mUA"] is record["mH"] is record["ausuc"] is None
    with pytest.raises(DivergedError):
        resume(tmp_path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"settings": {"hiden": 3}}, "did you mean 'hidden'"),
        ({"settings": {"rate": -1}}, "rate: .* greater than 0 .*got -1"),
        ({"settings": {"rate": math.nan}}, "rate: .* finite"),
        ({"settings": {"rate": math.inf}}, "rate: .* finite"),
        ({"settings": {"rate": "fast"}}, "rate: .*got 'fast'"),
        ({"settings": {"memory": "rng"}}, "memory: .*'reservoir'"),
        ({"settings": {"epochs": 0}}, "epochs: .*got 0"),
        ({"settings": {"epochs": 1.5}}, "epochs: "),
        ({"method": "mczls"}, "did you mean 'mczsl'"),
        ({"preset": "papr"}, "did you mean 'paper'"),
        ({"protocol": "fixd"}, "did you mean 'fixed'"),
        ({"protocol": "gzsl", "tasks": 2}, "gzsl has one task"),
        ({"protocol": "fixed", "tasks": 1}, "at least 2 tasks"),
        ({"tasks": 99}, "99 tasks are not possible"),
        ({"dataset": "synthetic:cubb"}, "did you mean 'cub'"),
        ({"features": "res101"}, "unknown features"),
        ({"method": "sequential", "settings": {"memory": "ring"}}, "memory: "),
    ],
    ids=lambda value: str(value)[:50],
)
def test_contradictions_are_named_and_leave_no_folder(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(MczslError, match=message):
        run(quick(**changes), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_device_that_is_not_there() -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is a GPU here")
    with pytest.raises(ConfigError, match="use --device cpu"):
        run(quick(device="cuda"))


@pytest.mark.parametrize(
    "changes",
    [
        {"device": "tpu"},
        {"device": "meta"},
        {"threads": 0},
        {"threads": 10**12},
        {"tasks": 0},
        {"memory_per_class": -1},
        {"seeds": {"training": -1}},
        {"candidates": "all"},
        {"unknown": 1},
    ],
    ids=str,
)
def test_impossible_configurations(changes: dict[str, Any]) -> None:
    (name,) = changes
    with pytest.raises(ValueError, match=name):
        quick(**changes)
