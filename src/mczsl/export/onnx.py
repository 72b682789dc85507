"""A classifier as ONNX, for programs without torch.

A folder with three files:

- ``scorer.onnx``: ``features`` (n, D) and ``class_matrix`` (C, D + 1) to ``scores`` (n, C). The
  matrix is an input, so classes come and go without touching the graph. A class's row is its
  prototype, and in the last column what is added to its score (the calibration of seen classes).
- ``class_encoder.onnx``: ``attributes`` (c, A) of new classes to their rows, (c, D + 1).
- ``classes.npz``: ``labels``, ``class_matrix`` and ``seen`` of the classes known at the export.
"""

from __future__ import annotations

import contextlib
import io
import logging
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import normalize

import mczsl
from mczsl import storage
from mczsl.errors import ConfigError
from mczsl.estimator.labels import as_array
from mczsl.evaluation.calibration import CalibratedMethod
from mczsl.methods import available_methods, get_method
from mczsl.methods.prototypes import PrototypeMethod
from mczsl.protocols import ClassSet
from mczsl.seeding import numpy_generator

if TYPE_CHECKING:
    from mczsl.estimator.classifier import ZeroShotClassifier
    from mczsl.estimator.model import Model

OPSET = 18
SCORER, CLASS_ENCODER, CLASSES = "scorer.onnx", "class_encoder.onnx", "classes.npz"
_TOLERANCE = 1e-4  # of scores up to 25; a graph that is wrong is off by far more


def export_onnx(classifier: ZeroShotClassifier, folder: Path) -> None:
    """Write the three files, after a check that they score as the classifier does."""
    model = classifier.fitted_model("export")
    method = _prototype_method(model)
    scorer = scorer_graph(model.features, method.rooted)
    encoder = _class_encoder_graph(method, model.features)
    _require_parity(model, scorer, encoder)
    storage.write_atomically(folder / SCORER, scorer)
    storage.write_atomically(folder / CLASS_ENCODER, encoder)
    write_classes(classifier, folder / CLASSES)


def write_classes(classifier: ZeroShotClassifier, path: Path) -> None:
    """Write ``classes.npz`` anew: all that an exported model needs after classes came or went."""
    model, content = classifier.fitted_model("export"), io.BytesIO()
    np.savez(
        content,
        labels=as_array(model.classes.labels),
        class_matrix=class_matrix(model),
        seen=model.classes.seen.numpy(),
    )
    storage.write_atomically(path, content.getvalue())


def class_matrix(model: Model, classes: ClassSet | None = None) -> NDArray[np.float32]:
    """A row for each known class, or for others: what ``scorer.onnx`` takes, (C, D + 1).

    Scores are linear in a row of unit length, so those of the unit vectors are the prototypes, and
    those of no feature at all are the offsets.
    """
    if classes is None:
        classes = model.classes.select(torch.arange(len(model.classes)))
    width = model.method.setting.feature_dim
    with torch.no_grad():
        score = model.method.scorer(classes)
        offsets = score(torch.zeros(1, width)).cpu()
        prototypes = score(torch.eye(width)[: model.features]).cpu() - offsets
    return torch.cat([prototypes, offsets]).T.contiguous().numpy()


def _prototype_method(model: Model) -> PrototypeMethod:
    method = model.method
    if isinstance(method, CalibratedMethod):
        method = method.method
    if isinstance(method, PrototypeMethod):
        return method
    able = [n for n in available_methods() if issubclass(get_method(n), PrototypeMethod)]
    raise ConfigError(
        f"the method {model.name!r} has no prototype of a class, so it cannot be exported; "
        f"these can: {', '.join(able)}"
    )


def _onnx() -> Any:
    try:
        import onnx
        import onnxruntime  # noqa: F401
        import onnxscript  # noqa: F401
    except (ImportError, RuntimeError) as problem:  # a broken install raises the latter
        raise ConfigError(
            f"the export needs the extra 'onnx' ({problem}): pip install 'mczsl[onnx]'"
        ) from problem
    return onnx


def scorer_graph(features: int, rooted: bool) -> bytes:
    """Root (if there is one) and normalise the features, multiply by the classes, add offsets."""
    onnx = _onnx()
    node, value, number = onnx.helper.make_node, onnx.helper.make_tensor_value_info, np.float32
    kind = onnx.TensorProto.FLOAT
    transformed = [node("Identity", ["features"], ["x"])]
    if rooted:
        transformed = [
            node("Abs", ["features"], ["size"]),
            node("Sqrt", ["size"], ["root"]),
            node("Sign", ["features"], ["sign"]),
            node("Mul", ["root", "sign"], ["x"]),
        ]
    constants = {
        "columns": np.array([1]),
        "zero": np.array([0]),
        "last": np.array([features]),
        "behind": np.array([features + 1]),
        "least": np.array(1e-12, dtype=number),
    }
    graph = onnx.helper.make_graph(
        [
            *transformed,
            node("ReduceL2", ["x", "columns"], ["length"], keepdims=1),
            node("Max", ["length", "least"], ["divisor"]),
            node("Div", ["x", "divisor"], ["directions"]),
            node("Slice", ["class_matrix", "zero", "last", "columns"], ["prototypes"]),
            node("Slice", ["class_matrix", "last", "behind", "columns"], ["offsets"]),
            node("Transpose", ["prototypes"], ["weights"], perm=[1, 0]),
            node("Transpose", ["offsets"], ["bias"], perm=[1, 0]),
            node("MatMul", ["directions", "weights"], ["cosines"]),
            node("Add", ["cosines", "bias"], ["scores"]),
        ],
        "scorer",
        [
            value("features", kind, ["n", features]),
            value("class_matrix", kind, ["C", features + 1]),
        ],
        [value("scores", kind, ["n", "C"])],
        [onnx.numpy_helper.from_array(each, name) for name, each in constants.items()],
    )
    return _serialised(onnx, onnx.helper.make_model(graph, ir_version=9, opset_imports=[_opset()]))


class _ClassEncoder(nn.Module):
    """Attributes of classes without samples to rows of the class matrix."""

    def __init__(self, method: PrototypeMethod, features: int):
        super().__init__()
        self.net, self.method, self.features = method.net, method, features
        method.class_weights(torch.empty(0, method.setting.feature_dim))  # found on demand: now

    def forward(self, attributes: Tensor) -> Tensor:
        """(c, A) -> (c, D + 1)."""
        prototypes = normalize(self.net(self.method.net_inputs(attributes)), dim=1)
        rows = self.method.class_weights(prototypes)[:, : self.features]
        return torch.cat([rows, torch.zeros_like(rows[:, :1])], dim=1)


def _class_encoder_graph(method: PrototypeMethod, features: int) -> bytes:
    onnx = _onnx()
    encoder = _ClassEncoder(method, features).eval()
    example = torch.ones(3, method.setting.attribute_dim, device=method.setting.device)
    with _quiet():
        program = torch.onnx.export(
            encoder,
            (example,),
            input_names=["attributes"],
            output_names=["class_matrix"],
            dynamic_shapes={"attributes": {0: torch.export.Dim.DYNAMIC}},
            opset_version=OPSET,
            dynamo=True,
            verbose=False,
        )
    assert program is not None
    return _serialised(onnx, program.model_proto)


def _opset() -> Any:
    return _onnx().helper.make_opsetid("", OPSET)


def _serialised(onnx: Any, model: Any) -> bytes:
    model.producer_name, model.producer_version = "mczsl", mczsl.__version__
    onnx.checker.check_model(model, full_check=True)
    return bytes(model.SerializeToString(deterministic=True))


@contextlib.contextmanager
def _quiet() -> Any:
    """Without the exporter's remarks about packages and functions of its own."""
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)


def _require_parity(model: Model, scorer: bytes, encoder: bytes) -> None:
    """Score some samples and encode some classes both ways."""
    X = numpy_generator(0, "export").normal(size=(16, model.features)).astype(np.float32)
    [(_, expected)] = model.scores(X)
    [found] = run(scorer, features=X, class_matrix=class_matrix(model))
    attributes = model.classes.attributes[:16]
    new = ClassSet(model.classes.next_id + torch.arange(len(attributes)), attributes)
    [rows] = run(encoder, attributes=attributes.numpy())
    gaps = np.abs(found - expected).max(), np.abs(rows - class_matrix(model, new)).max()
    if not max(gaps) < _TOLERANCE:
        raise ConfigError(
            f"the method {model.name!r} scores in a way that the export cannot express "
            f"(difference {max(gaps):.2g}); use it through Python"
        )


def run(graph: bytes | Path, **inputs: NDArray[Any]) -> list[NDArray[np.float32]]:
    """The outputs of an ONNX graph in onnxruntime, with one thread."""
    _onnx()
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    source = str(graph) if isinstance(graph, Path) else graph
    session = onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    return list(session.run(None, inputs))
