"""The page on adding a method does what it says: its files and commands are run as they stand."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = "docs/adding-a-method.md"
FILES = re.compile(r'```python title="([^"]+)"\n(.*?)```', re.DOTALL)
COMMANDS = re.compile(r"```console\n(.*?)```", re.DOTALL)


@pytest.fixture(scope="module")
def folder(repo_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty folder with the page's files."""
    folder = tmp_path_factory.mktemp("adding")
    for name, code in FILES.findall((repo_root / PAGE).read_text(encoding="utf-8")):
        (folder / name).write_text(code, encoding="utf-8")
    assert sorted(path.name for path in folder.iterdir()) == ["check.py", "ridge.py"]
    return folder


def execute(folder: Path, *command: str, **variables: str) -> str:
    done = subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_commands_work(repo_root: Path, folder: Path) -> None:
    page = (repo_root / PAGE).read_text(encoding="utf-8")
    variables: dict[str, str] = {}
    shown = []
    for line in "".join(COMMANDS.findall(page)).splitlines():
        program, *arguments = shlex.split(line.removeprefix("$ "))
        if program == "export":
            variables |= dict(argument.split("=") for argument in arguments)
        else:
            assert program == "mczsl"
            shown.append(execute(folder, "-m", "mczsl", *arguments, **variables))
    run, changed, listing, table = shown
    assert "ridge on digits" in run
    assert changed != run, "--set strength made no difference"
    assert "A linear map from attributes to features, in closed form." in listing
    row = next(line.split() for line in table.splitlines() if "ridge" in line)
    assert row[-3:-1] == ["none", "no"], "not calibrated, and blind to unseen classes' attributes"


def test_the_method_passes_the_checks(folder: Path) -> None:
    execute(folder, "check.py")


def test_the_method_learns(folder: Path) -> None:
    arguments = "run --method ridge.py --dataset digits --protocol dynamic --json"
    record = json.loads(execute(folder, "-m", "mczsl", *arguments.split()).splitlines()[-1])
    assert record["method"] == "ridge"
    assert record["mSA"] > 85
    assert record["mH"] > 50
