"""``mczsl tune`` as its users meet it."""

import json
import os
import signal
import threading
import time
from pathlib import Path

import pytest

from tests.cli.commands import Run

pytest.importorskip("optuna")
QUICK = (
    "--set",
    "hidden=8",
    "--set",
    "epochs=1",
    "--set",
    "episodes=1",
    "--set",
    "calibration=none",
)
TUNE = ("tune", "--dataset", "digits", *QUICK)


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_table_tells_small_values_apart(run: Run) -> None:
    code, shown, told = run(*TUNE, "--search", "rate=0.0001,0.0002", "--trials", 2)
    assert code == 0
    assert "0.0001" in shown
    assert "0.0002" in shown
    assert told.startswith("1/2: rate=0.000")
    best = json.loads(Path("tune/tune.json").read_text())["best"]["settings"]["rate"]
    assert f"--set rate={best}" in shown


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (("--search", "hidden=16,abc"), "hidden"),
        (("--search", "rate=0.1,"), "rate"),
        (("--search", "rate=0.1,true"), "rate: Input should be a number (got True)"),
        (("--search", "attribute_dropout=0.5..3"), "attribute_dropout"),
        (("--search", "memory=1..2"), "memory"),
        (("--search", "hidden=0.2..0.9"), "no whole number"),
        (("--search", "rate=0.1,0.2", "--protocol", "foo"), "protocol"),
        (("--search", "rate=0.1,0.2", "--protocol", "dynamic", "--tasks", "300"), "300"),
    ],
    ids=str,
)
def test_what_cannot_be_tried_is_told_before_anything_is_tried(
    run: Run, wrong: tuple[str, ...], message: str
) -> None:
    code, shown, told = run(*TUNE, *wrong)
    assert code == 2
    assert shown == ""
    assert told.startswith("mczsl: ")
    assert len(told.splitlines()) == 1
    assert message in told
    assert not list(Path().iterdir())


def test_ctrl_c_keeps_what_was_tried_and_the_same_command_goes_on(run: Run) -> None:
    command = (*TUNE, "--set", "epochs=20", "--search", "rate=1e-4..1e-1", "--trials", 4, "--json")
    written = Path("tune/tune.json")

    def interrupt() -> None:
        while not written.exists():
            time.sleep(0.002)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    code, shown, told = run(*command)
    assert code == 130
    assert shown == ""
    assert "the same command goes on from here" in told
    before = json.loads(written.read_text())["tried"]
    assert 0 < len(before) < 4

    code, shown, _ = run(*command)
    after = json.loads(written.read_text())
    assert code == 0
    assert len(after["tried"]) == 4
    assert after["tried"][: len(before)] == before
    code, uninterrupted, _ = run(*command, "--out", "other")
    assert uninterrupted == shown
    assert json.loads(Path("other/tune.json").read_text()) == after


def test_what_was_tried_is_not_tried_again(run: Run) -> None:
    command = (*TUNE, "--search", "rate=0.1,0.2", "--json")
    assert run(*command)[0] == 0
    path = Path("tune/tune.json")
    noted = json.loads(path.read_text())
    for trial in noted["tried"]:
        trial["mH"] = [99.0 if trial["settings"]["rate"] == 0.1 else 1.0] * len(trial["mH"])
    path.write_text(json.dumps(noted))
    code, shown, _ = run(*command)
    assert code == 0
    assert json.loads(shown)["settings"] == {"rate": 0.1}
    assert json.loads(shown)["mH"][0] == 99.0


@pytest.mark.parametrize(
    "other", [("--search", "hidden=4,5"), ("--seed", "1"), ("--protocol", "fixed")], ids=str
)
def test_another_search_needs_another_folder(run: Run, other: tuple[str, ...]) -> None:
    assert run(*TUNE, "--search", "rate=0.1,0.2")[0] == 0
    before = Path("tune/tune.json").read_bytes()
    code, _, told = run(*TUNE, "--search", "rate=0.1,0.2", *other)
    assert code == 2
    assert "--out" in told
    assert Path("tune/tune.json").read_bytes() == before


def test_a_damaged_file_is_named(run: Run) -> None:
    Path("tune").mkdir()
    Path("tune/tune.json").write_text("[1")
    code, _, told = run(*TUNE, "--search", "rate=0.1,0.2")
    assert code == 2
    assert "tune.json: cannot be continued" in told


def test_the_image_split_that_is_left_out_can_be_chosen(run: Run) -> None:
    for seed in (0, 1):
        code, *_ = run(
            *TUNE, *("--protocol", "fixed", "--split-seed", seed),
            *("--search", "rate=0.1", "--out", f"split{seed}"),
        )  # fmt: skip
        assert code == 0
    data = [json.loads(Path(f"split{seed}/tune.json").read_text())["data"] for seed in (0, 1)]
    assert data[0] != data[1]
