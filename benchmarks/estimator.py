"""(f) The classifier: prediction against a bare product, 10,000 new classes, loading a model."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.timing import in_turns, seconds
from mczsl import ZeroShotClassifier

FEATURES, ATTRIBUTES, CLASSES, ROWS = 2048, 312, 1000, 100_000
FIRST_PREDICTION = """
import sys
import numpy as np
from mczsl import ZeroShotClassifier
ZeroShotClassifier.load(sys.argv[1]).predict(np.load(sys.argv[2]))
print("done", flush=True)
"""
BARE_IMPORTS = "import torch, sklearn.base; print('done', flush=True)"


def _until_done(program: str, *arguments: str) -> None:
    """Start a process, and wait until it says that it is done."""
    command = [sys.executable, "-c", program, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        if process.stdout.readline() != "done\n":
            raise RuntimeError("the process failed")
        process.kill()  # how long it takes to leave does not matter


def run() -> dict[str, Any]:
    """Seconds, and the ratio of predict to torch.mm on the same sizes."""
    generator = np.random.default_rng(0)
    X = generator.random((ROWS, FEATURES), dtype=np.float32)
    table = generator.random((CLASSES, ATTRIBUTES), dtype=np.float32)
    names = [f"class {number}" for number in range(CLASSES)]
    attributes = dict(zip(names, table, strict=True))
    model = ZeroShotClassifier(class_attributes=attributes, settings={"epochs": 1})
    model.fit(X[:1000], np.array(names)[np.arange(1000) % 100])
    weights, out = torch.rand(FEATURES, CLASSES), torch.empty(ROWS, CLASSES)
    bare, ours = in_turns(
        lambda: torch.mm(torch.from_numpy(X), weights, out=out),
        lambda: model.predict(X),
        rounds=3,
    )
    result = {"predict_to_gemm": ours / bare, "rows_per_second": ROWS / ours}
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model")
        np.save(Path(folder) / "X.npy", X[:100])
        files = [str(Path(folder) / name) for name in ("model", "X.npy")]
        imports, whole = in_turns(
            lambda: _until_done(BARE_IMPORTS), lambda: _until_done(FIRST_PREDICTION, *files), 3
        )
        result["load_and_first_prediction_seconds"] = whole
        result["of_which_import_torch_and_sklearn"] = imports
    more = generator.random((10_000, ATTRIBUTES), dtype=np.float32)
    new = [f"new {number}" for number in range(10_000)]
    result["add_10000_classes_seconds"] = seconds(lambda: model.add_classes(new, attributes=more))
    result["first_prediction_after_seconds"] = seconds(lambda: model.predict(X[:100]))
    return result
