"""Scaled class normalisation: ``(h - alpha * mu) / (beta * sigma)`` with learned scalars."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

EPSILON = 1e-5


class ScaledNorm(nn.Module):
    """Normalises class embeddings and learns how much of the mean and deviation to take out.

    ``over="features"`` takes mu and sigma over each class's own dimensions: nothing to remember,
    and a class's result does not depend on which other classes exist. ``over="classes"`` takes them
    over the classes of the batch, dimension by dimension, and uses running averages at test time.
    ``scaled=False`` fixes alpha and beta at 1.
    """

    mean: Tensor
    variance: Tensor

    def __init__(
        self,
        width: int,
        over: Literal["classes", "features"],
        scaled: bool = True,
        momentum: float = 0.1,
    ):
        super().__init__()
        self.over, self.momentum = over, momentum
        self.alpha = nn.Parameter(torch.ones(()), requires_grad=scaled)
        self.beta = nn.Parameter(torch.ones(()), requires_grad=scaled)
        if over == "classes":
            self.register_buffer("mean", torch.zeros(width))
            self.register_buffer("variance", torch.ones(width))

    def forward(self, hidden: Tensor) -> Tensor:
        """(n, width) -> (n, width)."""
        if self.over == "features":
            mean = hidden.mean(dim=1, keepdim=True)
            variance = (hidden - mean).square().mean(dim=1, keepdim=True)  # faster than var_mean
        elif self.training and len(hidden) > 1:
            variance, mean = torch.var_mean(hidden, dim=0, correction=0)
            with torch.no_grad():
                self.mean.lerp_(mean, self.momentum)
                self.variance.lerp_(variance, self.momentum)
        else:  # one class alone has no deviation: the running one serves
            variance, mean = self.variance, self.mean
        return (hidden - self.alpha * mean) * ((variance + EPSILON).rsqrt() / self.beta)
