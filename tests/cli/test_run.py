"""``mczsl run`` as its users meet it."""

import json
import re
from pathlib import Path

import pytest

from tests.data.samples import write_npz
from tests.forked import Finished, run_command
from tests.worlds import SMALL

QUICK = ("--set", "hidden=8", "--set", "epochs=1", "--set", "episodes=1")
RUN = ("run", "--dataset", SMALL, "--protocol", "dynamic", "--tasks", "2", *QUICK)


def assert_refused(done: Finished, message: str) -> None:
    assert done.code == 2, done.stderr
    assert done.stdout == ""
    assert done.stderr.startswith("mczsl: ")
    assert re.search(message, done.stderr), done.stderr
    assert "Traceback" not in done.stderr


def test_with_json_the_last_line_is_the_record(tmp_path: Path) -> None:
    done = run_command(tmp_path, *RUN, "--json", "--out", str(tmp_path / "out"))
    assert done.code == 0, done.stderr
    record = json.loads(done.stdout.splitlines()[-1])
    assert record == json.loads((tmp_path / "out" / "record.json").read_text())
    assert len(done.stdout.splitlines()) == 1, "progress belongs on standard error"
    assert [line.split(":")[0] for line in done.stderr.splitlines()] == ["task 1/2", "task 2/2"]


def test_without_json_it_shows_a_table(tmp_path: Path) -> None:
    done = run_command(tmp_path, *RUN)
    assert done.code == 0, done.stderr
    for word in ("mczsl on synthetic:", "dynamic", "forgetting", "mean", "AUSUC", "calibration"):
        assert word in " ".join(done.stdout.split())
    assert "\x1b" not in done.stdout, "colours are for terminals"


def test_options_reach_the_run(tmp_path: Path) -> None:
    done = run_command(
        tmp_path,
        *RUN,
        *("--seed", "5", "--memory-seed", "6", "--split-seed", "7", "--order-seed", "8"),
        *("--candidates", "restricted", "--memory-per-class", "3", "--threads", "1"),
        *("--method", "sequential", "--set", "rate=0.125", "--json"),
    )
    # The method of the two has no episodes: the setting is refused by name.
    assert_refused(done, "unknown setting of sequential 'episodes'")
    done = run_command(
        tmp_path,
        *("run", "--dataset", SMALL, "--protocol", "dynamic", "--tasks", "3"),
        *("--seed", "5", "--memory-seed", "6", "--split-seed", "7", "--order-seed", "8"),
        *("--candidates", "restricted", "--memory-per-class", "3", "--threads", "1"),
        *("--method", "nm_zsl", "--set", "rate=0.125", "--set", "epochs=1", "--json"),
    )
    assert done.code == 0, done.stderr
    record = json.loads(done.stdout)
    assert record["seeds"] == {"training": 5, "memory": 6, "image_split": 7, "class_order": 8}
    assert (record["method"], record["config"]["rate"]) == ("nm_zsl", 0.125)
    assert (record["candidates"], len(record["tasks"])) == ("restricted", 3)
    assert (record["memory_capacity"], record["threads"]) == (24, 1)


def test_the_seed_serves_training_and_memory(tmp_path: Path) -> None:
    done = run_command(tmp_path, *RUN, "--seed", "4", "--json")
    seeds = json.loads(done.stdout)["seeds"]
    assert seeds == {"training": 4, "memory": 4, "image_split": 0, "class_order": None}


def test_the_papers_preset_can_be_changed(tmp_path: Path) -> None:
    done = run_command(tmp_path, *RUN, "--preset", "paper", "--json")
    config = json.loads(done.stdout)["config"]
    assert (config["meta"], config["calibration"], config["hidden"]) == (True, "none", 8)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--seed", "-1"], "seeds.training: .*greater than or equal to 0"),
        (["--set", "hiden=3"], "did you mean 'hidden'"),
        (["--set", "rate=NaN"], "rate: .*finite"),
        (["--set", "rate=1e400"], "rate: .*finite"),
        (["--set", "rate=-0.1"], "rate: .*greater than 0"),
        (["--set", "epochs=true"], "epochs: Input should be a number"),
        (["--set", "rate"], "write it as key=value"),
        (["--set", "=3"], "write it as key=value"),
        (["--method", "mczls"], "did you mean 'mczsl'"),
        (["--protocol", "dynamik"], "did you mean 'dynamic'"),
        (["--protocol", "gzsl"], "gzsl has one task, not 2"),
        (["--tasks", "99"], "choose from 1 to 4"),
        (["--tasks", "0"], "tasks: "),
        (["--device", "abacus"], "device: "),
        (["--candidates", "some"], "candidates: .*'joint' or 'restricted'"),
        (["--memory-per-class", "-1"], "memory_per_class: "),
        (["--set", "hidden=100000000000"], "not enough memory; choose smaller sizes"),
        (["--set", "rate=1e30", "--set", "normalisation=none"], "try a lower learning rate"),
        (["--dataset", "\x1b[31mred"], r"unknown dataset '\\x1b"),
        (["--out", "/dev/null/x"], "/dev/null/x/run.json: cannot be written"),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, list) else "",
)
def test_mistakes_are_named_without_a_trace(
    tmp_path: Path, arguments: list[str], message: str
) -> None:
    done = run_command(tmp_path, *RUN, *arguments)
    assert_refused(done, message)
    assert "\x1b" not in done.stderr


def test_resume_takes_no_other_option(tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    assert run_command(tmp_path, *RUN, "--out", out).code == 0
    done = run_command(tmp_path, "run", "--resume", out, "--seed", "3", "--set", "hidden=9")
    assert_refused(done, "leave out --set and --seed")
    again = run_command(tmp_path, "run", "--resume", out, "--json")
    assert again.code == 0
    assert json.loads(again.stdout)["status"] == "finished"


def test_resume_of_nothing(tmp_path: Path) -> None:
    done = run_command(tmp_path, "run", "--resume", str(tmp_path / "nowhere"))
    assert_refused(done, "no run here to continue")


def test_the_data_root_comes_from_the_environment_too(tmp_path: Path) -> None:
    write_npz(tmp_path / "zoo.npz")
    arguments = ("run", "--dataset", "ZOO", *QUICK, "--json")
    done = run_command(tmp_path, *arguments, environment={"MCZSL_DATA": str(tmp_path)})
    assert done.code == 0, done.stderr
    assert json.loads(done.stdout)["dataset"].lower() == "zoo"


def test_no_home_and_no_name_for_the_user(tmp_path: Path) -> None:
    surroundings = {"HOME": None, "USER": None, "LOGNAME": None, "XDG_DATA_HOME": None}
    done = run_command(tmp_path, *RUN, environment=surroundings)
    assert done.code == 0, done.stderr


def test_a_dataset_whose_name_looks_like_markup(tmp_path: Path) -> None:
    file = write_npz(tmp_path / "[bold]zoo.npz")
    done = run_command(tmp_path, "run", "--dataset", str(file), *QUICK)
    assert done.code == 0, done.stderr
    assert "[bold]zoo" in done.stdout


OWN = """
from mczsl.methods import register_method
from mczsl.methods.sequential import Sequential

@register_method("mine")
class Mine(Sequential):
    'My own.'
"""


def test_a_run_of_a_method_in_a_file_is_continued_with_the_file(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(OWN)
    own, out = ("--method", str(tmp_path / "mine.py")), str(tmp_path / "out")
    begun = ("run", "--dataset", SMALL, "--set", "epochs=1", "--set", "hidden=8", *own)
    assert run_command(tmp_path, *begun, "--out", out).code == 0
    assert_refused(run_command(tmp_path, "run", "--resume", out), "--method FILE.py")
    other = run_command(tmp_path, "run", "--resume", out, "--method", "sequential")
    assert_refused(other, "is a run of 'mine', not of 'sequential'")
    again = run_command(tmp_path, "run", "--resume", out, *own, "--json")
    assert again.code == 0, again.stderr
    assert json.loads(again.stdout)["method"] == "mine"


def test_a_run_is_not_continued_with_other_code(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(OWN)
    own, out = ("--method", str(tmp_path / "mine.py")), str(tmp_path / "out")
    begun = ("run", "--dataset", SMALL, "--set", "epochs=1", "--set", "hidden=8", *own)
    assert run_command(tmp_path, *begun, "--out", out).code == 0
    (tmp_path / "mine.py").write_text(OWN + "    replays = True\n")
    assert_refused(run_command(tmp_path, "run", "--resume", out, *own), "begun with other code")
    (tmp_path / "mine.py").write_text(OWN + "    # a comment changes nothing\n")
    assert run_command(tmp_path, "run", "--resume", out, *own).code == 0


def test_the_upper_bound_has_no_limit_of_memory(tmp_path: Path) -> None:
    done = run_command(tmp_path, *RUN, "--method", "joint", "--json")
    assert json.loads(done.stdout)["memory_capacity"] is None


def test_settings_and_presets_of_a_method(tmp_path: Path) -> None:
    shown = run_command(tmp_path, "methods", "mczsl").stdout
    assert re.search(r"epochs +60 +E, over which the rate falls to 0", shown)
    assert "--preset paper: hidden=2048 epochs=200" in shown
    told = json.loads(run_command(tmp_path, "methods", "eszsl", "--json").stdout)
    assert told == {
        "name": "eszsl",
        "settings": {"calibration": "none", "gamma": 1.0, "lambda_": 0.01},
        "presets": {},
    }
    assert_refused(run_command(tmp_path, "methods", "mczls"), "did you mean 'mczsl'")
