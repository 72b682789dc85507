"""``mczsl features`` from the outside: a folder in, a file out, problems named."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from mczsl.cli import app
from mczsl.errors import ConfigError, DataError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "pictures"
    for name, colour in {"apple": "red", "leaf": "green"}.items():
        (root / name).mkdir(parents=True)
        for number in range(5):
            picture = Image.new("RGB", (40, 40), colour)
            picture.paste("white", (0, 0, 4 * number + 1, 20))
            picture.save(root / name / f"{number}.png")
    return root


@pytest.fixture
def network(tmp_path: Path) -> Path:
    """An ONNX file that averages the colours."""
    onnx = pytest.importorskip("onnx")
    helper, number = onnx.helper, onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        [helper.make_node("ReduceMean", ["x"], ["y"], axes=[2, 3], keepdims=0)],
        "colours",
        [helper.make_tensor_value_info("x", number, ["n", 3, 16, 16])],
        [helper.make_tensor_value_info("y", number, ["n", 3])],
    )
    opset = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), tmp_path / "net.onnx")
    return tmp_path / "net.onnx"


def run(*arguments: object) -> str:
    line = ["features", *map(str, arguments)]
    result = CliRunner().invoke(app, line, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_a_folder_becomes_a_file_and_progress_is_plain_lines(folder: Path, network: Path) -> None:
    out = folder.parent / "features.npz"
    shown = run(folder, "-o", out, "--backbone", network, "--scaling", "unit")
    assert "pictures: 1 of 10\n" in shown
    assert "10 pictures of 2 classes, 3 features each" in shown
    with np.load(out, allow_pickle=False) as stored:
        assert stored["labels"].tolist() == ["apple"] * 5 + ["leaf"] * 5
        np.testing.assert_allclose(stored["features"][4, 0], 1, atol=1e-6)
    assert out.with_suffix(".json").is_file()


def test_the_default_backbone_runs_from_the_command_line(folder: Path) -> None:
    out = folder.parent / "features.npz"
    assert "1280 features each" in run(folder, "-o", out)


def test_bad_files_are_reported_or_with_strict_an_error(folder: Path, network: Path) -> None:
    (folder / "leaf" / "bad\x1b[31m.png").touch()
    out = folder.parent / "features.npz"
    shown = run(folder, "-o", out, "--backbone", network)
    assert "m.png: is empty" in shown
    assert "\x1b" not in shown  # a terminal would obey it
    assert "10 pictures of 2 classes" in shown
    with pytest.raises(DataError, match="is empty"):
        run(folder, "-o", out, "--backbone", network, "--strict")


def test_pictures_without_labels(folder: Path, network: Path) -> None:
    out = folder.parent / "one.npz"
    options = ("-o", out, "--backbone", network, "--scaling", "unit")
    assert "5 pictures without labels, 3 features each; 0 problems\n" in run(
        folder / "leaf", *options
    )
    assert "1 pictures without labels" in run(folder / "leaf" / "3.png", *options)
    with np.load(out, allow_pickle=False) as stored:
        assert stored["files"].tolist() == ["3.png"]
        assert "labels" not in stored
    with pytest.raises(DataError, match=r"no array 'labels' .* nothing to learn from"):
        CliRunner().invoke(
            app, ["train", str(out), "-o", str(folder.parent / "m")], catch_exceptions=False
        )


def test_only_known_datasets_are_built(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="did you mean 'emoji'"):
        CliRunner().invoke(
            app, ["data", "build", "emojis", "-o", str(tmp_path)], catch_exceptions=False
        )


def test_mistakes_are_named(folder: Path) -> None:
    with pytest.raises(ConfigError, match="did you mean 'efficientnet_lite0'"):
        run(folder, "-o", "f.npz", "--backbone", "efficientnet")
    with pytest.raises(ConfigError, match=r"stored as \.npz"):
        run(folder, "-o", folder.parent / "f.csv")
