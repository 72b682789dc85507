"""A classifier on the screen and in a notebook."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context

from mczsl import ZeroShotClassifier
from tests.estimator.animals import DESCRIBED, NAMES, TABLE, quick, seen_of


class Untold(dict[str, Any]):
    """Descriptions that nobody may read out: with many classes that takes minutes."""

    def __repr__(self) -> str:
        raise AssertionError("the descriptions were printed")


@pytest.mark.parametrize("name", ["class_attributes", "class_descriptions"])
def test_classes_are_counted_not_listed(name: str) -> None:
    many = Untold((f"class {number}", [number, 1.0]) for number in range(20_000))
    model = ZeroShotClassifier(memory_size=7, **{name: many})
    assert repr(model) == f"ZeroShotClassifier({name}=<20000 classes>, memory_size=7)"
    bundle = model._repr_mimebundle_()
    assert bundle["text/plain"] == repr(model)
    assert "&lt;20000 classes&gt;" in bundle["text/html"]
    assert getattr(model, name) is many, "showing it changes nothing"


def test_a_frame_is_counted_by_its_rows() -> None:
    model = ZeroShotClassifier(class_attributes=pd.DataFrame(TABLE, index=NAMES))
    assert repr(model) == "ZeroShotClassifier(class_attributes=<20 classes>)"


def test_the_rest_is_shown_as_scikit_learn_does() -> None:
    assert repr(ZeroShotClassifier("eszsl")) == "ZeroShotClassifier(method='eszsl')"
    assert repr(ZeroShotClassifier(class_attributes="a.csv")).endswith("(class_attributes='a.csv')")
    with config_context(print_changed_only=False):
        assert "class_attributes=None" in repr(ZeroShotClassifier())
    assert "..." in ZeroShotClassifier(settings={"x": "y" * 2000}).__repr__(N_CHAR_MAX=100)


def test_one_that_has_learned_shows_that_it_has() -> None:
    model = quick().fit(*seen_of(range(3)))
    before = model.class_attributes
    assert "fitted" in model._repr_html_()
    assert model.class_attributes is before
    np.testing.assert_array_equal(model.class_attributes[NAMES[0]], DESCRIBED[NAMES[0]])
