"""Columns are known by their names, and labels in a file are no features."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits, load_iris

from mczsl import ZeroShotClassifier
from tests.cli.commands import SETTINGS, Run, named_for, rows_of
from tests.estimator.animals import NAMES, QUICK, TABLE, seen_of


def shuffled(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.iloc[:, np.random.default_rng(3).permutation(frame.shape[1])]


@pytest.fixture
def named(files: Path) -> Path:
    """The folder of files, with a model that was made from columns and attributes with names."""
    X, y = seen_of(range(12))
    frame = pd.DataFrame(X, columns=[f"f{number}" for number in range(X.shape[1])])
    attributes = pd.DataFrame(TABLE, index=pd.Index(NAMES, name="class")).add_prefix("a")
    attributes[:14].to_csv(files / "named.csv")
    shuffled(attributes.reset_index()).to_csv(files / "shuffled_classes.csv", index=False)
    shuffled(frame.assign(target=y)).to_csv(files / "shuffled.csv")
    shuffled(frame.assign(target=y)).to_parquet(files / "shuffled.parquet")
    model = ZeroShotClassifier(class_attributes=attributes[:14], settings=QUICK)
    model.fit(frame, y).save(files / "named")
    return files


def test_digits_as_scikit_learn_has_them(files: Path, run: Run) -> None:
    """The label is the last column, and the first holds whole numbers, too."""
    frame = load_digits(as_frame=True).frame[:200]
    frame.to_csv(files / "d.csv")
    settings = ("--set", "epochs=1", "--set", "hidden=16")
    code, _, err = run("train", files / "d.csv", "-o", files / "m", *settings)
    assert code == 0, err
    model = ZeroShotClassifier.load(files / "m")
    assert model.classes_.tolist() == [str(digit) for digit in range(10)]
    assert model.feature_names_in_.tolist() == list(frame.columns[:-1])


def test_measurements_are_no_labels(files: Path, run: Run) -> None:
    """The species have a header of their own, and some lengths are whole."""
    iris = load_iris(as_frame=True).frame.rename(columns={"target": "species"})
    iris.to_csv(files / "iris.csv", index=False)
    code, out, err = run("train", files / "iris.csv", "-o", files / "m")
    assert (code, out) == (2, "")
    assert "its column 'sepal length (cm)' holds numbers such as 5.1, no labels; head the" in err
    iris.rename(columns={"sepal length (cm)": "label"}).to_csv(files / "iris.csv", index=False)
    assert "a label is a text or a whole number" in run("train", files / "iris.csv", "-o", "m")[2]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_class_for_each_row_is_a_wrong_guess(files: Path, run: Run, kind: str) -> None:
    X, _ = seen_of(range(2), each=6)
    frame = pd.DataFrame(X).add_prefix("f")
    frame.insert(0, "picture", [f"{number}.png" for number in range(12)])
    data = files / f"p.{kind}"
    (frame.to_csv if kind == "csv" else frame.to_parquet)(data, index=False)
    code, _, err = run("train", data, "-o", files / "m", *SETTINGS)
    assert code == 2
    assert "no column is headed 'label', and column 'picture', which would be it by its" in err
    assert "has 12 different values in 12 rows" in err
    frame = frame.rename(columns={"picture": "label"})  # said to be so, however odd
    (frame.to_csv if kind == "csv" else frame.to_parquet)(data, index=False)
    code, _, err = run("train", data, "-o", files / "m", *SETTINGS)
    assert code == 0, err


def test_a_label_never_becomes_a_feature(files: Path, run: Run) -> None:
    frame = pd.read_csv(files / "X.csv").assign(target=np.arange(120))
    frame.to_csv(files / "both.csv", index=False)
    data = (files / "both.csv", "--labels", files / "y.csv")
    code, _, err = run("train", *data, "-o", files / "m", *SETTINGS)
    assert code == 0, err
    model = ZeroShotClassifier.load(files / "m")
    assert model.classes_.tolist() == NAMES[:12]
    assert model.feature_names_in_.tolist() == [f"f{number}" for number in range(40)]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_columns_in_another_order_are_the_same_columns(named: Path, run: Run, kind: str) -> None:
    X, y = seen_of(range(12))
    model = ZeroShotClassifier.load(named / "named")
    expected = model.predict(named_for(model, X))
    code, out, err = run("predict", named / "named", named / f"shuffled.{kind}")
    assert code == 0
    assert [row["label"] for row in rows_of(out)] == expected.tolist()
    accuracy = 100 * np.mean(expected == y)
    assert err == f"mczsl: accuracy {accuracy:.1f} % of 120 rows with labels\n"
    for source in (f"shuffled.{kind}", "labelled.csv"):
        code, _, err = run("learn", named / "named", named / source, "-o", named / source[:5])
        assert code == 0, err
    taught = [ZeroShotClassifier.load(named / name) for name in ("shuff", "label")]
    a, b = (each.scores(named_for(each, X)) for each in taught)
    np.testing.assert_allclose(a, b, atol=1e-3)


def test_a_model_made_here_knows_its_columns(named: Path, run: Run) -> None:
    code, _, err = run(
        *("train", named / "shuffled.csv", "--attributes", named / "shuffled_classes.csv"),
        *("-o", named / "m", *SETTINGS),
    )
    assert code == 0, err
    code, ordered, err = run("predict", named / "m", named / "X.csv")
    assert (code, err) == (0, "")
    code, mixed, _ = run("predict", named / "m", named / "shuffled.parquet")
    assert ordered == mixed
    truth = seen_of(range(12))[1].tolist()
    hits = [row["label"] == name for row, name in zip(rows_of(ordered), truth, strict=True)]
    assert np.mean(hits) > 0.5  # columns in a wrong order would give chance, a twelfth


def test_attributes_in_another_order_are_the_same_attributes(named: Path, run: Run) -> None:
    code, out, err = run("add-class", named / "named", "--table", named / "shuffled_classes.csv")
    assert (code, err) == (0, "")
    assert "6 new, 20 classes" in out
    classes = ZeroShotClassifier.load(named / "named").model_.classes
    np.testing.assert_allclose(classes.attributes.numpy(), TABLE, rtol=1e-6)


def test_columns_that_the_model_never_saw_are_named(named: Path, run: Run) -> None:
    frame = pd.read_csv(named / "X.csv").rename(columns={"f3": "g3"})
    frame.to_csv(named / "other.csv", index=False)
    for command in ("predict", "learn"):
        if command == "learn":
            frame.assign(label=NAMES[0]).to_csv(named / "other.csv", index=False)
        code, out, err = run(command, named / "named", named / "other.csv")
        assert (code, out) == (2, "")
        assert "are not those that the model learned (missing: 'f3'; unknown: 'g3')" in err


def test_columns_that_are_called_by_numbers_are_no_sample(files: Path, run: Run) -> None:
    X, y = seen_of(range(4))
    frame = pd.DataFrame(X)[[3, 17, 21, 25, 28]]
    frame.assign(label=y).to_csv(files / "train.csv", index=False)
    frame.to_csv(files / "X.csv", index=False)
    frame.iloc[:, ::-1].to_csv(files / "turned.csv")
    code, _, err = run("train", files / "train.csv", "-o", files / "m", *SETTINGS)
    assert code == 0, err
    answers = {run("predict", files / "m", files / name) for name in ("X.csv", "turned.csv")}
    assert len(answers) == 1
    code, out, err = answers.pop()
    assert (code, len(rows_of(out)), err) == (0, len(X), "")
    pd.Series(y, name="label").to_csv(files / "y.csv", index=False)
    data = (files / "turned.csv", "--labels", files / "y.csv")
    code, out, err = run("learn", files / "m", *data)
    assert code == 0, err
    assert "learned 36 samples of 4 classes, 0 of them new" in out


def test_without_names_columns_go_by_their_places(named: Path, run: Run) -> None:
    answers = {run("predict", named / "named", named / f"X.{kind}") for kind in ("csv", "npy")}
    assert len(answers) == 1
    assert answers.pop()[2] == ""


# ---------------------------------------------------------------- labels that are there already


@pytest.mark.parametrize("data", ["labelled.csv", "europe.csv", "labelled.parquet", "labelled.npz"])
def test_labelled_files_are_predicted_and_marked(
    saved: Path, files: Path, run: Run, data: str
) -> None:
    X, y = seen_of(range(12))
    expected = ZeroShotClassifier.load(saved).predict(X)
    code, out, err = run("predict", saved, files / data, "--json")
    assert code == 0
    best = [json.loads(line)["ranked"][0]["label"] for line in out.splitlines()]
    assert best == expected.tolist()
    assert err == f"mczsl: accuracy {100 * np.mean(expected == y):.1f} % of 120 rows with labels\n"


def test_only_rows_with_a_label_are_marked(saved: Path, files: Path, run: Run) -> None:
    frame = pd.read_csv(files / "labelled.csv")[:4]
    right = ZeroShotClassifier.load(saved).predict(seen_of(range(12))[0][:2])
    frame["label"] = [right[0], "dodo", None, " "]
    frame.to_csv(files / "some.csv", index=False)
    code, out, err = run("predict", saved, files / "some.csv")
    assert (code, len(rows_of(out))) == (0, 4)
    assert "accuracy 50.0 % of 2 rows with labels; 1 have a label that the model does not" in err
    frame["label"] = None
    frame.to_csv(files / "some.csv", index=False)
    assert "no row has a label" in run("predict", saved, files / "some.csv")[2]


def test_whole_datasets_and_truths_are_predicted(files: Path, run: Run) -> None:
    X, y = seen_of(range(2))
    ZeroShotClassifier(settings=QUICK).fit(X, y == NAMES[0]).save(files / "m")
    np.savez(files / "truths.npz", features=X, labels=y == NAMES[0])
    code, _, err = run("predict", files / "m", files / "truths.npz")
    assert (code, err) == (0, "mczsl: accuracy 100.0 % of 20 rows with labels\n")
    assert run("predict", files / "m", files / "dataset.npz")[::2] == (0, "")
    np.savez(files / "short.npz", features=X, labels=[True])
    assert "1 labels for 20 rows" in run("predict", files / "m", files / "short.npz")[2]


@pytest.mark.parametrize("kind", ["csv", "parquet", "npz", "labels.parquet", "labels.npy"])
def test_truths_are_learned_from_every_kind_of_file(files: Path, run: Run, kind: str) -> None:
    X, y = seen_of(range(2))
    truths = y == NAMES[0]
    ZeroShotClassifier(settings=QUICK).fit(X, truths).save(files / "m")
    frame = pd.DataFrame(X).add_prefix("f").assign(label=truths)
    frame.to_csv(files / "b.csv", index=False)
    frame.to_parquet(files / "b.parquet")
    np.savez(files / "b.npz", features=X, labels=truths)
    frame[["label"]].to_parquet(files / "labels.parquet")
    np.save(files / "labels.npy", truths)
    apart = kind.startswith("labels")
    data = [files / "X.npy", "--labels", files / kind] if apart else [files / f"b.{kind}"]
    np.save(files / "X.npy", X)
    code, out, err = run("learn", files / "m", *data)
    assert code == 0, err
    assert "of 2 classes, 0 of them new" in out
    assert ZeroShotClassifier.load(files / "m").classes_.tolist() == [False, True]


def test_files_are_named_beside_their_rows(saved: Path, files: Path, run: Run) -> None:
    X = seen_of(range(12))[0][:2]
    np.savez(files / "pictures.npz", features=X, files=["a.png", "=b\x1b.png"])
    code, out, err = run("predict", saved, files / "pictures.npz", "--top", 2)
    assert (code, err) == (0, "")
    assert list(rows_of(out)[0]) == ["row", "file", "rank", "label", "probability", "status"]
    assert [row["file"] for row in rows_of(out)] == ["a.png"] * 2 + [r"'=b\x1b.png"] * 2
    code, out, _ = run("predict", saved, files / "pictures.npz", "--json")
    assert [json.loads(line)["file"] for line in out.splitlines()] == ["a.png", "=b\x1b.png"]
    code, _, err = run("train", files / "pictures.npz", "-o", files / "m")
    assert code == 2
    assert "has no array 'labels' (found: features, files), so there is nothing to learn" in err
