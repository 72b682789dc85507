"""The quick commands, in processes of their own and in unfriendly surroundings."""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.data.samples import write_npz

PROGRAM = str(Path(sys.executable).with_name("mczsl"))
QUICK = [["methods"], ["datasets"], ["--help"]]
commands = pytest.mark.parametrize("arguments", QUICK, ids=" ".join)

# Without any of the user's settings.
BARE = {"PATH": os.environ["PATH"]}
SURROUNDINGS = {
    "C locale": {"LC_ALL": "C", "HOME": "/"},
    "no UTF-8 at all": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "ASCII output": {"PYTHONIOENCODING": "ascii"},
    "no home": {},
    "no terminal": {"TERM": "dumb"},
    "narrow": {"COLUMNS": "20"},
}


def mczsl(*arguments: str, **options) -> subprocess.CompletedProcess[str]:
    """A cold start, with nobody at the terminal."""
    options = {"stdin": subprocess.DEVNULL, "env": {**os.environ, "COLUMNS": "100"}, **options}
    return subprocess.run(
        [PROGRAM, *arguments], capture_output=True, text=True, encoding="utf-8", **options
    )


@pytest.mark.parametrize("environment", SURROUNDINGS.values(), ids=SURROUNDINGS.keys())
@commands
def test_quick_commands_answer_anywhere(
    arguments: list[str], environment: dict[str, str], tmp_path: Path
) -> None:
    done = mczsl(*arguments, env=BARE | environment, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert len(done.stdout.splitlines()) > 3
    assert list(tmp_path.iterdir()) == [], "a question must not write anything"


def least_seconds(*command: str) -> float:
    """The work of a command, the best of three; how busy the machine is counts little."""
    least = float("inf")
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        least = min(least, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return least


def test_quick_commands_are_quick() -> None:
    """Half a second at most; on a slow machine, not much more than what they stand on."""
    needed = least_seconds(sys.executable, "-c", "import numpy, pydantic, typer, rich.table")
    for arguments in QUICK:
        assert least_seconds(PROGRAM, *arguments) < max(0.5, 3 * needed), arguments


def test_lists_for_programs() -> None:
    listed = json.loads(mczsl("methods", "--json").stdout)
    methods = {each["name"]: each["summary"] for each in listed}
    assert {"mczsl", "sequential"} <= methods.keys()
    assert all(methods.values()), "every method says what it is"
    datasets = {each["name"] for each in json.loads(mczsl("datasets", "--json").stdout)}
    assert {"emoji", "digits", "synthetic:cub"} <= datasets


def test_python_dash_m_is_the_same_command() -> None:
    module = subprocess.run(
        [sys.executable, "-m", "mczsl", "methods", "--json"], capture_output=True, text=True
    )
    assert module.stdout == mczsl("methods", "--json").stdout


def test_without_arguments_it_shows_the_help() -> None:
    done = mczsl()
    assert "Usage" in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [["fly"], ["methods", "--loud"], ["run", "--seed", "one"]],
    ids=" ".join,
)
def test_wrong_usage_is_no_crash(arguments: list[str]) -> None:
    done = mczsl(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Usage" in done.stderr
    assert "Traceback" not in done.stderr


@commands
def test_a_reader_that_has_gone_is_no_crash(arguments: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as output:
        done = subprocess.run(
            [PROGRAM, *arguments], stdout=output, stderr=subprocess.PIPE, text=True
        )
    assert done.stderr == ""
    assert done.returncode in (0, 1)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("arguments", [["methods"], ["methods", "--json"]], ids=" ".join)
def test_a_full_disk_behind_the_output_is_named(arguments: list[str]) -> None:
    with open("/dev/full", "wb") as output:
        done = subprocess.run(
            [PROGRAM, *arguments], stdout=output, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 2
    assert done.stderr.startswith("mczsl: ")
    assert "No space left" in done.stderr
    assert "Traceback" not in done.stderr


def test_names_that_the_terminal_cannot_show(tmp_path: Path) -> None:
    write_npz(tmp_path / "Vögel ☃.npz")
    for environment in ({"PYTHONIOENCODING": "ascii"}, {"PYTHONIOENCODING": "latin-1"}, {}):
        done = subprocess.run(
            [PROGRAM, "datasets", "--data-root", str(tmp_path)],
            capture_output=True,
            env=BARE | environment,
        )
        assert done.returncode == 0, done.stderr
        assert b"gel" in done.stdout


def test_names_cannot_command_the_terminal(tmp_path: Path) -> None:
    escape = "\x1b[2J\x1b]0;title\x07"
    write_npz(tmp_path / f"{escape}[red]birds.npz")
    listed = mczsl("datasets", "--data-root", str(tmp_path))
    assert "[red]birds" in listed.stdout, "a name is no markup"
    names = np.array(["a", "b", "c", "d", "e", f"{escape}owl"])
    checked = mczsl("data", "check", str(write_npz(tmp_path / "zoo.npz", class_names=names)))
    missing = mczsl("data", "check", str(tmp_path / f"{escape}.npz"))
    assert missing.returncode == 2
    for done in (listed, checked, missing):
        assert "\x1b" not in done.stdout + done.stderr
        assert "\x07" not in done.stdout + done.stderr
        assert "Traceback" not in done.stderr
