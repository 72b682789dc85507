"""A linear map that plays down the directions in which samples of one class differ anyway.

With W the covariance of samples around the mean of their class, w the mean of its diagonal, D its
width and n the samples that it was estimated from, vectors are compared in the metric

    (I + W / (10 (1 + D / n) w))^-1

which leaves most directions as they are and shrinks those with far more than the usual spread. The
fewer samples there are, the less it does. W is a sum over samples, so every task adds to it.
"""

from __future__ import annotations

import torch
from torch import Tensor

SHRINKAGE = 10.0  # chosen on validation classes; a smaller one trusts W more


class WithinClassMetric:
    """Sums up deviations from class means, and gives a map T with ``T T' = metric``."""

    def __init__(self, width: int, device: str = "cpu"):
        self.scatter = torch.zeros(width, width, device=device)
        self.count = torch.zeros((), dtype=torch.int64)
        self.length = torch.ones((), device=device)
        self.map = self._solve()

    def add(self, vectors: Tensor, means: Tensor, classes: int) -> None:
        """Take in unit-length vectors (n, D) and each one's class mean (n, D), of some classes."""
        deviations = vectors - means
        self.scatter = self.scatter + deviations.T @ deviations
        self.count = self.count + max(0, len(vectors) - classes)
        unscaled = self._solve()
        # Products should stay about as large as cosines are.
        self.length = torch.linalg.vector_norm(vectors @ unscaled, dim=1).mean()
        self.map = unscaled / self.length

    def state(self) -> dict[str, Tensor]:
        """The tensors that decide the map."""
        return {
            "scatter": self.scatter.cpu(),
            "count": self.count,
            "length": self.length.to("cpu", copy=True),
        }

    def load_state(self, state: dict[str, Tensor]) -> None:
        """Take over what :meth:`state` gave."""
        device = self.scatter.device
        self.scatter, self.length = state["scatter"].to(device), state["length"].to(device)
        self.count = state["count"]
        self.map = self._solve() / self.length

    def _solve(self) -> Tensor:
        width = len(self.scatter)
        identity = torch.eye(width, device=self.scatter.device)
        spread = self.scatter.diagonal().mean()
        if not self.count or not spread > 0:  # one sample of each class, or all of a class alike
            return identity
        doubt = SHRINKAGE * (1 + width / self.count)
        factor = torch.linalg.cholesky(identity + self.scatter / (doubt * spread))
        found: Tensor = torch.linalg.solve_triangular(factor, identity, upper=False).T.contiguous()
        return found
