"""The best classes for each sample, however many classes there are."""

from __future__ import annotations

import torch
from torch import Tensor

from mczsl.errors import ConfigError
from mczsl.methods.base import Method
from mczsl.protocols import ClassSet, Samples, TensorSamples

_CLASSES_AT_ONCE = 2**15  # their prototypes and scores are all that has to fit in memory
_FEATURES_AT_ONCE = 2**22  # numbers; few enough for a cache to hold
_SCORES_AT_ONCE = 2**26


@torch.no_grad()
def top_k(
    method: Method, features: Tensor | Samples, classes: ClassSet, k: int = 1
) -> tuple[Tensor, Tensor]:
    """Scores (n, k) and positions in ``classes`` (n, k) of the k best classes, the best first."""
    if not 1 <= k <= len(classes):
        raise ConfigError(f"cannot rank the best {k} of {len(classes)} classes")
    if isinstance(features, Tensor):
        features = TensorSamples(features, torch.empty(len(features), dtype=torch.int64))
    rows = torch.arange(len(features.labels))
    together, width = not method.classes_are_independent, method.setting.feature_dim
    best: tuple[Tensor, Tensor] | None = None
    for chunk in torch.arange(len(classes)).split(len(classes) if together else _CLASSES_AT_ONCE):
        score = method.scorer(classes.select(chunk))
        found = [
            score(features.take(block)).topk(min(k, len(chunk)), dim=1)
            for block in rows.split(rows_at_once(width, len(chunk)))
        ]
        values = torch.cat([block.values for block in found])
        places = torch.cat([block.indices for block in found]) + chunk[0].to(values.device)
        if best is not None:
            values, places = torch.cat([best[0], values], 1), torch.cat([best[1], places], 1)
            values, order = values.topk(min(k, values.shape[1]), dim=1)
            places = places.gather(1, order)
        best = values, places
    assert best is not None
    return best


def rows_at_once(width: int, n_classes: int) -> int:
    """How many samples to score in one go: their features fit a cache, their scores the memory."""
    return max(1, min(_FEATURES_AT_ONCE // width, _SCORES_AT_ONCE // n_classes))
