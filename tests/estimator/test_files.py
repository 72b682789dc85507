"""A saved classifier is the classifier; a damaged or foreign one is refused by name."""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from mczsl import ZeroShotClassifier, storage
from mczsl.errors import ConfigError, StorageError
from mczsl.methods import available_methods, get_method
from tests.estimator.animals import DESCRIBED, NAMES, QUICK, quick, seen_of
from tests.estimator.saving import save_for_ever
from tests.forked import start, wait_until
from tests.saving import read_only

X, Y = seen_of(range(6))


@pytest.fixture(scope="module")
def taught() -> ZeroShotClassifier:
    """Knows all animals, has seen six; not to be changed."""
    return quick().fit(X, Y)


@pytest.fixture
def folder(taught: ZeroShotClassifier, tmp_path: Path) -> Path:
    taught.save(tmp_path / "model")
    return tmp_path / "model"


def test_what_is_loaded_goes_on_as_if_never_saved(tmp_path: Path) -> None:
    model = quick(memory_size=50, random_state=3).fit(X, Y)
    model.add_classes(["another"], attributes=[np.ones(12)])
    model.remove_classes([NAMES[0], NAMES[19]])
    model.save(tmp_path / "model")
    loaded = ZeroShotClassifier.load(str(tmp_path / "model"))
    assert loaded.classes_.tolist() == model.classes_.tolist()
    assert loaded.seen_classes_.tolist() == model.seen_classes_.tolist()
    assert loaded.history_ == model.history_
    np.testing.assert_array_equal(loaded.scores(X), model.scores(X))
    later = seen_of(range(8, 11))
    for each in (model, loaded):
        each.partial_fit(*later)
    np.testing.assert_array_equal(loaded.scores(X), model.scores(X))
    assert loaded.history_ == model.history_


@pytest.mark.parametrize("method", list(available_methods()))
def test_every_method_is_saved(method: str, tmp_path: Path) -> None:
    short = {"epochs": 1} if "epochs" in get_method(method).Config.model_fields else {}
    model = ZeroShotClassifier(method, settings=short, class_attributes=DESCRIBED).fit(X, Y)
    model.save(tmp_path)
    np.testing.assert_array_equal(ZeroShotClassifier.load(tmp_path).scores(X), model.scores(X))


@pytest.mark.parametrize(
    "labels", [[3, -1, 7], [True, False, True], ["=1+1", "<b>", "\x1b[31mred"]], ids=str
)
def test_labels_of_all_kinds_are_kept(labels: list[Any], tmp_path: Path) -> None:
    y = np.array([labels[NAMES.index(name) % 3] for name in Y])
    model = ZeroShotClassifier(settings=QUICK).fit(X, y)
    model.save(tmp_path)
    loaded = ZeroShotClassifier.load(tmp_path)
    assert loaded.classes_.dtype == model.classes_.dtype
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    loaded.partial_fit(X, y)


def test_a_loaded_one_can_be_cloned_and_fitted_anew(folder: Path) -> None:
    loaded = ZeroShotClassifier.load(folder)
    loaded.fit(*seen_of(range(3)))
    assert loaded.seen_classes_.tolist() == NAMES[:3]
    assert loaded.classes_.tolist() == NAMES, "what described the classes was saved too"


def test_texts_can_be_read_after_loading(tmp_path: Path) -> None:
    def lengths(texts: list[str]) -> list[list[float]]:
        return [[len(text), text.count("a") + 1] for text in texts]

    texts = {name: "a" * n + "bb" for n, name in enumerate(NAMES[:6])}
    model = quick(class_attributes=None, class_descriptions=texts, text_encoder=lengths).fit(X, Y)
    model.save(tmp_path)
    loaded = ZeroShotClassifier.load(tmp_path)
    loaded.set_params(text_encoder=lengths)
    loaded.add_classes(["new"], descriptions=["abcabcabc"])
    assert loaded.unseen_classes_.tolist() == ["new"]
    loaded.set_params(text_encoder=lambda texts: lengths(texts))
    with pytest.raises(ConfigError, match="cannot describe a new one"):
        loaded.add_classes(["newer"], descriptions=["abcabc"])


def test_column_names_are_kept(tmp_path: Path) -> None:
    import pandas as pd

    frame = pd.DataFrame(X, columns=[f"f{number}" for number in range(X.shape[1])])
    quick().fit(frame, Y).save(tmp_path)
    loaded = ZeroShotClassifier.load(tmp_path)
    assert list(loaded.feature_names_in_) == list(frame.columns)
    loaded.predict(frame)


def test_the_files_are_the_same_for_the_same_model(tmp_path: Path) -> None:
    for name in ("one", "two"):
        quick().fit(X, Y).save(tmp_path / name)
    one, two = ({p.name: p.read_bytes() for p in (tmp_path / n).iterdir()} for n in ("one", "two"))
    assert one == two
    assert sorted(name.partition("-")[0] for name in one) == [
        "README.md",
        "manifest.json",
        "weights",
    ]


# ---------------------------------------------------------------- damage


def test_a_flipped_bit_is_noticed_in_every_file(folder: Path) -> None:
    chance = random.Random(0)
    for path in _of_the_model(folder):
        whole = path.read_bytes()
        for _ in range(20):
            damaged = bytearray(whole)
            damaged[chance.randrange(len(whole))] ^= 1 << chance.randrange(8)
            path.write_bytes(damaged)
            if path.name == "manifest.json" and _means_the_same(bytes(damaged), whole):
                continue  # a blank that became another blank, between two values
            with pytest.raises(StorageError, match=re.escape(str(path))):
                ZeroShotClassifier.load(folder)
        path.write_bytes(whole)
    ZeroShotClassifier.load(folder)


def _of_the_model(folder: Path) -> list[Path]:
    """All files but the card, which people may edit or take away."""
    files = sorted(path for path in folder.iterdir() if path.name != "README.md")
    assert len(files) == 2
    return files


def _means_the_same(one: bytes, other: bytes) -> bool:
    try:
        return bool(json.loads(one) == json.loads(other))
    except ValueError:
        return False


def test_a_truncated_or_missing_file_is_noticed(folder: Path) -> None:
    for path in _of_the_model(folder):
        whole = path.read_bytes()
        for size in (0, 1, len(whole) // 2, len(whole) - 1):
            path.write_bytes(whole[:size])
            with pytest.raises(StorageError, match=path.name):
                ZeroShotClassifier.load(folder)
        path.unlink()
        with pytest.raises(StorageError):
            ZeroShotClassifier.load(folder)
        path.write_bytes(whole)


def test_what_is_no_saved_classifier(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("hello")
    storage.save(tmp_path / "run", "checkpoint", storage.Stored({}, {}))
    for name, message in (
        ("nowhere", "not a saved classifier"),
        ("file", "file: no manifest.json here, so this is not a saved classifier"),
        ("run", "is a saved checkpoint, not a classifier"),
    ):
        with pytest.raises(StorageError, match=message):
            ZeroShotClassifier.load(tmp_path / name)


def test_nothing_but_a_classifier_is_written_over(
    taught: ZeroShotClassifier, tmp_path: Path
) -> None:
    storage.save(tmp_path / "run", "checkpoint", storage.Stored({}, {}))
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "README.md").write_text("my project")
    with pytest.raises(StorageError, match="is a saved checkpoint"):
        taught.save(tmp_path / "run")
    with pytest.raises(StorageError, match="belongs to something else"):
        taught.save(tmp_path / "project")
    assert (tmp_path / "project" / "README.md").read_text() == "my project"
    assert len(os.listdir(tmp_path / "project")) == 1


# ---------------------------------------------------------------- strangers


def forge(folder: Path, tensors: dict[str, torch.Tensor] | None = None, **changes: Any) -> None:
    """What a stranger can do: write any values and tensors, with checksums that fit."""
    stored = storage.load(folder, "classifier")
    values = {key: value for key, value in {**stored.values, **changes}.items() if value is not ...}
    storage.save(
        folder, "classifier", storage.Stored({**stored.tensors, **(tensors or {})}, values)
    )


def test_a_forgery_without_a_change_is_loaded(folder: Path) -> None:
    """Otherwise the tests below would be refused for the wrong reason."""
    forge(folder)
    ZeroShotClassifier.load(folder)


@pytest.mark.parametrize(
    "changes",
    [
        {"labels": ...},
        {"labels": NAMES[:3]},
        {"labels": NAMES[::-1]},
        {"labels": [*NAMES[:-1], NAMES[0]]},
        {"labels": [*NAMES[:-1], None]},
        {"labels": [*NAMES[:-1], 7]},
        {"labels": [*NAMES[:-1], "x" * 10**6]},
        {"next_id": 0},
        {"features": 300},
        {"features": 0},
        {"features": "many"},
        {"config": {}},
        {"config": {"hidden": "x"}},
        {"config": {"rm": "-rf"}},
        {"parameters": {}},
        {"lessons": [{"samples": 1}]},
        {"state": {}},
        {"source": "os.system"},
        {"unknown": 1},
    ],
    ids=str,
)
def test_forged_values_give_a_named_error(folder: Path, changes: dict[str, Any]) -> None:
    forge(folder, **changes)
    with pytest.raises(StorageError, match=str(folder)):
        ZeroShotClassifier.load(folder)


@pytest.mark.parametrize("method", ["os", "mczsl.methods.mczsl", "../x", ""])
def test_a_file_cannot_name_code_to_import(folder: Path, method: str) -> None:
    parameters = storage.read_manifest(folder, "classifier")["values"]["parameters"]
    forge(folder, parameters=parameters | {"method": method})
    with pytest.raises(StorageError, match="unknown method"):
        ZeroShotClassifier.load(folder)


@pytest.mark.parametrize(
    "tensors",
    [
        {"attributes": torch.ones(3, 12)},
        {"attributes": torch.full((20, 12), torch.nan)},
        {"attributes": torch.ones(20, 12, dtype=torch.int32)},
        {"ids": torch.zeros(20, dtype=torch.int64)},
        {"ids": torch.zeros(20)},
        {"seen": torch.zeros(3, dtype=torch.bool)},
        {"method.method.scale": torch.tensor(torch.nan)},
        {"method.method.net.2.weight": torch.zeros(1, 1)},
        {"method.method.memory.labels": torch.zeros(1)},
        {"method.method.memory.features": torch.zeros(54, 3)},
    ],
    ids=lambda tensors: next(iter(tensors)),
)
def test_forged_tensors_give_a_named_error(folder: Path, tensors: dict[str, torch.Tensor]) -> None:
    name = next(iter(tensors))
    assert name in storage.load(folder, "classifier").tensors, "the test names no real tensor"
    forge(folder, tensors)
    with pytest.raises(StorageError, match="is no sound classifier"):
        ZeroShotClassifier.load(folder)


def test_a_newer_format_asks_for_an_upgrade(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as later:
        later.setattr(storage, "FORMAT_VERSION", 2)
        forge(folder)
    with pytest.raises(StorageError, match="upgrade mczsl"):
        ZeroShotClassifier.load(folder)


def test_a_device_that_is_not_there(folder: Path) -> None:
    with pytest.raises(ConfigError, match="use 'cpu'"):
        ZeroShotClassifier.load(folder, device="cuda:77")


# ---------------------------------------------------------------- faults of the machine


def test_killed_at_any_moment_a_whole_classifier_is_there(folder: Path, tmp_path: Path) -> None:
    chance = random.Random(0)
    shutil.copytree(folder, tmp_path / "source")
    for _ in range(6):
        before = (folder / "manifest.json").read_bytes()
        saver = start(save_for_ever, folder, tmp_path / "source")
        wait_until(lambda was=before: (folder / "manifest.json").read_bytes() != was, saver)
        time.sleep(chance.random() * 0.05)  # any moment will do
        saver.kill()
        saver.join()
        assert saver.exitcode == -signal.SIGKILL
        loaded = ZeroShotClassifier.load(folder)
        assert loaded.predict(X).shape == (60,)


def test_a_card_that_could_not_be_written_is_the_old_one(
    taught: ZeroShotClassifier, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    card = (folder / "README.md").read_bytes()
    grown = ZeroShotClassifier.load(folder)
    grown.add_classes(["another"], attributes=[np.ones(12)])
    write = storage.write_atomically

    def fail(path: Path, content: bytes) -> None:
        if path.name == "README.md":
            raise StorageError(f"{path}: cannot be written: the disk is full")
        write(path, content)

    with monkeypatch.context() as full:
        full.setattr(storage, "write_atomically", fail)
        with pytest.raises(StorageError, match="the disk is full"):
            grown.save(folder)
    assert (folder / "README.md").read_bytes() == card
    assert "another" in ZeroShotClassifier.load(folder).classes_


def test_a_folder_that_cannot_be_written(taught: ZeroShotClassifier, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("the user's own")
    for place in ("file", "file/sub", "x" * 300):
        with pytest.raises(StorageError, match="cannot be a folder"):
            taught.save(tmp_path / place)
    assert (tmp_path / "file").read_text() == "the user's own"


def test_a_read_only_folder(taught: ZeroShotClassifier) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        taught.save(folder)
        before = {path.name: path.read_bytes() for path in folder.iterdir()}
        with read_only(folder):
            for target in (folder, folder / "new"):
                with pytest.raises(StorageError, match="the folder is read-only; choose another"):
                    taught.save(target)
            assert ZeroShotClassifier.load(folder).predict(X).shape == (60,)
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_loading_takes_no_longer_than_what_it_stands_on(folder: Path) -> None:
    np.save(folder / "X.npy", X)
    program = (
        "import sys, time; begin = time.perf_counter()\n"
        "import torch, sklearn.base, numpy; stood = time.perf_counter()\n"
        "from mczsl import ZeroShotClassifier\n"
        "ZeroShotClassifier.load(sys.argv[1]).predict(numpy.load(sys.argv[2]))\n"
        "print(stood - begin, time.perf_counter() - stood)\n"
        "heavy = {'matplotlib', 'onnx', 'onnxruntime', 'ray', 'mlflow', 'torch._dynamo'}\n"
        "print(*heavy & set(sys.modules))\n"
    )
    command = [sys.executable, "-c", program, str(folder), str(folder / "X.npy")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    times, heavy = done.stdout.splitlines()
    imports, ours = map(float, times.split())
    assert ours < imports / 2, "about a twentieth is usual"
    assert heavy == ""


def test_ten_thousand_classes(taught: ZeroShotClassifier, folder: Path) -> None:
    model = ZeroShotClassifier.load(folder)
    many = np.random.default_rng(1).normal(size=(10_000, 12)).astype(np.float32)
    before = model.scores(X)
    model.add_classes([f"b{number}" for number in range(10_000)], attributes=many)
    np.testing.assert_allclose(model.scores(X)[:, :20], before, rtol=1e-6, atol=1e-6)
    model.save(folder)
    assert len(ZeroShotClassifier.load(folder).classes_) == 10_020
    assert len((folder / "README.md").read_text()) < 10_000
