"""Attributes as nets take them."""

import math

from torch import Tensor
from torch.nn.functional import normalize


def scale_attributes(attributes: Tensor) -> Tensor:
    """Every class's attributes with unit length times the root of their number."""
    return normalize(attributes, dim=1) * math.sqrt(attributes.shape[1])
