import pytest

from mczsl.errors import ConfigError
from mczsl.experiments.selection import select
from tests.grids import experiment

WHOLE = experiment(
    datasets=[{"name": "CUB", "features": "effnetlite0"}, "AWA1"],
    variants=[
        {"label": "NM-ZSL", "method": "nm_zsl", "settings": {"epochs": 9}},
        {"label": "MCZSL (paper)", "method": "mczsl", "preset": "paper"},
        {"label": "MCZSL", "method": "mczsl"},
    ],
)


def test_nothing_chosen_leaves_everything() -> None:
    assert select(WHOLE) == WHOLE


def test_datasets_are_chosen_in_any_case_and_keep_their_features() -> None:
    assert [(d.name, d.features) for d in select(WHOLE, datasets=["cub", "digits"]).datasets] == [
        ("CUB", "effnetlite0"),
        ("digits", None),
    ]


def test_features_and_semantics_multiply() -> None:
    found = select(WHOLE, datasets=["CUB"], features=["a"], semantics=["att", "sent"]).datasets
    assert [(d.features, d.semantics) for d in found] == [("a", "att"), ("a", "sent")]


def test_methods_are_chosen_by_label_or_name_and_others_may_join() -> None:
    def labels(*names: str) -> list[str]:
        return [variant.name for variant in select(WHOLE, methods=names).variants]

    assert labels("mczsl") == ["MCZSL (paper)", "MCZSL"]
    assert labels("MCZSL") == ["MCZSL"]
    assert labels("MCZSL (paper)", "nm-zsl") == ["MCZSL (paper)", "NM-ZSL"]
    assert labels("sequential", "nm_zsl") == ["sequential", "NM-ZSL"]
    with pytest.raises(ConfigError, match="did you mean 'nm_zsl'"):
        labels("nm_zsll")


def test_settings_for_all_or_for_one_method() -> None:
    changed = select(WHOLE, settings={"hidden": 8, "mczsl.ways": 3}).variants
    assert [variant.settings for variant in changed] == [
        {"epochs": 9, "hidden": 8},
        {"hidden": 8, "ways": 3},
        {"hidden": 8, "ways": 3},
    ]
    with pytest.raises(ConfigError, match="did you mean 'mczsl'"):
        select(WHOLE, settings={"mczls.ways": 3})


def test_a_setting_changes_only_methods_that_have_it() -> None:
    changed = select(WHOLE, methods=["eszsl", "MCZSL"], settings={"epochs": 2}).variants
    assert [variant.settings for variant in changed] == [{}, {"epochs": 2}]
    unknown = select(WHOLE, methods=["eszsl", "MCZSL"], settings={"epoch": 2}).variants
    assert [variant.settings for variant in unknown] == [{"epoch": 2}] * 2, "its runs complain"
