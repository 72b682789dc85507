"""NM-ZSL: class normalisation for zero-shot learning.

Skorokhodov and Elhoseiny, "Class normalization for (continual)? generalized zero-shot learning",
2021. A net from attributes to prototypes whose normalisation and last layer are chosen such that
the logits keep a constant variance:

    Linear ReLU Linear CN ReLU CN Linear ReLU,   CN(h) = (h - mean) / (variance + epsilon)
    weights of the last layer from U(-b, b),     b = sqrt(3 / (hidden D))

with mean and variance of each dimension over the classes, and logits 25 cos(x, prototype). It is
trained on batches with Adam; in a continual run the batches come from the task and a reservoir.
"""

from __future__ import annotations

import math
from typing import ClassVar, Literal

import torch
from pydantic import Field
from torch import nn

from mczsl.methods.base import Scorer
from mczsl.methods.batches import BatchConfig, BatchTrainedMethod
from mczsl.methods.registry import register_method
from mczsl.nn.class_norm import ClassNorm
from mczsl.protocols import ClassSet

PUBLISHED_FACTOR = 0.95


class NMZSLConfig(BatchConfig):
    """Settings of NM-ZSL; the defaults are the published ones."""

    calibration: Literal["none", "auto", "published"] = Field(  # type: ignore[assignment]
        "none", description="`published`: seen scores times 0.95, chosen by hand, as in its code"
    )


@register_method("nm_zsl")
class NMZSL(BatchTrainedMethod):
    """Class normalisation: an attribute net whose logits keep a constant variance."""

    Config = NMZSLConfig
    config: NMZSLConfig
    presets: ClassVar[dict[str, dict[str, object]]] = {"paper": {}}

    def build_net(self) -> nn.Module:
        """Three linear layers, normalised around the second ReLU."""
        hidden, feature_dim = self.config.hidden, self.setting.feature_dim
        last = nn.Linear(hidden, feature_dim)
        bound = math.sqrt(3 / (hidden * feature_dim))
        nn.init.uniform_(last.weight, -bound, bound)
        return nn.Sequential(
            *(nn.Linear(self.setting.attribute_dim, hidden), nn.ReLU()),
            *(nn.Linear(hidden, hidden), ClassNorm(hidden), nn.ReLU(), ClassNorm(hidden)),
            *(last, nn.ReLU()),
        )

    def scorer(self, classes: ClassSet) -> Scorer:
        """Cosines to the prototypes, those of seen classes reduced where that is asked for."""
        score = super().scorer(classes)
        if self.config.calibration != "published":
            return score
        factor = torch.where(torch.isin(classes.ids, self.seen), PUBLISHED_FACTOR, 1.0)
        factor = factor.to(self.setting.device)
        return lambda features: score(features) * factor
