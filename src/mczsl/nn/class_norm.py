"""Class normalisation (Skorokhodov and Elhoseiny 2021)."""

import torch
from torch import Tensor, nn

EPSILON = 1e-5


class ClassNorm(nn.Module):
    """``(h - mean) / (variance + epsilon)`` per dimension, over the classes of the batch.

    It divides by the variance, not by the deviation: that is what gives the logits of an attribute
    net a constant variance, whatever the attributes are. At test time running averages serve, and
    also for one class alone, which has no variance.
    """

    mean: Tensor
    variance: Tensor

    def __init__(self, width: int, momentum: float = 0.1):
        super().__init__()
        self.momentum = momentum
        self.register_buffer("mean", torch.zeros(width))
        self.register_buffer("variance", torch.ones(width))

    def forward(self, hidden: Tensor) -> Tensor:
        """(n, width) -> (n, width)."""
        hidden = hidden.to(self.mean.dtype)  # statistics of bfloat16 would be too rough
        mean, variance = self.mean, self.variance
        if self.training and len(hidden) > 1:
            variance, mean = torch.var_mean(hidden, dim=0)
            with torch.no_grad():
                self.mean.lerp_(mean, self.momentum)
                self.variance.lerp_(variance, self.momentum)
        return (hidden - mean) / (variance + EPSILON)
