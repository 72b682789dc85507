"""Methods are found by name, also those in a user's own files."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mczsl.errors import ConfigError
from mczsl.methods import available_methods, get_method, use_method
from mczsl.runs import code_version

OWN = '''
from mczsl.methods import register_method
from mczsl.methods.sequential import Sequential

@register_method("{name}")
class Own(Sequential):
    """Of my own."""
'''


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with the method ``own``; the environment is put back afterwards."""
    monkeypatch.setenv("MCZSL_METHODS", "")
    path = tmp_path / "own.py"
    path.write_text(OWN.format(name=f"own_{tmp_path.name}"))
    return path


def test_a_name_stays_a_name() -> None:
    assert use_method("mczsl") == "mczsl"
    assert use_method("no such thing") == "no such thing"  # the run says what is known


def test_the_method_of_a_file_is_known_from_then_on(own: Path) -> None:
    name = use_method(str(own))
    assert name == f"own_{own.parent.name}"
    assert use_method(f"{own}:{name}") == name
    assert available_methods()[name].summary == "Of my own."
    assert get_method(name) is get_method(name)
    assert get_method(name).name == name
    known = "import sys, mczsl.methods as m; sys.exit(sys.argv[1] not in m.available_methods())"
    assert subprocess.run([sys.executable, "-c", known, name]).returncode == 0


def test_a_file_may_import_others_beside_it(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", sys.path.copy())
    (own.parent / "helper_of_own.py").write_text("NUMBER = 3\n")
    own.write_text("from helper_of_own import NUMBER\n" + own.read_text() + "    number = NUMBER\n")
    assert get_method(use_method(str(own))).number == 3


def test_without_being_named_a_file_is_never_run(own: Path) -> None:
    for text in (str(own), f"{own}:own"):
        with pytest.raises(ConfigError, match="unknown method"):
            get_method(text)


def test_changing_a_file_is_changing_the_code(own: Path) -> None:
    name = use_method(str(own))
    before = code_version.code_version.__wrapped__(name)
    assert code_version.code_version.__wrapped__(name) == before
    own.write_text(own.read_text() + "\n    other = 1\n")
    code_version._meaning.cache_clear()
    assert code_version.code_version.__wrapped__(name) != before


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "own.py: cannot be read"),
        ("class Own(:", "own.py: cannot be read as a file of methods: invalid syntax"),
        ("\0", "own.py: cannot be read"),
        ("x = 1", "own.py: registers no method; put @register_method"),
        (OWN.format(name="mczsl"), "own.py: the name 'mczsl' is taken by .*mczsl.py"),
    ],
)
def test_a_file_that_is_no_method_is_named(own: Path, content: str | None, message: str) -> None:
    own.unlink() if content is None else own.write_text(content)
    with pytest.raises(ConfigError, match=message):
        use_method(str(own))


def test_several_methods_in_a_file_are_told_apart(own: Path) -> None:
    second = OWN.format(name="second").partition("\n\n")[2].replace("Own", "Second")
    own.write_text(own.read_text() + "\n" + second)
    with pytest.raises(ConfigError, match=r"Known: own_.*, second\. Write own\.py:NAME"):
        use_method(str(own))
    assert use_method(f"{own}:second") == "second"
    with pytest.raises(ConfigError, match="did you mean 'second'"):
        use_method(f"{own}:secnd")


def test_an_error_in_a_file_names_the_file(own: Path) -> None:
    own.write_text(own.read_text() + "\nraise ValueError('too bad')\n")
    name = use_method(str(own))
    with pytest.raises(ConfigError, match=r"own\.py: ValueError: too bad"):
        get_method(name)
    assert os.environ["MCZSL_METHODS"] == str(own.resolve())
