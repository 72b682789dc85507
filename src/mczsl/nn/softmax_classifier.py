"""A linear softmax classifier that is trained on generated samples."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy


def train_softmax(
    draw: Callable[[], Tensor], class_weights: Tensor, steps: int, rate: float
) -> nn.Linear:
    """Train on fresh samples from ``draw``, (shots, classes, width), with Adam.

    Every step has as many samples of each class as of any other, and the weights start at zero, so
    that neither the order nor the numbers of the classes matter.
    """
    with torch.enable_grad():
        shots, classes, width = draw().shape
        linear: nn.Linear = nn.utils.skip_init(
            nn.Linear, width, classes, device=class_weights.device
        )
        nn.init.zeros_(linear.weight)
        nn.init.zeros_(linear.bias)
        targets = torch.arange(classes, device=class_weights.device).repeat(shots)
        adam = torch.optim.Adam(linear.parameters(), lr=rate, fused=True)
        for _ in range(steps):
            adam.zero_grad(set_to_none=True)
            logits = linear(draw().flatten(end_dim=1))
            cross_entropy(logits, targets, weight=class_weights).backward()
            adam.step()
    linear.requires_grad_(False)
    return linear
