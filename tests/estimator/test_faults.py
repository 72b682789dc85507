"""Bad inputs to the classifier: a named error or a defined behaviour, and nothing changes."""

import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

from mczsl import ZeroShotClassifier
from mczsl.errors import ConfigError, DataError, MczslError
from tests.estimator.animals import DESCRIBED, NAMES, QUICK, TABLE, quick, seen_of

X, Y = seen_of(range(4))


@pytest.fixture(scope="module")
def taught() -> ZeroShotClassifier:
    """Knows all animals, has seen four; a fault must leave it as it is."""
    return quick().fit(X, Y)


def changed(row: int, column: int, value: float) -> Any:
    copy = X.copy()
    copy[row, column] = value
    return copy


FEATURES: dict[str, tuple[Callable[[], Any], str]] = {
    "NaN": (lambda: changed(7, 3, np.nan), "NaN at row 7, column 3"),
    "infinity": (lambda: changed(39, 0, -np.inf), r"inf \(infinity\) at row 39, column 0"),
    "ragged": (lambda: [[1.0, 2.0], [1.0]], "inhomogeneous|setting an array element"),
    "too wide": (
        lambda: np.hstack([X, X]),
        "X has 80 features, but ZeroShotClassifier is expecting",
    ),
    "one dimension": (lambda: X[:, 0], "Reshape your data"),
    "three dimensions": (lambda: X[None], "dim 3"),
    "no rows": (lambda: X[:0], "0 sample"),
    "no columns": (lambda: X[:, :0], "0 feature"),
    "texts": (lambda: X.astype(str), "not compatible with arrays of bytes/strings"),
    "texts as objects": (lambda: X.astype(str).astype(object), r"at \(0, 0\) is no number"),
    "booleans": (lambda: X > 0, "must be numbers, not booleans"),
    "a list of booleans": (lambda: (X > 0).tolist(), "must be numbers, not booleans"),
    "a frame of booleans": (lambda: pd.DataFrame(X > 0), "must be numbers, not booleans"),
    "dates": (lambda: X.astype("datetime64[s]"), "not dates or durations"),
    "a frame with a date": (
        lambda: pd.DataFrame(X[:, 1:]).assign(**{"0": pd.Timestamp("2020-01-01")}),
        "not dates or durations",
    ),
    "missing under a mask": (
        lambda: np.ma.array(X, mask=np.arange(X.size).reshape(X.shape) == 47),
        "NaN at row 1, column 7",
    ),
    "a tensor in training": (lambda: torch.from_numpy(X).requires_grad_(), "requires grad"),
    "complex": (lambda: X + 1j, "Complex data not supported"),
    "nothing": (lambda: None, "Expected 2D array|NoneType"),
}


@pytest.mark.parametrize("name", FEATURES)
def test_features(taught: ZeroShotClassifier, name: str) -> None:
    make, message = FEATURES[name]
    bad, before = make(), taught.scores(X)
    ask: list[Callable[[], Any]] = [
        lambda: taught.predict(bad),
        lambda: taught.predict_proba(bad),
        lambda: taught.top_k(bad, 2),
        lambda: taught.score(bad, Y),
        lambda: taught.partial_fit(bad, Y),
    ]
    if name != "too wide":
        ask.append(lambda: quick().fit(bad, Y))
    for question in ask:
        with pytest.raises(DataError, match=message):
            question()
    np.testing.assert_array_equal(taught.scores(X), before)
    assert len(taught.history_) == 1


def test_a_row_of_zeros_teaches_nothing_and_resembles_nothing(taught: ZeroShotClassifier) -> None:
    with_zeros = np.vstack([X, np.zeros((2, 40), dtype=np.float32)])
    with pytest.warns(UserWarning, match=r"row 40 is all zeros \(2 such rows\).* says nothing"):
        shares = taught.predict_proba(with_zeros)[-2:]
    # seen classes may bear an offset, but within each group all are alike
    np.testing.assert_allclose(shares[:, :4], shares[0, 0], rtol=1e-5)
    np.testing.assert_allclose(shares[:, 4:], shares[0, 4], rtol=1e-5)
    whole = quick(validation_fraction=0).fit(X, Y)
    with pytest.warns(UserWarning, match="row 40 is all zeros.* is left out"):
        skipping = quick(validation_fraction=0).fit(with_zeros, [*Y, NAMES[0], NAMES[1]])
    np.testing.assert_array_equal(skipping.scores(X), whole.scores(X))
    with (
        pytest.warns(UserWarning, match="all zeros"),
        pytest.raises(DataError, match="'animal 09' has only all-zero rows"),
    ):
        quick().fit(with_zeros, [*Y, NAMES[0], NAMES[9]])


def test_huge_and_tiny_features_teach_like_any_other() -> None:
    odd = X.astype(np.float64)
    odd[3] *= 1e200
    odd[5] *= 1e-200
    # Without calibration: which samples it keeps aside depends on their bits.
    alone = {**QUICK, "calibration": "none"}
    plain = quick(settings=alone).fit(X, Y).scores(X)
    np.testing.assert_allclose(quick(settings=alone).fit(odd, Y).scores(odd), plain, atol=1e-2)
    narrow = X.copy()
    narrow[3] *= np.float32(1e30)
    found = quick(settings=alone).fit(narrow, Y).scores(narrow)
    np.testing.assert_allclose(found, plain, atol=1e-2)
    assert narrow[3, 0] == X[3, 0] * np.float32(1e30), "the user's array is left alone"


# ---------------------------------------------------------------- descriptions of classes


def described(**changes: Any) -> dict[str, Any]:
    return {name: DESCRIBED[name] for name in NAMES[:6]} | changes


def with_value(value: float) -> Any:
    row = TABLE[7].copy()
    row[4] = value
    return row


ATTRIBUTES: dict[str, tuple[Any, str]] = {
    "NaN": (with_value(np.nan), "nan at row 6, column 4, class 'x'"),
    "infinity": (with_value(np.inf), "inf at row 6, column 4, class 'x'"),
    "too short": (TABLE[7][:5], "5 for class 'x', but 12 for class 'animal 00'"),
    "all zeros": (np.zeros(12), "class 'x' are all zeros"),
    "huge": (TABLE[7] * 1e30, "class 'x' are too large to compute with"),
    "tiny": (TABLE[7] * 1e-30, "class 'x' are too small to compute with"),
    "twins": (TABLE[0], "classes 'animal 00' and 'x' are described by the same values"),
    "texts": (["a"] * 12, "must be numbers, not texts"),
    "booleans": (np.ones(12, dtype=bool), "not booleans"),
    "nothing": (None, "those of class 'x' are None; give a list of numbers"),
    "a text": ("striped", "those of class 'x' are 'striped'; give .*class_descriptions"),
    "a number": (3.0, "those of class 'x' are 3.0"),
    "an array of one": (np.array(3.0), r"those of class 'x' are array\(3\.\)"),
}


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_attributes(taught: ZeroShotClassifier, name: str) -> None:
    row, message = ATTRIBUTES[name]
    if name != "booleans":  # among numbers a true counts as 1
        with pytest.raises(DataError, match=message):
            quick(class_attributes=described(x=row)).fit(X, Y)
    for alone in ([row], {"x": row}):
        with pytest.raises(DataError):
            taught.add_classes(["x"], attributes=alone)
    assert taught.classes_.tolist() == NAMES


def test_constant_columns_and_negative_marks_are_only_numbers() -> None:
    table = {name: np.append(row, [1.0, -1.0]) for name, row in DESCRIBED.items()}
    assert quick(class_attributes=table).fit(X, Y).score(X, Y) > 0.8


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ([[1, 2]], "mapping from class to description or a data frame"),
        ("animals.csv", "mapping from class to description or a data frame"),
        ({}, "there are no classes"),
        (pd.DataFrame(), "there are no classes"),
        (pd.DataFrame(TABLE[:2], index=["a", "a"]), "'a' is listed twice"),
        ({"a": [1, 2], 1: [2, 1]}, "is one of whole numbers, but the labels before it are texts"),
        ({0: [1, 2], 1: [2, 1]}, "labels are texts such as 'animal 00'.* named by whole numbers"),
        (
            {name: DESCRIBED[name] for name in NAMES[:3]},
            "'animal 03' has samples but no attributes",
        ),
    ],
)
def test_class_attributes_of_no_use(attributes: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        quick(class_attributes=attributes).fit(X, Y)


def test_classes_described_twice() -> None:
    with pytest.raises(ConfigError, match="described twice"):
        quick(class_descriptions={"a": "b"}).fit(X, Y)


# ---------------------------------------------------------------- labels


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (None, "requires y to be passed"),
        ([None] * 40, "None is no label"),
        ([*Y[:-1], None], "position 39: None is no label"),
        ([*Y[:-1], float("nan")], "nan is no label|NaN"),
        ([*Y[:-1], 3], "one of whole numbers, but the labels before it are texts"),
        ([*Y[:-1], "  "], "is an empty label"),
        ([*Y[:-1], "x" * 10_000], "a label of 10000 characters"),
        ([*Y[:-1], "\ud800"], "no valid Unicode|surrogates"),
        ([*Y[:-1], "animal 00\0"], "has a NUL character"),
        (pd.Series([*Y[:-1], pd.NA], dtype="string"), "position 39: <NA> is no label"),
        (np.ma.array(Y, mask=np.arange(40) == 39), "position 39: is masked"),
        ([2**70] * 40, "position 0: .* does not fit into 64 bits"),
        (np.full(40, 2**64 - 1, dtype=np.uint64), "does not fit into 64 bits"),
        (np.full(40, "2020-01-01", "datetime64[D]"), "is no label"),
        ([*Y[:-1], "animal 99"], "'animal 99' has samples but no attributes"),
        (Y[:-1], "inconsistent numbers of samples"),
        (np.arange(40) + 0.5, "Unknown label type"),
        (np.full(40, np.nan), "NaN"),
        ([b"x"] * 40, "is no label"),
        ([("a", "b")] * 40, "y should be a 1d array"),
    ],
    ids=str,
)
def test_labels(taught: ZeroShotClassifier, labels: Any, message: str) -> None:
    if isinstance(labels, list) and isinstance(labels[0], str | bytes):
        labels = np.array(labels, dtype=object)
    for learner in (taught, quick()):
        with pytest.raises(DataError, match=message):
            learner.partial_fit(X, labels)
    assert taught.seen_classes_.tolist() == NAMES[:4]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([*Y[:-1], float("nan")], "y, position 39: nan is no label"),
        ([Y[0], 1, *Y[2:]], "y, position 1: 1 is one of whole numbers, .* before it are texts"),
        ([True, 1] * 20, "y, position 1: 1 is one of whole numbers, .* before it are booleans"),
        ([*Y[:-2], "\t", " "], r"y, position 38: '\\t' is an empty label"),
    ],
    ids=str,
)
@pytest.mark.parametrize("form", [list, tuple])
def test_labels_in_a_list_are_told_of_as_they_stand(labels: Any, message: str, form: Any) -> None:
    """NumPy makes texts of a mixture, and 1 of True."""
    with pytest.raises(DataError, match=message):
        ZeroShotClassifier(settings=QUICK).fit(X, form(labels))


def test_numbers_of_several_types_in_a_list_are_one_sort_of_label() -> None:
    names = [0, np.int64(1), 2.0, np.float32(3)] * 10
    assert ZeroShotClassifier(settings=QUICK).fit(X, names).classes_.tolist() == [0, 1, 2, 3]


def test_another_sort_of_labels_later() -> None:
    model = ZeroShotClassifier(settings=QUICK).fit(X, [NAMES.index(name) for name in Y])
    with pytest.raises(DataError, match="labels before it are whole numbers"):
        model.partial_fit(X, Y)


# ---------------------------------------------------------------- few of anything


def test_one_class_one_sample_and_none() -> None:
    for each in (1, 2, 3):
        model = quick().partial_fit(*seen_of([0], each=each)).partial_fit(*seen_of([1], each=1))
        assert model.seen_classes_.tolist() == NAMES[:2]
        assert np.isfinite(model.scores(X)).all()
    with pytest.raises(DataError, match="0 sample"):
        quick().fit(X[:0], Y[:0])


@pytest.mark.parametrize("capacity", [0, 1, 3, 10**6])
def test_memories_of_any_size(capacity: int) -> None:
    model = quick(memory_size=capacity).partial_fit(X, Y).partial_fit(*seen_of(range(4, 7)))
    assert np.isfinite(model.scores(X)).all()


@given(
    classes=st.integers(1, 6),
    counts=st.lists(st.integers(1, 4), min_size=6, max_size=6),
    width=st.integers(1, 5),
)
@settings(max_examples=15)
def test_any_small_data(classes: int, counts: list[int], width: int) -> None:
    generator = np.random.default_rng(0)
    y = np.repeat(np.arange(classes), counts[:classes])
    small = generator.normal(size=(len(y), width))
    model = ZeroShotClassifier(settings={"hidden": 8, "epochs": 2}).fit(small, y)
    model.partial_fit(small, y + 3)
    assert np.isfinite(model.predict_proba(small)).all()


# ---------------------------------------------------------------- questions and changes


@pytest.mark.parametrize(
    ("among", "message"),
    [
        ([], "there are no classes in it"),
        (["animal 99"], "unknown class 'animal 99'; did you mean 'animal"),
        ([NAMES[0], NAMES[0]], "'animal 00' is listed twice"),
        (NAMES[0], "expected a list of class names"),
        (3, "expected a list of class names"),
        ([3], "one of whole numbers|labels before it are texts"),
        ([None], "None is no label"),
    ],
)
def test_candidates(taught: ZeroShotClassifier, among: Any, message: str) -> None:
    for ask in (taught.predict, taught.predict_proba, taught.scores):
        with pytest.raises(DataError, match=message):
            ask(X, among=among)
    with pytest.raises(DataError, match=message):
        taught.top_k(X, 1, among=among)


@pytest.mark.parametrize("k", [0, -1, 21, 2.5, True, "2"])
def test_too_few_or_too_many_ranks(taught: ZeroShotClassifier, k: Any) -> None:
    with pytest.raises(ConfigError, match="k: must be a whole number from 1 to 20"):
        taught.top_k(X, k)
    with pytest.raises(ConfigError, match="from 1 to 2"):
        taught.top_k(X, 3, among=NAMES[:2])


@pytest.mark.parametrize(
    ("names", "said", "message"),
    [
        ([NAMES[0]], {"attributes": [TABLE[0] + 1]}, "'animal 00' is known already"),
        (["x"], {}, "needs a description"),
        (["x"], {"descriptions": ["striped"]}, "known classes have attributes"),
        (["x"], {"attributes": [[1, 2]]}, "2 for each class, but the known classes have 12"),
        (["x", "y"], {"attributes": [TABLE[0] + 1]}, "1 rows for 2 classes"),
        (["x", "x"], {"attributes": TABLE[:2] + 1}, "'x' is listed twice"),
        (["x", "y"], {"attributes": {"x": TABLE[0] + 1}}, "nothing is said about class 'y'"),
        ([], {"attributes": []}, "there are no classes"),
        ("x", {"attributes": [TABLE[0] + 1]}, "expected a list of class names"),
        ([1], {"attributes": [TABLE[0] + 1]}, "whole numbers"),
        ([""], {"attributes": [TABLE[0] + 1]}, "empty label"),
        (["x"], {"attributes": TABLE[0] + 1}, "must be a table"),
        (["x"], {"attributes": [TABLE[0] + 1], "descriptions": ["y"]}, "described twice"),
    ],
)
def test_classes_that_cannot_be_added(
    taught: ZeroShotClassifier, names: Any, said: dict[str, Any], message: str
) -> None:
    before = taught.scores(X)
    with pytest.raises(MczslError, match=message):
        taught.add_classes(names, **said)
    np.testing.assert_array_equal(taught.scores(X), before)


def test_classes_that_cannot_be_removed(taught: ZeroShotClassifier) -> None:
    for names, message in (
        (["zebra"], "unknown class"),
        (NAMES, "needs at least one"),
        ([], "there are no classes"),
        ([NAMES[0], NAMES[0]], "is listed twice"),
        (NAMES[0], "expected a list of class names"),
        (None, "expected a list of class names"),
        ([3], "whole numbers"),
        ([None], "None is no label"),
    ):
        with pytest.raises(DataError, match=message):
            taught.remove_classes(names)
    assert taught.classes_.tolist() == NAMES


def test_texts_that_describe_nothing() -> None:
    def first(texts: list[str]) -> list[list[float]]:
        return [[len(text), 1.0, index] for index, text in enumerate(texts)]

    def second(texts: list[str]) -> list[list[float]]:
        return [[len(text), 1.0] for text in texts]

    texts = dict(zip(NAMES[:4], ["a", "bb", "ccc", "dddd"], strict=True))
    model = quick(class_attributes=None, class_descriptions=texts, text_encoder=first).fit(X, Y)
    for bad, message in (
        ([""], "is empty"),
        (["x" * 1_000_000], "more than 100000"),
        ([3], "not a text"),
        (["x", "y"], "2 for 1 classes"),
        ("a purple whale", "one text, 'a purple whale', where each class needs its own"),
        (["\ud800"], "no valid Unicode"),
    ):
        with pytest.raises(DataError, match=message):
            model.add_classes(["new"], descriptions=bad)
    with pytest.raises(DataError, match="known classes have descriptions"):
        model.add_classes(["new"], attributes=[[1, 2, 3]])
    model.set_params(text_encoder=second)
    with pytest.raises(ConfigError, match="cannot describe a new one"):
        model.add_classes(["new"], descriptions=["x"])
    model.set_params(text_encoder="minilmm")
    with pytest.raises(ConfigError, match="did you mean 'minilm'"):
        model.add_classes(["new"], descriptions=["x"])
    model.set_params(text_encoder=3)
    with pytest.raises(ConfigError, match="neither the name of an encoder"):
        model.add_classes(["new"], descriptions=["x"])
    assert model.classes_.tolist() == NAMES[:4]


def test_a_class_without_description_among_others_without() -> None:
    model = ZeroShotClassifier(settings=QUICK).fit(X, Y)
    with pytest.raises(DataError, match="known classes have no attributes"):
        model.add_classes(["new"], attributes=[[1.0]])


def test_before_any_fit(tmp_path: Path) -> None:
    model = quick()
    for ask in (
        lambda: model.predict(X),
        lambda: model.predict_proba(X),
        lambda: model.top_k(X),
        lambda: model.score(X, Y),
        lambda: model.add_classes(["x"], attributes=[TABLE[0]]),
        lambda: model.remove_classes(["x"]),
        lambda: model.save(tmp_path / "model"),
    ):
        with pytest.raises(MczslError, match="call fit or partial_fit first") as caught:
            ask()
        assert isinstance(caught.value, NotFittedError)
    for name in ("classes_", "seen_classes_", "unseen_classes_", "history_"):
        assert not hasattr(model, name)
    assert not list(tmp_path.iterdir())


# ---------------------------------------------------------------- parameters


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"method": "mczls"}, "did you mean 'mczsl'"),
        ({"preset": "papers"}, "did you mean 'paper'"),
        ({"method": None}, "method: must be a name, not None"),
        ({"preset": 3}, "preset: must be a name, not 3"),
        ({"settings": ["hidden"]}, "settings: must be a mapping"),
        ({"settings": {3: 1}}, "settings: must be a mapping"),
        ({"settings": {"hiden": 3}}, "did you mean 'hidden'"),
        ({"settings": {"rate": -1}}, "rate.*greater than 0"),
        ({"settings": {"rate": float("nan")}}, "rate"),
        ({"settings": {"epochs": 0}}, "epochs"),
        ({"random_state": -1}, "random_state"),
        ({"random_state": None}, "random_state"),
        ({"random_state": 2**32}, "random_state"),
        ({"random_state": 1.5}, "random_state"),
        ({"memory_size": -1}, "memory_size"),
        ({"memory_size": "many"}, "memory_size"),
        ({"validation_fraction": 1}, "validation_fraction"),
        ({"validation_fraction": float("nan")}, "validation_fraction"),
        ({"validation_fraction": None}, "validation_fraction"),
        ({"validation_fraction": "0.1"}, "validation_fraction"),
        ({"device": "cuda:77"}, "device 'cuda:77' cannot be used"),
        ({"device": None}, "device None cannot be used"),
        ({"device": "abacus"}, "device 'abacus' cannot be used"),
    ],
    ids=str,
)
def test_parameters(parameters: dict[str, Any], message: str) -> None:
    model = quick(**parameters)  # the constructor only stores
    with pytest.raises(ConfigError, match=message):
        model.fit(X, Y)
    assert not hasattr(model, "model_")


def test_numbers_of_numpy_are_numbers() -> None:
    parameters = {"validation_fraction": np.float32(0.25), "random_state": np.int64(1)}
    assert quick(**parameters, memory_size=np.int32(9)).fit(X, Y).history_[0]["held_back"] == 8


# ---------------------------------------------------------------- the machine


def test_nothing_is_said_on_the_way() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quick().partial_fit(X, Y).partial_fit(X, Y).predict(X)


def test_no_home_no_terminal_another_locale(tmp_path: Path) -> None:
    program = (
        "from tests.estimator.animals import quick, seen_of, NAMES\n"
        "import sys\n"
        "X, y = seen_of(range(3))\n"
        "y = y.astype(object); y[y == NAMES[0]] = 'na\\xefve \\u2603'\n"
        "from mczsl import ZeroShotClassifier\n"
        "ZeroShotClassifier(settings={'hidden': 8, 'epochs': 1}).fit(X, y).save(sys.argv[1])\n"
        "print(ascii(str(ZeroShotClassifier.load(sys.argv[1]).classes_[-1])))\n"
    )
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C", "PYTHONUTF8": "0"}
    environment |= {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "model")],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        env=environment,
        cwd=Path(__file__).parents[2],
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == r"'na\xefve \u2603'"


def test_scores_of_labels_that_cannot_be_compared(taught: ZeroShotClassifier) -> None:
    for labels in (None, np.arange(40), Y[:-1], np.arange(40) + 0.5):
        with pytest.raises(DataError):
            taught.score(X, labels)
