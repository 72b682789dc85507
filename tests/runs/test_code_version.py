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


OWN = '''
import torch
{imports}
from mczsl.methods import register_method
from mczsl.methods.sequential import Sequential

@register_method("{name}")
class Own(Sequential):
    """Of my own."""
'''
FILES = {
    "helper.py": "import parts.deep\nfrom mczsl.nn import reptile\nRATE = 1\n",
    "parts/__init__.py": "SIZE = 2\n",
    "parts/deep.py": "from . import near\nfrom .near import three\nimport further\nimport own\n",
    "parts/near.py": "from ..parts import SIZE\nthree = 3\n",
    "further.py": "FOUR = 4\n",
    "bare/inner.py": "FIVE = 5\n",
    "stranger.py": "SIX = 6\n",
}


@pytest.fixture
def own(package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a user's own method and files beside it."""
    folder = tmp_path / "of_mine"
    imports = "import helper\nfrom bare import inner"
    for file, text in {**FILES, "own.py": OWN.format(imports=imports, name="beside")}.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(text)
    monkeypatch.setenv("MCZSL_METHODS", str(folder / "own.py"))
    return folder


@pytest.mark.parametrize("file", ["own.py", *(file for file in FILES if file != "stranger.py")])
def test_files_beside_a_users_own_method_count(own: Path, file: str) -> None:
    before = code_version("beside")
    append(own / file, "\n# a comment\n")
    assert code_version("beside") == before
    append(own / file, "\nTHIS_CAN_MATTER = 1\n")
    assert code_version("beside") != before


def test_what_a_file_beside_imports_of_the_package_counts(own: Path, package: Path) -> None:
    before = code_version("beside")
    append(package / "nn" / "reptile.py", "\nTHIS_CAN_MATTER = 1\n")
    assert code_version("beside") != before


def test_files_beside_that_nobody_imports_do_not_count(own: Path) -> None:
    before, of_package = code_version("beside"), code_version("sequential")
    append(own / "stranger.py", "\nNOBODY_READS_THIS = 1\n")
    assert code_version("beside") == before
    append(own / "helper.py", "\nONE_METHOD_READS_THIS = 1\n")
    assert code_version("sequential") == of_package


def test_the_package_beside_an_own_file_is_no_helper(own: Path, package: Path) -> None:
    before = code_version("beside")
    shutil.copytree(package, own / "mczsl")
    forget()
    assert code_version("beside") == before


def test_a_file_beside_that_is_no_python_is_named(own: Path) -> None:
    append(own / "further.py", "\nclass Half(:\n")
    with pytest.raises(ConfigError, match=r"further\.py: cannot be read as Python"):
        code_version("beside")
