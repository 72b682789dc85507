"""Cosine logits between samples and class prototypes."""

import torch
from torch import Tensor
from torch.nn.functional import normalize


def scale_attributes(attributes: Tensor) -> Tensor:
    """Every class's attributes with unit length times the root of their number."""
    return normalize(attributes, dim=1) * attributes.shape[1] ** 0.5


def cosine_logits(features: Tensor, prototypes: Tensor, scale: float | Tensor) -> Tensor:
    """``scale * cos(x, p)`` for every sample and class, (n, c)."""
    return torch.mm(normalize(features, dim=1) * scale, normalize(prototypes, dim=1).T)
