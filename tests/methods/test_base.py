"""The configuration that all methods share: what it takes for a number."""

import pytest

from mczsl.errors import ConfigError
from mczsl.methods import available_methods, get_method, make_config
from mczsl.methods.base import MethodConfig


class Wide(MethodConfig):
    either: bool | int = 3
    numbers: tuple[int, ...] = ()


@pytest.mark.parametrize("name", available_methods())
def test_a_truth_value_is_no_number(name: str) -> None:
    method = get_method(name)
    numbers = {key: type(value) in (int, float) for key, value in method.Config()}
    for key in [key for key, is_number in numbers.items() if is_number]:
        for value in (True, False):
            with pytest.raises(ConfigError, match=rf"{key}: .*number \(got {value}\)"):
                make_config(method, settings={key: value})
    assert any(numbers.values())


def test_a_truth_value_is_no_number_where_none_is_allowed_too() -> None:
    with pytest.raises(ConfigError, match=r"episodes: .*number \(got True\)"):
        make_config(get_method("mczsl"), settings={"episodes": True})


def test_other_fields_and_values_stay_as_they_are() -> None:
    config = make_config(
        get_method("mczsl"), settings={"gating": False, "meta": True, "rate": 1, "episodes": None}
    )
    found = config.model_dump()
    assert (found["gating"], found["meta"], found["episodes"]) == (False, True, None)
    assert type(found["rate"]) is float
    assert Wide(either=True).either is True
    assert Wide(numbers=(1, 2)).numbers == (1, 2)
