"""Parameters and classes that change after the first lesson: followed, or refused by name."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from mczsl import ZeroShotClassifier, storage
from mczsl.errors import ConfigError, DataError
from tests.estimator.animals import DESCRIBED, NAMES, QUICK, TABLE, quick, seen_of

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


# ---------------------------------------------------------------- during a lesson


# ---------------------------------------------------------------- other descriptions


@pytest.mark.parametrize("loaded", [False, True])
def test_classes_that_are_described_later_become_known(folder: Path, loaded: bool) -> None:
    model = quick(6).fit(X, Y)
    if loaded:
        model.save(folder)
        model = ZeroShotClassifier.load(folder)
    model.set_params(class_attributes={name: DESCRIBED[name] for name in NAMES[:8]})
    assert model.partial_fit(X, Y).unseen_classes_.tolist() == NAMES[6:8]
    model.class_attributes[NAMES[8]] = DESCRIBED[NAMES[8]]  # in place
    assert model.partial_fit(X, Y).unseen_classes_.tolist() == NAMES[6:9]


@pytest.mark.parametrize("loaded", [False, True])
def test_a_known_class_cannot_be_described_in_another_way(folder: Path, loaded: bool) -> None:
    model = quick().fit(X, Y)
    if loaded:
        model.save(folder)
        model = ZeroShotClassifier.load(folder)
    model.set_params(class_attributes={**DESCRIBED, NAMES[9]: TABLE[9] + 0.1})
    with pytest.raises(ConfigError, match="class 'animal 09' is described in another way than"):
        model.partial_fit(X, Y)
    model.set_params(class_attributes=None, class_descriptions={name: name for name in NAMES})
    model.set_params(text_encoder=lambda texts: [[len(text), 1] for text in texts])
    with pytest.raises(ConfigError, match="class_descriptions: the known classes have attributes"):
        model.partial_fit(X, Y)
    model.set_params(class_attributes={3: TABLE[3]}, class_descriptions=None)
    with pytest.raises(DataError, match="3 is one of whole numbers"):
        model.partial_fit(X, Y)
    model.set_params(class_attributes={**DESCRIBED}).partial_fit(X, Y)
    assert model.classes_.tolist() == NAMES


def test_without_descriptions_none_can_come_later() -> None:
    model = quick(class_attributes=None).fit(X, Y).set_params(class_attributes=DESCRIBED)
    with pytest.raises(ConfigError, match="class_attributes: the known classes have none"):
        model.partial_fit(X, Y)


def test_what_was_changed_by_hand_stays_so() -> None:
    """The parameter speaks of classes as they were at the beginning."""
    model = quick().fit(X, Y).remove_classes([NAMES[7], NAMES[9]])
    model.add_classes([NAMES[9]], attributes=[TABLE[9] + 1]).partial_fit(X, Y)
    assert NAMES[7] not in model.classes_
    place = model.model_.classes.places[NAMES[9]]
    np.testing.assert_array_equal(model.model_.classes.attributes[place], TABLE[9] + 1)


@pytest.mark.parametrize("change", ["add", "remove", "learn"])
def test_a_change_during_a_lesson_is_not_lost(change: str) -> None:
    model = quick().fit(X, Y)
    steps = model.learning(*LATER)
    next(steps)
    if change == "add":
        model.add_classes(["during"], attributes=[np.ones(12)])
    elif change == "remove":
        model.remove_classes([NAMES[19]])
    else:
        model.partial_fit(*seen_of([12]))
    known, seen = model.classes_.tolist(), model.seen_classes_.tolist()
    with pytest.raises(ConfigError, match=r"changed while it was learning.* partial_fit again"):
        list(steps)
    assert (model.classes_.tolist(), model.seen_classes_.tolist()) == (known, seen)
    model.partial_fit(*LATER)
    assert set(model.seen_classes_) == {*seen, *NAMES[8:10]}


def test_leaving_a_lesson_takes_back_nothing_else() -> None:
    model = quick().fit(X, Y)
    steps = model.learning(*LATER)
    next(steps)
    model.add_classes(["during"], attributes=[np.ones(12)]).set_params(memory_size=7)
    steps.close()  # type: ignore[attr-defined]
    assert "during" in model.classes_
    assert model.memory_size == 7
    assert model.seen_classes_.tolist() == NAMES[:6]


def test_two_first_lessons_at_once() -> None:
    model = quick()
    narrow, wide = model.learning(X[:, :20], Y), model.learning(X, Y)
    next(narrow)
    next(wide)
    assert not hasattr(model, "n_features_in_")
    list(narrow)
    with pytest.raises(ConfigError, match="changed while it was learning"):
        list(wide)
    assert model.n_features_in_ == 20
    assert model.predict(X[:, :20]).shape == (60,)


def test_a_lesson_that_waits_for_another_goes_on_from_it() -> None:
    model = quick()
    first, second = model.learning(X, Y), model.learning(*LATER)
    list(first)
    list(second)
    assert model.seen_classes_.tolist() == [*NAMES[:6], *NAMES[8:10]]


def test_names_of_columns_go_with_the_data_that_had_them() -> None:
    model = quick().fit(pd.DataFrame(X).add_prefix("f"), Y)
    assert len(model.feature_names_in_) == 40
    model.fit(X, Y)
    assert not hasattr(model, "feature_names_in_")
