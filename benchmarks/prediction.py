"""(d) Prediction against one bare matrix product, from 200 to a million classes."""

from __future__ import annotations

from typing import Any

import torch

from benchmarks.timing import in_turns, resident_mb, seconds
from benchmarks.worlds import make_classes, make_method
from mczsl.evaluation.ranking import rows_at_once, top_k

FEATURES, ATTRIBUTES = 2048, 312
SAMPLES = {200: 20_000, 21_000: 2_000, 1_000_000: 200}


def run() -> dict[str, Any]:
    """The share of a bare product's speed that prediction reaches (class side done before)."""
    method = make_method(FEATURES, ATTRIBUTES)
    return {str(classes): _rate(method, classes, samples) for classes, samples in SAMPLES.items()}


def _rate(method: Any, n_classes: int, n_samples: int) -> dict[str, Any]:
    features = torch.rand(n_samples, FEATURES)
    classes = make_classes(n_classes, ATTRIBUTES)
    result: dict[str, Any] = {"samples": n_samples}
    if n_classes <= 21_000:  # the bare product of a million classes would not fit in memory
        weights, out = torch.rand(FEATURES, n_classes), torch.empty(n_samples, n_classes)
        score, blocks = method.scorer(classes), rows_at_once(FEATURES, n_classes)
        bare, ours = in_turns(
            lambda: torch.mm(features, weights, out=out),
            lambda: [score(block).argmax(dim=1) for block in features.split(blocks)],
            rounds=9,
        )
        result |= {"share_of_gemm_rate": bare / ours, "samples_per_second": n_samples / ours}
    elapsed = seconds(lambda: top_k(method, features, classes, k=5))
    return result | {"top_5_with_class_side_seconds": elapsed, "resident_mb": resident_mb()}
