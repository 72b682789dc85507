"""The classifier among scikit-learn's own: its checks, its pipelines, its searches."""

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

from mczsl import ZeroShotClassifier
from tests.estimator.animals import QUICK, quick, seen_of

SMALL = ZeroShotClassifier(settings={"hidden": 64, "epochs": 10})


def _name(check: Any) -> str:
    return str(getattr(check, "func", check).__name__)


CHECKS = [check for _, check in estimator_checks_generator(SMALL)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("check", CHECKS, ids=[_name(check) for check in CHECKS])
def test_scikit_learns_checks(check: Callable[[ZeroShotClassifier], None]) -> None:
    if _name(check) == "check_array_api_input":
        pytest.skip("scikit-learn checks other array libraries only on request")
    check(clone(SMALL))


def test_there_are_checks() -> None:
    assert len(CHECKS) > 40


def test_in_a_pipeline_with_a_search() -> None:
    X, y = seen_of(range(4), each=12)
    pipeline = make_pipeline(StandardScaler(), quick(known=4))
    search = GridSearchCV(
        pipeline, {"zeroshotclassifier__settings": [QUICK, {**QUICK, "epochs": 1}]}, cv=2
    )
    search.fit(X, y)
    assert search.best_params_["zeroshotclassifier__settings"] in (QUICK, {**QUICK, "epochs": 1})
    assert search.score(X, y) > 0.8
    assert set(search.predict(X)) <= set(y)


def test_scorers_that_need_probabilities() -> None:
    X, y = seen_of(range(3), each=20)
    found = cross_val_score(quick(known=3), X, y, cv=2, scoring="neg_log_loss")
    assert np.isfinite(found).all()
    assert (found > np.log(1 / 3)).all(), "worse than knowing nothing"


def test_a_clone_has_learned_nothing_and_learns_the_same() -> None:
    X, y = seen_of(range(4))
    first = quick().fit(X, y)
    again = clone(first)
    assert not hasattr(again, "classes_")
    np.testing.assert_array_equal(again.fit(X, y).scores(X), first.scores(X))


def test_a_pickled_one_goes_on_learning() -> None:
    X, y = seen_of(range(4))
    first = quick().fit(X, y)
    first.predict(X)
    copy = pickle.loads(pickle.dumps(first))
    later = seen_of(range(4, 8))
    np.testing.assert_array_equal(
        copy.partial_fit(*later).scores(X), first.partial_fit(*later).scores(X)
    )


def test_columns_of_a_data_frame_are_remembered() -> None:
    X, y = seen_of(range(3))
    frame = pd.DataFrame(X, columns=[f"feature {number}" for number in range(X.shape[1])])
    model = quick().fit(frame, y)
    assert list(model.feature_names_in_) == list(frame.columns)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[frame.columns[::-1]])
