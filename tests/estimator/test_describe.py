"""Descriptions of classes as people have them: mappings, series, data frames, loaded models."""

import pickle
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from mczsl import ZeroShotClassifier
from mczsl.errors import ConfigError, DataError
from tests.estimator.animals import NAMES, QUICK, TABLE, quick, seen_of

X, Y = seen_of(range(4))
TEXTS = dict(zip(NAMES[:5], ["ab", "cd", "ef", "gh", "abc"], strict=True))


def letters(texts: list[str]) -> list[list[int]]:
    """A text encoder that everybody can check: how often each letter comes up, and a 1."""
    return [[text.count(letter) for letter in "abcdefgh"] + [1] for text in texts]


def by_texts(texts: Any) -> ZeroShotClassifier:
    return ZeroShotClassifier(settings=QUICK, class_descriptions=texts, text_encoder=letters)


@pytest.mark.parametrize(
    "form",
    [
        pd.Series,
        lambda texts: pd.Series(texts)[::-1],
        lambda texts: pd.Series(texts, dtype="string"),
        lambda texts: pd.Series(texts).to_frame("text"),
        lambda texts: pd.DataFrame({"name": list(texts), "text": texts.values()}).set_index("name"),
    ],
    ids=["series", "backwards", "strings", "frame", "set_index"],
)
def test_texts_may_come_from_pandas(form: Any) -> None:
    model = by_texts(form(TEXTS)).fit(X, Y)
    model.add_classes(["newer", "new"], descriptions=form({"new": "bcd", "newer": "efg"}))
    assert model.classes_.tolist() == [*NAMES[:5], "new", "newer"]
    expected = letters([*TEXTS.values(), "bcd", "efg"])
    assert model.model_.classes.attributes.tolist() == expected


def test_rows_may_come_in_a_series() -> None:
    rows = pd.Series(dict(zip(NAMES, TABLE, strict=True)))
    model = quick(class_attributes=rows).fit(X, Y)
    np.testing.assert_array_equal(model.scores(X), quick().fit(X, Y).scores(X))


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (
            pd.DataFrame({"name": TEXTS.keys(), "text": TEXTS.values()}),
            r"one column of texts is needed, not 2 \('name', 'text'\).*set_index",
        ),
        (pd.DataFrame(index=NAMES[:5]), "one column of texts is needed, not 0"),
        (pd.Series(["ab", "cd"], index=["a", "a"]), "'a' is listed twice"),
        (
            pd.Series({**TEXTS, NAMES[3]: None}),
            "that of class 'animal 03' is (nan|None), not a text",
        ),
        ("a purple whale", "must be a mapping"),
        (
            {name: TEXTS[name] for name in NAMES[:3]},
            r"'animal 03' has samples but no descriptions; .*class_descriptions \(--descriptions",
        ),
    ],
    ids=["names in a column", "no column", "twice", "missing", "one text", "too few"],
)
def test_texts_of_no_use(texts: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        by_texts(texts).fit(X, Y)


def test_a_class_without_a_text_later() -> None:
    model = by_texts(TEXTS).fit(X, Y)
    with pytest.raises(DataError, match="'animal 09' has samples but no descriptions"):
        model.partial_fit(*seen_of([9]))
    with pytest.raises(DataError, match="nothing is said about class 'new' in the index"):
        model.add_classes(["new"], descriptions=pd.Series(["bcd"]))


def test_names_in_a_column_of_attributes_belong_into_the_index() -> None:
    frame = pd.DataFrame(TABLE).add_prefix("trait ").assign(animal=NAMES)
    with pytest.raises(DataError, match=r"column 'animal' holds texts.* set_index\('animal'\)"):
        quick(class_attributes=frame).fit(X, Y)
    assert quick(class_attributes=frame.set_index("animal")).fit(X, Y).classes_.tolist() == NAMES


# ---------------------------------------------------------------- who reads texts


class Letters:
    def __init__(self, known: str):
        self.known = known

    def count(self, texts: list[str]) -> list[list[int]]:
        return [[text.count(letter) for letter in self.known] + [1] for text in texts]


def counting(texts: list[str], known: str) -> list[list[int]]:
    return Letters(known).count(texts)


@pytest.mark.parametrize(
    "reader",
    [
        lambda known: lambda texts: counting(texts, known),
        lambda known: partial(counting, known=known),
        lambda known: Letters(known).count,
    ],
    ids=["lambda", "partial", "method"],
)
def test_functions_are_told_apart_by_what_they_say(reader: Any) -> None:
    model = by_texts(TEXTS).set_params(text_encoder=reader("abcdefgh")).fit(X, Y)
    model.set_params(text_encoder=reader("hgfedcba"))
    with pytest.raises(ConfigError, match="their numbers mean different things"):
        model.add_classes(["new"], descriptions=["bcd"])
    model.set_params(text_encoder=reader("abcdefgh")).add_classes(["new"], descriptions=["bcd"])
    assert model.unseen_classes_.tolist() == [NAMES[4], "new"]


def test_a_function_may_know_nothing_but_its_own_texts() -> None:
    table = dict(zip([*TEXTS.values(), "bcd"], TABLE, strict=False))

    def looked_up(texts: list[str]) -> Any:
        return [table[text] for text in texts]

    model = by_texts(TEXTS).set_params(text_encoder=looked_up).fit(X, Y)
    model.add_classes(["new"], descriptions=["bcd"])
    assert model.unseen_classes_.tolist() == [NAMES[4], "new"]


def test_models_from_before_know_a_function_by_its_name() -> None:
    model = by_texts(TEXTS).fit(X, Y)
    named = replace(model.model_.semantics, encoder=f"{__name__}.letters")
    model.model_ = replace(model.model_, semantics=named)
    model.add_classes(["new"], descriptions=["bcd"])
    named = replace(named, encoder=f"{__name__}.others")
    model.model_ = replace(model.model_, semantics=named)
    with pytest.raises(ConfigError, match=r"letters; probe .* cannot describe a new one"):
        model.add_classes(["newer"], descriptions=["efg"])


# ---------------------------------------------------------------- of a saved model


def loaded_by_texts(folder: Path) -> ZeroShotClassifier:
    by_texts(TEXTS).fit(X, Y).save(folder)
    return ZeroShotClassifier.load(folder).set_params(text_encoder=letters)


@pytest.mark.parametrize(
    "copied",
    [lambda model: model, clone, lambda model: pickle.loads(pickle.dumps(model))],
    ids=["itself", "clone", "pickle"],
)
def test_a_loaded_one_still_reads_texts_when_fitted_anew(copied: Any, tmp_path: Path) -> None:
    model = copied(loaded_by_texts(tmp_path)).fit(X, Y)
    np.testing.assert_allclose(model.scores(X), by_texts(TEXTS).fit(X, Y).scores(X), atol=1e-3)
    model.add_classes(["new"], descriptions=["bcd"])
    assert model.unseen_classes_.tolist() == [NAMES[4], "new"]
    model.save(tmp_path)
    again = ZeroShotClassifier.load(tmp_path)
    assert again.classes_.tolist() == [*NAMES[:5], "new"]


def test_a_loaded_one_can_be_given_other_texts(tmp_path: Path) -> None:
    model = loaded_by_texts(tmp_path)
    model.set_params(class_descriptions={**TEXTS, NAMES[9]: "bcd"})
    model.partial_fit(*seen_of([9]))
    assert NAMES[9] in model.seen_classes_


def test_a_loaded_one_takes_back_a_class_it_was_saved_with(tmp_path: Path) -> None:
    model = loaded_by_texts(tmp_path)
    model.remove_classes([NAMES[2]]).partial_fit(*seen_of([2]))
    assert model.classes_.tolist() == NAMES[:5]


def test_a_loaded_one_still_knows_the_names_of_its_attributes(tmp_path: Path) -> None:
    frame = pd.DataFrame(TABLE, index=NAMES).add_prefix("trait ")
    quick(class_attributes=frame.iloc[:18]).fit(X, Y).save(tmp_path)
    model = ZeroShotClassifier.load(tmp_path).fit(X, Y)
    model.add_classes(NAMES[18:], attributes=frame[frame.columns[::-1]])
    np.testing.assert_array_equal(model.model_.classes.attributes.numpy(), TABLE)
