"""Scaled class normalisation: ``(h - alpha * mu) / (beta * sigma)`` with learned scalars."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

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
            normalise: Callable[[Tensor, Tensor, Tensor], Tensor] = _OverFeatures.apply
            return normalise(hidden, self.alpha, self.beta)
        hidden = hidden.to(self.mean.dtype)  # statistics of bfloat16 would be too rough
        if self.training and len(hidden) > 1:
            variance, mean = torch.var_mean(hidden, dim=0, correction=0)
            with torch.no_grad():
                self.mean.lerp_(mean, self.momentum)
                self.variance.lerp_(variance, self.momentum)
        else:  # one class alone has no deviation: the running one serves
            variance, mean = self.variance, self.mean
        return (hidden - self.alpha * mean) * ((variance + EPSILON).rsqrt() / self.beta)


class _OverFeatures(torch.autograd.Function):
    """The same over each row's own dimensions, with its gradient in few operations.

    With c = h - mu, r = 1 / sigma and y = (h - alpha mu) r / beta, a gradient g of y becomes

        r / beta (g - alpha mean(g) - c r^2 mean(g (h - alpha mu)))     for h
        -sum(g mu r) / beta                                             for alpha
        -sum(g y) / beta                                                for beta
    """

    @staticmethod
    def forward(ctx: Any, hidden: Tensor, alpha: Tensor, beta: Tensor) -> Tensor:
        mean = hidden.mean(dim=1, keepdim=True)
        centred = hidden - mean
        factor = (centred.square().mean(dim=1, keepdim=True) + EPSILON).rsqrt()
        shifted = centred + (1 - alpha) * mean
        ctx.save_for_backward(centred, shifted, mean, factor, alpha, beta)
        return shifted * (factor / beta)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        centred, shifted, mean, factor, alpha, beta = ctx.saved_tensors
        total = gradient.sum(dim=1, keepdim=True)
        along = (gradient * shifted).sum(dim=1, keepdim=True)
        width = gradient.shape[1]
        pulled = gradient - (alpha / width) * total - centred * (factor.square() * along / width)
        for_alpha, for_beta = -(total * mean * factor).sum() / beta, -(along * factor).sum()
        return pulled * (factor / beta), for_alpha, for_beta / beta.square()
