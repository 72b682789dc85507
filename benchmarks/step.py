"""(a) A training step against a bare sequence of the same matrix products."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from benchmarks.timing import in_turns
from benchmarks.worlds import make_classes, make_method, make_task

SHAPES = {"CUB effnetlite0 att": (1280, 312), "CUB res101 att": (2048, 312)}
CLASSES, PER_CLASS, EPISODES = 150, 47, 20


class ProductRecorder(TorchDispatchMode):
    """Notes the shapes of every matrix product that runs inside it."""

    def __init__(self) -> None:
        super().__init__()
        self.products: list[tuple[Any, Any, Any]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.overloadpacket.__name__
        result = func(*args, **(kwargs or {}))
        if name in ("mm", "addmm", "bmm"):
            self.products.append((args[-2].shape, args[-1].shape, result.shape))
        return result


def run() -> dict[str, Any]:
    """The share of a step's time that its matrix products alone would take."""
    return {name: _share(*dims) for name, dims in SHAPES.items()}


def _share(feature_dim: int, attribute_dim: int) -> dict[str, Any]:
    classes = make_classes(CLASSES, attribute_dim)
    task = make_task(classes, feature_dim, PER_CLASS)

    def learner(epochs: int) -> Any:
        settings = {"epochs": epochs, "episodes": EPISODES, "calibration": "none"}
        return make_method(feature_dim, attribute_dim, **settings).learn(task)

    recorded = learner(2)
    next(recorded)  # what is prepared once for a task is no part of a step
    with ProductRecorder() as recorder:
        next(recorded)
    products = [
        (torch.rand(left), torch.rand(right), torch.empty(out))
        for left, right, out in recorder.products
    ]

    def bare() -> None:
        for left, right, out in products:
            torch.matmul(left, right, out=out)

    epochs = learner(1000)
    bare_seconds, step_seconds = in_turns(bare, lambda: next(epochs), rounds=7)
    flops = sum(2 * out.numel() * left[-1] for left, _, out in recorder.products) / EPISODES
    return {
        "share_of_gemm_rate": bare_seconds / step_seconds,
        "milliseconds_per_episode": 1000 * step_seconds / EPISODES,
        "gigaflops_per_episode": flops / 1e9,
    }
