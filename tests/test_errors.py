import inspect

import pytest

from mczsl import errors
from mczsl.errors import ConfigError, DataError, MczslError, unknown_name


def test_every_error_has_the_one_base() -> None:
    classes = [each for _, each in inspect.getmembers(errors, inspect.isclass)]
    own = [each for each in classes if each.__module__ == errors.__name__]
    assert len(own) > 3
    assert all(issubclass(each, MczslError) for each in own)


@pytest.mark.parametrize("wrong", ["rezervoir", "RESERVOIR", "reservor"])
def test_unknown_name_suggests_the_nearest(wrong: str) -> None:
    message = str(unknown_name("memory", wrong, ["ring", "reservoir"]))
    assert f"{wrong!r}" in message
    assert "did you mean 'reservoir'?" in message
    assert message.endswith("Known: reservoir, ring")


def test_unknown_name_does_not_suggest_what_is_far_off() -> None:
    message = str(unknown_name("memory", "xylophone", ["ring", "none"], hint="See the manual"))
    assert "did you mean" not in message
    assert message.endswith("Known: none, ring. See the manual")


def test_unknown_name_without_any_known_one() -> None:
    assert str(unknown_name("dataset", "x", [])) == "unknown dataset 'x'."


def test_unknown_name_spells_out_terminal_escapes() -> None:
    assert "\x1b" not in str(unknown_name("dataset", "\x1b[31mred", ["digits"]))


def test_unknown_name_is_the_kind_of_error_that_is_asked_for() -> None:
    assert isinstance(unknown_name("a", "b", []), ConfigError)
    assert isinstance(unknown_name("a", "b", [], error=DataError), DataError)
