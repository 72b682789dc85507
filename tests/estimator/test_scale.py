"""A column that outweighs all others, or an offset, is told of, as rows are compared by angle."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mczsl import ZeroShotClassifier
from mczsl.data import load_dataset
from mczsl.estimator.inputs import warn_of_scale
from tests.estimator.animals import QUICK, quick, seen_of

ADVICE = r"X: column {} makes up 9\d% .* make_pipeline\(StandardScaler\(\), ZeroShotClassifier"


def test_wine_as_it_comes_and_scaled() -> None:
    X, y = load_wine(return_X_y=True)
    raw, scaled = (ZeroShotClassifier(settings=QUICK) for _ in range(2))
    with pytest.warns(UserWarning, match=ADVICE.format(12)):
        raw.fit(X[::2], y[::2])
    pipeline = make_pipeline(StandardScaler(), scaled).fit(X[::2], y[::2])  # without a word
    assert pipeline.score(X[1::2], y[1::2]) > raw.score(X[1::2], y[1::2]) + 0.1


def test_it_is_said_at_the_first_lesson_only() -> None:
    X, y = seen_of(range(4))
    X[:, 7] *= 100
    model = quick()
    with pytest.warns(UserWarning, match=ADVICE.format(7)):
        model.partial_fit(X, y)
    model.partial_fit(X, y).predict(X)


@pytest.mark.parametrize("name", ["digits", "emoji"])
def test_our_own_data_is_of_one_scale(name: str) -> None:
    warn_of_scale(load_dataset(name).features, 2)


@given(factor=st.floats(1e-6, 1e6), shape=st.sampled_from([(20, 40), (5000, 12)]))
@settings(max_examples=20)
def test_the_scale_of_all_columns_or_of_some_rows_is_no_matter(
    factor: float, shape: tuple[int, int]
) -> None:
    X = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    X[0] *= np.float32(factor)
    X[1] = 0
    warn_of_scale(X, 2)
    warn_of_scale(X * np.float32(factor), 2)


@pytest.mark.parametrize(("shape", "classes"), [((19, 3), 2), ((100, 2), 1), ((100, 1), 1)])
def test_too_little_to_judge(shape: tuple[int, int], classes: int) -> None:
    X = np.ones(shape, dtype=np.float32)
    X[:, 0] = 100
    warn_of_scale(X, classes)


@pytest.mark.parametrize("width", [1, 2, 5])
def test_features_far_from_zero(width: int) -> None:
    """Such as temperatures in kelvin: well apart, but not by their angles."""
    y = np.arange(60) % 3
    centres = np.random.default_rng(0).normal(size=(3, width)) * 5
    X = centres[y] + np.random.default_rng(1).normal(size=(60, width))
    raw = ZeroShotClassifier(settings=QUICK)
    advice = r"all rows point nearly the same way.* centre .* make_pipeline\(StandardScaler\(\)"
    with pytest.warns(UserWarning, match=advice) as told:
        raw.fit(273 + X, y)
    assert len(told) == 1
    make_pipeline(StandardScaler(), ZeroShotClassifier(settings=QUICK)).fit(273 + X, y)


def test_one_class_may_well_point_one_way() -> None:
    X, y = seen_of([0], each=30, noise=0.01)
    quick().fit(X, y)


def test_of_two_faults_the_column_is_named() -> None:
    X = 100 + np.random.default_rng(0).normal(size=(40, 4)).astype(np.float32)
    X[:, 2] *= 100
    with pytest.warns(UserWarning, match="column 2 makes up 100%") as told:
        warn_of_scale(X, 2)
    assert len(told) == 1


def test_rows_that_are_sorted_are_judged_as_a_whole() -> None:
    """One of two classes may lie along an axis."""
    X = np.ones((20_000, 5), dtype=np.float32)
    X[:6000, 0] = 100  # so 30 % of the rows, and a fifth of the others
    warn_of_scale(X, 2)
    X[:9000, 0] = 100
    with pytest.warns(UserWarning, match="column 0 makes up 56%"):
        warn_of_scale(X, 2)
