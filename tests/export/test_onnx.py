"""The exported graphs score as the classifier does, and need no torch to learn of a new class."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mczsl import ZeroShotClassifier
from mczsl.errors import ConfigError, MczslError, StorageError
from mczsl.estimator.model import NARROWEST
from mczsl.export.onnx import OPSET, export_onnx, run, scorer_graph, write_classes
from tests.estimator.animals import DESCRIBED, NAMES, QUICK, TABLE, quick, seen_of

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
pytest.importorskip("onnxscript")

KINDS: dict[str, dict[str, Any]] = {
    "the default": {"settings": QUICK},
    "as in the paper": {
        "preset": "paper",
        "settings": {"hidden": 64, "epochs": 2, "norm_over": "classes", "learn_scale": True},
    },
    "nm_zsl": {
        "method": "nm_zsl",
        "settings": {"hidden": 64, "epochs": 2, "calibration": "published"},
    },
}


@pytest.fixture(scope="module", params=KINDS)
def exported(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[ZeroShotClassifier, Path]:
    """A classifier that knows 18 animals and has seen 12, and its export."""
    described = {name: DESCRIBED[name] for name in NAMES[:18]}
    model = ZeroShotClassifier(class_attributes=described, **KINDS[request.param])
    model.fit(*seen_of(range(12)))
    folder = tmp_path_factory.mktemp("onnx")
    export_onnx(model, folder)
    return model, folder


def test_scores_are_those_of_torch(exported: tuple[ZeroShotClassifier, Path]) -> None:
    model, folder = exported
    classes = np.load(folder / "classes.npz", allow_pickle=False)
    assert classes["labels"].tolist() == model.classes_.tolist()
    assert classes["seen"].tolist() == np.isin(model.classes_, model.seen_classes_).tolist()
    X, _ = seen_of(range(20), each=10, seed=7)
    X[3] = 0
    with pytest.warns(UserWarning, match="all zeros"):
        expected = model.scores(X)
    [scores] = run(folder / "scorer.onnx", features=X, class_matrix=classes["class_matrix"])
    np.testing.assert_allclose(scores, expected, rtol=1e-5, atol=1e-5)
    for rows in (1, 7):
        [some] = run(
            folder / "scorer.onnx", features=X[:rows], class_matrix=classes["class_matrix"]
        )
        np.testing.assert_allclose(some, expected[:rows], rtol=1e-5, atol=1e-5)


def test_a_class_can_be_added_to_the_export(exported: tuple[ZeroShotClassifier, Path]) -> None:
    model, folder = exported
    X, _ = seen_of(range(20), each=3, seed=8)
    matrix = np.load(folder / "classes.npz", allow_pickle=False)["class_matrix"]
    [rows] = run(folder / "class_encoder.onnx", attributes=TABLE[18:])
    [scores] = run(folder / "scorer.onnx", features=X, class_matrix=np.vstack([matrix, rows]))
    grown = ZeroShotClassifier.__new__(ZeroShotClassifier)
    grown.__dict__.update(model.__dict__)
    grown.add_classes(NAMES[18:], attributes=TABLE[18:])
    np.testing.assert_allclose(scores, grown.scores(X), rtol=1e-5, atol=1e-5)
    write_classes(grown, folder / "grown.npz")
    grown_matrix = np.load(folder / "grown.npz", allow_pickle=False)["class_matrix"]
    np.testing.assert_allclose(grown_matrix, np.vstack([matrix, rows]), atol=1e-5)


def test_the_graphs_say_what_they_are(exported: tuple[ZeroShotClassifier, Path]) -> None:
    _, folder = exported
    for name in ("scorer.onnx", "class_encoder.onnx"):
        graph = onnx.load(folder / name)
        assert [each.version for each in graph.opset_import] == [OPSET]
        assert graph.producer_name == "mczsl"
    assert [each.name for each in onnx.load(folder / "scorer.onnx").graph.input] == [
        "features",
        "class_matrix",
    ]


@pytest.mark.parametrize("width", [2, NARROWEST, 2048])
@pytest.mark.parametrize("rooted", [False, True])
def test_features_of_any_width(width: int, rooted: bool, tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    X = np.abs(generator.normal(size=(30, width))).astype(np.float32)
    settings = {**QUICK, "feature_transform": "sqrt" if rooted else "none"}
    model = ZeroShotClassifier(settings=settings).fit(X, np.arange(30) % 3)
    write_classes(model, tmp_path / "classes.npz")
    classes = np.load(tmp_path / "classes.npz", allow_pickle=False)
    assert classes["class_matrix"].shape == (3, width + 1)
    assert classes["labels"].tolist() == [0, 1, 2]
    graph = scorer_graph(width, rooted)
    [scores] = run(graph, features=X, class_matrix=classes["class_matrix"])
    np.testing.assert_allclose(scores, model.scores(X), rtol=1e-5, atol=1e-5)


def test_neither_torch_nor_this_package_is_needed(
    exported: tuple[ZeroShotClassifier, Path], tmp_path: Path
) -> None:
    model, folder = exported
    X, _ = seen_of(range(12), seed=9)
    np.save(tmp_path / "X.npy", X)
    program = (
        "import sys; sys.modules['torch'] = sys.modules['mczsl'] = None\n"
        "import numpy, onnxruntime\n"
        "classes = numpy.load(sys.argv[1] + '/classes.npz')\n"
        "session = onnxruntime.InferenceSession(sys.argv[1] + '/scorer.onnx')\n"
        "X = numpy.load(sys.argv[2])\n"
        "[scores] = session.run(None, {'features': X, 'class_matrix': classes['class_matrix']})\n"
        "print(*classes['labels'][scores.argmax(axis=1)], sep='\\n')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(folder), str(tmp_path / "X.npy")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == model.predict(X).tolist()


def test_what_cannot_be_exported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(MczslError, match="call fit or partial_fit first"):
        export_onnx(quick(), tmp_path / "x")
    X, y = seen_of(range(3))
    other = ZeroShotClassifier("eszsl", class_attributes=DESCRIBED).fit(X, y)
    with pytest.raises(ConfigError, match=r"'eszsl' has no prototype .* these can: .*mczsl"):
        export_onnx(other, tmp_path / "x")
    model = quick().fit(X, y)
    (tmp_path / "file").write_text("the user's own")
    with pytest.raises(StorageError, match="cannot be written"):
        write_classes(model, tmp_path / "file" / "classes.npz")

    class Broken:
        def find_spec(self, name: str, *_: object) -> None:
            if name == "onnxscript":
                raise RuntimeError("operator torchvision::nms does not exist")

    monkeypatch.delitem(sys.modules, "onnxscript", raising=False)
    with monkeypatch.context() as broken:
        broken.setattr(sys, "meta_path", [Broken(), *sys.meta_path])
        with pytest.raises(ConfigError, match=r"nms does not exist.*pip install 'mczsl\[onnx\]'"):
            export_onnx(model, tmp_path / "x")
    monkeypatch.setitem(sys.modules, "onnxscript", None)
    with pytest.raises(ConfigError, match=r"pip install 'mczsl\[onnx\]'"):
        export_onnx(model, tmp_path / "x")
    assert not (tmp_path / "x").exists()
