"""What the classifier promises to people with their own data."""

import itertools
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mczsl import ZeroShotClassifier
from mczsl.estimator.classes import CODE_WIDTH, one_hot_codes
from mczsl.methods import available_methods, get_method
from tests.estimator.animals import DESCRIBED, NAMES, QUICK, TABLE, quick, seen_of

PLAIN = {**QUICK, "calibration": "none"}
THOROUGH = {"calibration": "none", "epochs": 60}


@pytest.fixture(scope="module")
def taught() -> ZeroShotClassifier:
    """Knows all animals, has seen the first twelve; not to be changed."""
    return quick().fit(*seen_of(range(12)))


def test_the_package_offers_it_without_loading_it() -> None:
    import mczsl

    assert mczsl.ZeroShotClassifier is ZeroShotClassifier
    with pytest.raises(AttributeError, match="no attribute 'ZeroShotClasifier'"):
        mczsl.ZeroShotClasifier  # noqa: B018


def test_it_knows_what_it_has_and_has_not_seen(taught: ZeroShotClassifier) -> None:
    assert taught.classes_.tolist() == NAMES
    assert taught.seen_classes_.tolist() == NAMES[:12]
    assert taught.unseen_classes_.tolist() == NAMES[12:]
    assert taught.n_features_in_ == 40


def test_it_recognises_seen_and_unseen_classes() -> None:
    model = quick(settings=THOROUGH).fit(*seen_of(range(12), each=40))
    assert model.score(*seen_of(range(12), seed=1)) > 0.9
    X, y = seen_of(range(12, 20), seed=1)
    assert model.score(X, y) > 0.5, "chance is 1 in 20"
    assert (model.predict(X, among=NAMES[12:]) == y).mean() > 0.9


def test_probabilities_scores_and_ranks_agree(taught: ZeroShotClassifier) -> None:
    X, _ = seen_of(range(20), each=2, seed=2)
    scores, shares = taught.scores(X), taught.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=1e-5)
    expected = np.exp(scores.astype(float))
    np.testing.assert_allclose(
        shares, expected / expected.sum(axis=1, keepdims=True), rtol=1e-4, atol=1e-7
    )
    assert (taught.predict(X) == taught.classes_[scores.argmax(axis=1)]).all()
    labels, ranked = taught.top_k(X, 20)
    assert (labels[:, 0] == taught.predict(X)).all()
    np.testing.assert_allclose(ranked, -np.sort(-shares, axis=1), rtol=1e-4, atol=1e-7)
    assert (np.sort(labels, axis=1) == taught.classes_).all(), "every class once"
    three, _ = taught.top_k(X, np.int64(3))
    assert (three == labels[:, :3]).all()


def test_five_ranks_or_as_many_as_there_are(taught: ZeroShotClassifier) -> None:
    X, _ = seen_of(range(3))
    np.testing.assert_array_equal(taught.top_k(X)[0], taught.top_k(X, 5)[0])
    few = NAMES[:3]
    np.testing.assert_array_equal(taught.top_k(X, among=few)[0], taught.top_k(X, 3, few)[0])
    labels, shares = quick(known=2).fit(*seen_of(range(2))).top_k(X)
    assert labels.shape == shares.shape == (30, 2)


def test_candidates_come_in_the_order_they_are_named(taught: ZeroShotClassifier) -> None:
    X, _ = seen_of([0, 15], each=3)
    among = [NAMES[15], NAMES[0], NAMES[7]]
    places = [15, 0, 7]
    np.testing.assert_allclose(taught.scores(X, among), taught.scores(X)[:, places], rtol=1e-5)
    assert set(taught.predict(X, among=among)) <= set(among)
    assert set(taught.predict(X, among=taught.unseen_classes_)) <= set(NAMES[12:])
    np.testing.assert_allclose(taught.predict_proba(X, among=[NAMES[3]]), 1)


@given(rows=st.lists(st.integers(0, 39), min_size=1, max_size=60))
@settings(max_examples=40)
def test_a_row_scores_alike_in_any_company(taught: ZeroShotClassifier, rows: list[int]) -> None:
    X, _ = seen_of(range(20), each=2, seed=3)
    np.testing.assert_allclose(taught.scores(X[rows]), taught.scores(X)[rows], rtol=1e-5, atol=1e-5)


@given(factor=st.floats(1e-300, 1e300))
@settings(max_examples=40)
def test_only_the_direction_of_a_row_counts(taught: ZeroShotClassifier, factor: float) -> None:
    """Also where its squares vanish or overflow in 32 bits, or the numbers themselves do."""
    X = seen_of(range(20), each=1, seed=4)[0].astype(np.float64)
    np.testing.assert_allclose(taught.scores(X * factor), taught.scores(X), rtol=1e-3, atol=1e-3)


def as_mapped(X: np.ndarray, folder: Path) -> np.ndarray:
    np.save(folder / "X.npy", X)
    return np.load(folder / "X.npy", mmap_mode="r")


def as_read_only(X: np.ndarray, folder: Path) -> np.ndarray:
    copy = X.copy()
    copy.flags.writeable = False
    return copy


@pytest.mark.parametrize(
    "form",
    [
        lambda X, folder: X.astype(">f8"),
        lambda X, folder: X.astype(">f4"),
        lambda X, folder: np.asfortranarray(X),
        lambda X, folder: X[:, ::-1].copy()[:, ::-1],
        lambda X, folder: X.astype(object),
        lambda X, folder: X.tolist(),
        lambda X, folder: pd.DataFrame(X),
        as_mapped,
        as_read_only,
    ],
    ids=[
        "double",
        "swapped",
        "Fortran",
        "strided",
        "objects",
        "lists",
        "frame",
        "mapped",
        "locked",
    ],
)
def test_the_form_of_an_array_does_not_matter(form: Any, tmp_path: Path) -> None:
    X, y = seen_of(range(4))
    given = form(X, tmp_path)
    model, expected = quick().fit(given, y), quick().fit(X, y)
    np.testing.assert_array_equal(model.scores(given), expected.scores(X))


# ---------------------------------------------------------------- learning on and on


def test_lessons_in_any_number_and_no_old_data() -> None:
    model = quick(settings=PLAIN)
    for start in (0, 4, 8):
        model.partial_fit(*seen_of(range(start, start + 4)))
        assert model.seen_classes_.tolist() == NAMES[: start + 4]
    assert model.score(*seen_of(range(12), seed=1)) > 0.8, "all three lessons are remembered"
    assert [lesson["new_classes"] for lesson in model.history_] == [4, 4, 4]
    assert [lesson["samples"] + lesson["held_back"] for lesson in model.history_] == [40] * 3


def test_without_a_memory_it_forgets() -> None:
    """Otherwise the test above would show nothing."""
    model = quick(settings=PLAIN, memory_size=0)
    for start in (0, 4, 8):
        model.partial_fit(*seen_of(range(start, start + 4)))
    remembering = quick(settings=PLAIN)
    for start in (0, 4, 8):
        remembering.partial_fit(*seen_of(range(start, start + 4)))
    early = seen_of(range(4), seed=1)
    assert model.score(*early) < remembering.score(*early) - 0.2


def test_the_first_partial_fit_is_a_fit() -> None:
    X, y = seen_of(range(4))
    np.testing.assert_array_equal(quick().partial_fit(X, y).scores(X), quick().fit(X, y).scores(X))


def test_fit_forgets_everything_before() -> None:
    X, y = seen_of(range(4))
    model = quick().fit(*seen_of(range(4, 8)))
    model.add_classes(["another"], attributes=[np.ones(12)])
    model.fit(X, y)
    assert model.seen_classes_.tolist() == NAMES[:4]
    assert "another" not in model.classes_
    np.testing.assert_array_equal(model.scores(X), quick().fit(X, y).scores(X))


def test_more_of_the_old_classes_and_the_same_again() -> None:
    X, y = seen_of(range(4))
    model = quick(validation_fraction=0).fit(X, y)
    memory = model.model_.method.method.memory  # type: ignore[attr-defined]
    assert len(memory) == 40
    model.partial_fit(X, y)
    memory = model.model_.method.method.memory  # type: ignore[attr-defined]
    assert len(memory) == 40, "a sample that comes twice is remembered once"
    model.partial_fit(*seen_of(range(2), seed=1))
    assert model.seen_classes_.tolist() == NAMES[:4]
    assert len(model.history_) == 3


def test_equal_seeds_give_equal_models_and_others_do_not() -> None:
    X, y = seen_of(range(4))
    first = quick(random_state=1).fit(X, y).scores(X)
    np.testing.assert_array_equal(first, quick(random_state=1).fit(X, y).scores(X))
    assert (first != quick(random_state=2).fit(X, y).scores(X)).any()


def test_learning_can_be_watched_and_left() -> None:
    model = quick().fit(*seen_of(range(4)))
    before = model.scores(seen_of(range(4))[0])
    steps = model.learning(*seen_of(range(4, 8)))
    progress = list(itertools.islice(steps, 3))
    assert [step.epoch for step in progress] == [1, 2, 3]
    assert model.seen_classes_.tolist() == NAMES[:4], "nothing has changed until the end"
    np.testing.assert_array_equal(model.scores(seen_of(range(4))[0]), before)
    steps.close()  # type: ignore[attr-defined]
    np.testing.assert_array_equal(model.scores(seen_of(range(4))[0]), before)
    assert len(model.history_) == 1


def test_a_lesson_that_fails_changes_nothing() -> None:
    X, y = seen_of(range(4))
    model = quick().fit(X, y)
    before = model.scores(X)
    model.set_params(settings={**QUICK, "no_such": 1})
    with pytest.raises(ValueError, match="no_such"):
        model.fit(X[:, :3], y)
    assert model.n_features_in_ == 40
    np.testing.assert_array_equal(model.scores(X), before)


def test_figures_are_measured_on_samples_that_were_not_learned() -> None:
    model = quick(settings=PLAIN).fit(*seen_of(range(4), each=20))
    first = model.history_[0]
    assert (first["samples"], first["held_back"]) == (72, 8)
    assert first["accuracy"] is not None
    assert first["zero_shot"] is None, "there was no model yet"
    model.partial_fit(*seen_of(range(4, 8), each=20))
    assert 0 <= model.history_[1]["zero_shot"] <= 1
    model.partial_fit(*seen_of(range(8), each=5))
    assert model.history_[2] == {
        "samples": 40,
        "classes": 8,
        "new_classes": 0,
        "held_back": 0,
        "accuracy": None,
        "zero_shot": None,
    }


# ---------------------------------------------------------------- classes come and go


@pytest.mark.parametrize("known", [3, 12, 18])
def test_adding_a_class_changes_no_other_score(known: int) -> None:
    model = quick(known).fit(*seen_of(range(3)))
    X, _ = seen_of(range(20), each=2)
    before = model.scores(X)
    model.add_classes(NAMES[known:], attributes=TABLE[known:])
    after = model.scores(X)
    assert after.shape == (40, 20)
    np.testing.assert_allclose(after[:, :known], before, rtol=1e-6, atol=1e-6)


def test_added_classes_are_recognised_and_learned_later() -> None:
    model = quick(12, settings=THOROUGH).fit(*seen_of(range(12), each=40))
    X, y = seen_of(range(12, 20), seed=1)
    with pytest.raises(ValueError, match="unknown class 'animal 12'"):
        model.predict(X, among=[NAMES[12]])
    model.add_classes(NAMES[12:], attributes=TABLE[12:])
    assert model.score(X, y) > 0.7, "chance is 1 in 20"
    model.partial_fit(*seen_of(range(12, 20), each=40))
    assert model.unseen_classes_.tolist() == []
    assert model.score(X, y) > 0.9
    assert model.score(*seen_of(range(12), seed=1)) > 0.9, "nothing was forgotten"


def test_a_removed_class_is_no_candidate_and_leaves_the_memory() -> None:
    model = quick(validation_fraction=0).fit(*seen_of(range(4)))
    X, _ = seen_of(range(20), each=2)
    before = model.scores(X)
    model.remove_classes([NAMES[1], NAMES[15]])
    assert model.classes_.tolist() == [name for name in NAMES if name not in (NAMES[1], NAMES[15])]
    assert model.seen_classes_.tolist() == [NAMES[0], NAMES[2], NAMES[3]]
    rest = [place for place in range(20) if place not in (1, 15)]
    np.testing.assert_allclose(model.scores(X), before[:, rest], rtol=1e-6, atol=1e-6)
    assert len(model.model_.method.method.memory) == 30  # type: ignore[attr-defined]
    assert len(model.model_.method.method.means) == 3  # type: ignore[attr-defined]
    model.partial_fit(*seen_of(range(4, 6)))
    model.add_classes([NAMES[1]], attributes=[TABLE[1]])
    assert NAMES[1] in model.unseen_classes_


def test_classes_can_be_described_by_mappings_and_data_frames() -> None:
    frame = pd.DataFrame(TABLE, index=NAMES, columns=[f"trait {n}" for n in range(12)])
    X, y = seen_of(range(4))
    by_frame = quick(class_attributes=frame.iloc[:18]).fit(X, y)
    np.testing.assert_array_equal(by_frame.scores(X), quick(18).fit(X, y).scores(X))
    backwards = frame[frame.columns[::-1]]
    by_frame.add_classes(NAMES[18:], attributes=backwards)
    plainly = quick(18).fit(X, y).add_classes(NAMES[18:], attributes=DESCRIBED)
    np.testing.assert_array_equal(by_frame.scores(X), plainly.scores(X))
    with pytest.raises(ValueError, match=r"columns are not those .*'trait 0', 'trait x'"):
        by_frame.add_classes(
            ["new"], attributes=pd.DataFrame([TABLE[0]], ["new"], ["trait x", *frame.columns[1:]])
        )


def test_pandas_is_not_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert quick().fit(*seen_of(range(2))).classes_.tolist() == NAMES


def test_a_new_description_in_the_parameters_serves_the_next_lesson() -> None:
    model = quick(10).fit(*seen_of(range(4)))
    model.set_params(class_attributes=DESCRIBED)
    model.partial_fit(*seen_of([15]))
    assert model.classes_.tolist() == NAMES
    assert model.seen_classes_.tolist() == [*NAMES[:4], NAMES[15]]


# ---------------------------------------------------------------- descriptions in words


def letters(texts: list[str]) -> list[list[int]]:
    """A text encoder that everybody can check: how often each letter comes up, and a 1."""
    return [[text.count(letter) for letter in "abcdefgh"] + [1] for text in texts]


def test_classes_described_by_texts() -> None:
    texts = {"one": "ab", "two": "cd", "three": "ef"}
    X = np.abs(np.random.default_rng(0).normal(size=(20, 5)))
    y = ["one", "two"] * 10
    model = ZeroShotClassifier(settings=QUICK, class_descriptions=texts, text_encoder=letters)
    model.fit(X, y)
    assert model.unseen_classes_.tolist() == ["three"]
    numbers = dict(zip(texts, letters(list(texts.values())), strict=True))
    plain = ZeroShotClassifier(settings=QUICK, class_attributes=numbers).fit(X, y)
    np.testing.assert_array_equal(model.scores(X), plain.scores(X))
    model.add_classes(["four", "five"], descriptions=["gh", "ah"])
    model.add_classes(["six"], descriptions={"six": "abc"})
    assert sorted(model.unseen_classes_) == ["five", "four", "six", "three"]


# ---------------------------------------------------------------- without any description


def test_without_attributes_new_classes_may_still_come() -> None:
    model = ZeroShotClassifier(settings=PLAIN)
    for start in (0, 4, 8):
        model.partial_fit(*seen_of(range(start, start + 4)))
    assert model.classes_.tolist() == NAMES[:12]
    assert model.score(*seen_of(range(12), seed=1)) > 0.8
    assert model.history_[1]["zero_shot"] is None


def test_codes_are_nearly_orthogonal_and_belong_to_the_label() -> None:
    codes = one_hot_codes([f"class {number}" for number in range(200)])
    cosine = codes @ codes.T / CODE_WIDTH
    np.testing.assert_allclose(np.diag(cosine), 1)
    others = cosine[~np.eye(200, dtype=bool)]
    assert abs(others.std() - 1 / 16) < 0.005
    assert np.abs(others).max() < 0.4
    assert (one_hot_codes(["class 7"])[0] == codes[7]).all()
    assert (one_hot_codes([7]) != one_hot_codes(["7"])).any()


@pytest.mark.parametrize(
    "labels",
    [[-3, 5, 40], [1, 2, 3], [2.0, 4.0, 9.0], [True, False, True], ["ß", "Ω", "=1+1"]],
    ids=["negative with gaps", "from one", "whole floats", "booleans", "texts"],
)
def test_labels_of_all_kinds(labels: list[object]) -> None:
    X, y = seen_of(range(3))
    named = np.array([labels[NAMES.index(name)] for name in y])
    model = ZeroShotClassifier(settings=QUICK).fit(X, named)
    assert model.classes_.tolist() == sorted(set(labels))  # type: ignore[type-var]
    assert set(model.predict(X)) <= set(labels)
    assert model.classes_.dtype.kind == ("i" if named.dtype.kind == "f" else named.dtype.kind)
    listed = ZeroShotClassifier(settings=QUICK).fit(X.tolist(), named.astype(object))
    np.testing.assert_array_equal(listed.predict(X), model.predict(X))


@pytest.mark.parametrize("method", [name for name in available_methods() if name != "mczsl"])
def test_every_method_serves(method: str) -> None:
    short = {"epochs": 1} if "epochs" in get_method(method).Config.model_fields else {}
    model = ZeroShotClassifier(method, settings=short, class_attributes=DESCRIBED)
    model.partial_fit(*seen_of(range(4))).partial_fit(*seen_of(range(4, 6)))
    X, _ = seen_of(range(20), each=1)
    assert np.isfinite(model.predict_proba(X)).all()
    assert model.predict(X).shape == (20,)
