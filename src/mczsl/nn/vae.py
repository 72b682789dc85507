"""Variational auto-encoders: Gaussian encoders, decoders, and the distances between Gaussians."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass(frozen=True, eq=False)
class Gaussian:
    """A Gaussian with independent dimensions for each sample: ``mean``, ``log_variance`` (n, z)."""

    mean: Tensor
    log_variance: Tensor

    @property
    def deviation(self) -> Tensor:
        """The standard deviation of every dimension."""
        return (self.log_variance / 2).exp()

    def sample(self, generator: torch.Generator) -> Tensor:
        """One draw for each sample, through which gradients flow (Kingma and Welling 2014)."""
        noise = torch.randn(self.mean.shape, generator=generator).to(self.mean.device)
        return self.mean + self.deviation * noise

    def divergence(self) -> Tensor:
        """Kullback-Leibler divergence from the standard Gaussian, (n,)."""
        spread = self.log_variance.exp() - self.log_variance - 1
        return (self.mean.square() + spread).sum(dim=1) / 2

    def distance(self, other: Gaussian) -> Tensor:
        """2-Wasserstein distance, (n,).

        >>> a = Gaussian(torch.tensor([[3.0, 0.0]]), torch.zeros(1, 2))
        >>> b = Gaussian(torch.tensor([[0.0, 4.0]]), torch.zeros(1, 2))
        >>> a.distance(b)
        tensor([5.])
        """
        both = torch.cat([self.mean - other.mean, self.deviation - other.deviation], dim=1)
        found: Tensor = torch.linalg.vector_norm(both, dim=1)
        return found


class GaussianEncoder(nn.Module):
    """Linear ReLU Linear to the mean and the log-variance of a latent Gaussian."""

    def __init__(self, inputs: int, hidden: int, latent: int):
        super().__init__()
        self.layers = perceptron(inputs, hidden, 2 * latent)

    def forward(self, inputs: Tensor) -> Gaussian:
        """(n, inputs) -> a Gaussian over (n, latent)."""
        mean, log_variance = self.layers(inputs).chunk(2, dim=1)
        return Gaussian(mean, log_variance)


def perceptron(inputs: int, hidden: int, outputs: int) -> nn.Sequential:
    """Linear ReLU Linear."""
    return nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, outputs))
