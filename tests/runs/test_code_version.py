"""The code's part of a run's key: what can change a result, and nothing else."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import mczsl
from mczsl.errors import ConfigError
from mczsl.runs import code_version as module
from mczsl.runs.code_version import code_version


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the package to change."""
    copy = tmp_path / "mczsl"
    ignored = shutil.ignore_patterns("__pycache__", "embedded")
    shutil.copytree(Path(mczsl.__file__).parent, copy, ignore=ignored)
    monkeypatch.setattr(module, "_PACKAGE", copy)
    forget()
    yield copy
    forget()


def forget() -> None:
    for cached in (module.code_version, module._imports, module._meaning):
        cached.cache_clear()


def append(path: Path, text: str) -> None:
    path.write_text(path.read_text() + text)
    forget()


def test_a_version_is_that_of_the_package_and_stays() -> None:
    assert code_version("mczsl").startswith(mczsl.__version__)
    assert code_version("mczsl") == code_version("mczsl") != code_version("sequential")


@pytest.mark.parametrize(
    "file", ["nn/reptile.py", "methods/mczsl.py", "runs/loop.py", "evaluation/metrics.py"]
)
def test_code_that_a_run_executes_counts(package: Path, file: str) -> None:
    before = code_version("mczsl")
    append(package / file, "\nTHIS_CAN_MATTER = 1\n")
    assert code_version("mczsl") != before


@pytest.mark.parametrize("file", ["methods/agem.py", "cli/run.py", "data/digits.py"])
def test_other_methods_and_what_the_data_tells_do_not_count(package: Path, file: str) -> None:
    before = code_version("mczsl")
    append(package / file, "\nNOBODY_READS_THIS = 1\n")
    assert code_version("mczsl") == before


def test_comments_docstrings_and_layout_do_not_count(package: Path) -> None:
    before = code_version("mczsl")
    path = package / "methods" / "mczsl.py"
    path.write_text("# a comment\n\n\n" + path.read_text().replace('"""MCZSL: ', '"""It is: '))
    forget()
    assert code_version("mczsl") == before


def test_an_unknown_method_is_named() -> None:
    with pytest.raises(ConfigError, match="did you mean 'mczsl'"):
        code_version("mczls")
