"""Parameters and classes that change after the first lesson: followed, or refused by name."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mczsl import ZeroShotClassifier, storage
from mczsl.errors import ConfigError
from tests.estimator.animals import NAMES, QUICK, quick, seen_of

X, Y = seen_of(range(6))
LATER = seen_of(range(8, 10))


def kept_in(folder: Path) -> tuple[int, int]:
    """How many samples and class means the files hold."""
    tensors = storage.load(folder, "classifier").tensors
    counts = [
        sum(len(tensor) for name, tensor in tensors.items() if name.endswith(f".{part}.labels"))
        for part in ("memory", "mean_memory")
    ]
    return counts[0], counts[1]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    quick().fit(X, Y).save(tmp_path / "model")
    assert kept_in(tmp_path / "model") == (54, 6)
    return tmp_path / "model"


def test_a_memory_that_is_taken_away_is_not_saved(folder: Path) -> None:
    model = ZeroShotClassifier.load(folder)
    before = model.scores(X)
    model.set_params(memory_size=0).save(folder)
    assert kept_in(folder) == (0, 0)
    assert "keeps no training samples" in (folder / "README.md").read_text()
    loaded = ZeroShotClassifier.load(folder)
    assert loaded.memory_size == 0
    for each in (model, loaded):
        np.testing.assert_array_equal(each.scores(X), before)
        each.partial_fit(*LATER)
    np.testing.assert_array_equal(loaded.scores(X), model.scores(X))


@pytest.mark.parametrize("size", [0, 10, 60])
def test_the_next_lesson_keeps_what_the_parameter_allows(folder: Path, size: int) -> None:
    model = ZeroShotClassifier.load(folder).set_params(memory_size=size)
    model.partial_fit(*LATER).save(folder)
    samples, means = kept_in(folder)
    assert samples + means <= size
    assert ZeroShotClassifier.load(folder).memory_size == size
    assert samples > 0 or size == 0


def test_a_memory_may_grow(folder: Path) -> None:
    model = quick(memory_size=0).fit(X, Y).set_params(memory_size=1000)
    model.partial_fit(*LATER).save(folder)
    assert kept_in(folder) == (18, 2)


def test_a_size_that_is_none_is_refused_and_nothing_is_written(folder: Path) -> None:
    model = ZeroShotClassifier.load(folder).set_params(memory_size=-1)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    for ask in (lambda: model.save(folder), lambda: model.partial_fit(X, Y)):
        with pytest.raises(ConfigError, match="memory_size: must be a whole number"):
            ask()
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"settings": {**QUICK, "hidden": 32}}, "settings: is .*'hidden': 32.* made with .*64"),
        ({"settings": None}, "settings: is None now"),
        ({"preset": "paper"}, "preset: is 'paper' now, but the model was made with 'default'"),
        ({"method": "eszsl", "settings": None}, "method: is 'eszsl' now"),
        ({"random_state": 1}, "random_state: is 1 now, but the model was made with 0"),
    ],
    ids=["settings", "no settings", "preset", "method", "seed"],
)
@pytest.mark.parametrize("loaded", [False, True])
def test_what_cannot_change_is_refused(
    folder: Path, change: dict[str, Any], message: str, loaded: bool
) -> None:
    model = ZeroShotClassifier.load(folder) if loaded else quick().fit(X, Y)
    before = model.scores(X)
    model.set_params(**change)
    with pytest.raises(ConfigError, match=f"{message}.*call fit to begin anew"):
        model.partial_fit(X, Y)
    np.testing.assert_array_equal(model.scores(X), before)


def test_settings_that_are_changed_in_place_are_noticed() -> None:
    model = quick(settings=dict(QUICK)).fit(X, Y)
    model.settings["hidden"] = 32
    with pytest.raises(ConfigError, match="'hidden': 32"):
        model.partial_fit(X, Y)
    assert model.fit(X, Y).model_.method.config.hidden == 32  # type: ignore[attr-defined]


def test_the_same_in_other_words_is_no_change() -> None:
    model = quick().fit(X, Y)
    model.set_params(settings={**QUICK, "calibration": "auto"}, random_state=np.int64(0))
    assert len(model.partial_fit(*LATER).history_) == 2


def test_what_is_saved_is_what_the_model_was_made_with(folder: Path) -> None:
    model = quick().fit(X, Y).set_params(settings={"no_such": 1}, preset="paper")
    model.save(folder)
    loaded = ZeroShotClassifier.load(folder)
    assert (loaded.settings, loaded.preset) == (QUICK, "default")
    assert loaded.partial_fit(*LATER).seen_classes_.tolist() == [*NAMES[:6], *NAMES[8:10]]
