"""``mczsl bench`` and ``mczsl report``, as they are typed."""

import csv
import io
import json
import os
import signal
import threading
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from mczsl.cli import app
from mczsl.errors import ConfigError, DataError, StorageError
from mczsl.runs.config import RunConfig
from tests.grids import SLOW
from tests.worlds import SMALL

OWN = f"""
title = "Mine"
datasets = ["{SMALL}"]
protocols = ["fixed"]
seeds = [0, 1]
variants = [
    {{ label = "MCZSL", method = "mczsl", settings = {{ epochs = 1, hidden = 8 }} }},
    {{ label = "Bound", method = "sequential", settings = {{ epochs = 1, hidden = 8 }} }},
]
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An experiment in the folder that the commands run in."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "own.toml"
    path.write_text(OWN)
    return path


def mczsl(*arguments: str) -> Result:
    """Run a command; an error that a user would read is raised."""
    outcome = CliRunner().invoke(app, list(arguments))
    if outcome.exception is not None and not isinstance(outcome.exception, SystemExit):
        raise outcome.exception
    return outcome


def test_an_experiment_from_file_to_report(own: Path) -> None:
    done = mczsl("bench", "own.toml", "--out", "out", "--jobs", "2")
    assert done.exit_code == 0, done.output
    assert "4/4: " in done.stderr
    assert "MCZSL" in done.stdout
    for suffix in ("md", "tex", "csv", "json"):
        assert Path(f"out/tables/own.{suffix}").is_file()
    again = mczsl("bench", "own.toml", "--out", "out", "--json")
    assert again.stderr == ""
    (table,) = json.loads(again.stdout)
    assert [row["n"] for row in table["rows"]] == ["2", "2"]

    (status,) = json.loads(mczsl("bench", "status", "out", "--json").stdout)
    assert (status["experiment"], status["total"], status["finished"]) == ("own", 4, 4)
    assert status["seconds_left"] == 0
    assert "own" in mczsl("bench", "status", "out").stdout

    for name in ("page.html", "t.md", "t.tex", "t.csv", "t.json"):
        assert name in mczsl("report", "out", "-o", name).stdout
    assert Path("page.html").read_text().startswith("<!doctype html>")
    assert len(list(csv.DictReader(io.StringIO(Path("t.csv").read_text())))) == 2
    with pytest.raises(ConfigError, match="did you mean 'html'"):
        mczsl("report", "out", "-o", "page.htm")
    Path("t.j2").write_text("# Text\n{{ tables('own') }}")
    mczsl("report", "out", "--template", "t.j2", "-o", "text.md")
    assert Path("text.md").read_text().startswith("# Text\n### Mine")


def test_parts_of_an_experiment_and_settings(own: Path) -> None:
    done = mczsl(
        "bench", "run", "own.toml", "--methods", "MCZSL", "--seeds", "7", "--set", "hidden=6",
        "--set", "mczsl.shots=2", "--datasets", f"{SMALL},seed=1", "--out", "out",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    (path,) = Path("out/runs").glob("*/run.json")
    config = RunConfig.model_validate_json(path.read_text())
    assert config.settings == {"epochs": 1, "hidden": 6, "shots": 2}
    assert (config.dataset, config.seeds.training) == (f"{SMALL},seed=1", 7)


def test_options_may_be_repeated_or_have_commas(own: Path) -> None:
    done = mczsl(
        "bench", "own.toml", "--methods", "MCZSL", "--methods", "agem,Bound", "--set", "epochs=1",
        "--set", "hidden=8", "--seeds", "3", "--seeds", "4", "--out", "out", "--json",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    (table,) = json.loads(done.stdout)
    assert [row["method"] for row in table["rows"]] == ["MCZSL", "agem", "Bound"]
    assert {row["n"] for row in table["rows"]} == {"2"}


def test_the_json_of_two_experiments_is_one_list(own: Path) -> None:
    Path("more.toml").write_text(Path("own.toml").read_text())
    done = mczsl(
        *("bench", "own.toml", "more.toml", "--methods", "MCZSL", "--set", "epochs=1"),
        *("--out", "out", "--json"),
    )
    assert done.exit_code == 0, done.output
    assert [table["experiment"] for table in json.loads(done.stdout)] == ["more", "own"]


def test_what_failed_is_told_and_the_rest_is_shown(own: Path) -> None:
    Path("own.toml").write_text(OWN.replace('datasets = ["', 'datasets = ["CUB", "'))
    done = mczsl("bench", "own.toml", "--out", "out", "--data-root", "nowhere", "--seeds", "0")
    assert done.exit_code == 1
    assert "and 1 more: the data root nowhere is not a folder" in done.stderr
    (status,) = json.loads(mczsl("bench", "status", "out", "--json").stdout)
    assert (status["finished"], status["failed"]) == (2, 2)
    assert "--data-root" in mczsl("bench", "status", "out").stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["tabel2"], "did you mean 'table2'"),
        (["own.toml", "--methods", "mczls"], "did you mean 'mczsl'"),
        (["own.toml", "--datasets", "digit"], "did you mean 'digits'"),
        (["own.toml", "--seeds", "one"], "whole numbers"),
        (["own.toml", "--seeds", "-1"], "seeds.training"),
        (["own.toml", "--set", "hidden"], "key=value"),
        (["own.toml", "--set", "hiden=3"], "did you mean 'hidden'"),
        (["own.toml", "--address", "127.0.0.1:6379"], "--engine ray"),
        (["none.toml"], "No such file"),
        (["own.toml", "own.toml"], "rename a file"),
    ],
)
def test_bad_input_is_told_before_anything_runs(own: Path, arguments: list[str], told: str) -> None:
    with pytest.raises((ConfigError, DataError), match=told):
        mczsl("bench", *arguments, "--out", "out")
    assert not Path("out/runs").exists()


@pytest.mark.parametrize("part", ["datasets", "protocols", "variants", "seeds"])
def test_an_empty_grid_says_what_is_missing(own: Path, part: str) -> None:
    values = {
        "datasets": f'["{SMALL}"]', "protocols": '["gzsl"]', "variants": '["mczsl"]', "seeds": "[0]"
    }  # fmt: skip
    lines = [f"{key} = {value}" for key, value in (values | {part: "[]"}).items()]
    own.write_text('title = "Empty"\n' + "\n".join(lines))
    with pytest.raises(ConfigError, match="the grid is empty"):
        mczsl("bench", "own.toml", "--out", "out")


@pytest.mark.parametrize("command", [("bench", "status"), ("report",)])
def test_a_folder_without_results_says_how_to_make_some(
    own: Path, command: tuple[str, ...]
) -> None:
    with pytest.raises(StorageError, match="mczsl bench NAME"):
        mczsl(*command, "nowhere")


def test_a_damaged_plan_is_named(own: Path) -> None:
    mczsl("bench", "own.toml", "--out", "out", "--seeds", "0")
    Path("out/experiments/own.json").write_text("{")
    with pytest.raises(StorageError, match=r"own\.json: is damaged"):
        mczsl("bench", "status", "out")


def test_ctrl_c_says_how_to_go_on(own: Path) -> None:
    settings = [part for key, value in SLOW.items() for part in ("--set", f"mczsl.{key}={value}")]

    def interrupt() -> None:
        while not any(Path("out").glob("runs/*/checkpoint/manifest.json")):
            time.sleep(0.002)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    stopped = mczsl("bench", "own.toml", "--out", "out", "--methods", "MCZSL", *settings)
    assert stopped.exit_code == 130
    assert "the same command goes on from here" in stopped.stderr


def test_the_papers_experiments_are_listed() -> None:
    named = {each["name"] for each in json.loads(mczsl("bench", "list", "--json").stdout)}
    assert named == {"table1", "table2", "table3", "tasks", "memory", "ablation"}
    assert "Table 2" in mczsl("bench", "list").stdout
    for command in (["bench", "--help"], ["bench", "run", "--help"], ["report", "--help"]):
        assert mczsl(*command).exit_code == 0
