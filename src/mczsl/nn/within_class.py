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
WIDEST = 4096  # beyond that a matrix of D x D is too much to ask for
_LEAST = 1e-10  # of the squared deviations of unit vectors: less is rounding
_MEASURED = 512  # vectors that tell the usual length


class WithinClassMetric:
    """Sums up deviations from class means, and gives a map T with ``T T' = metric``."""

    def __init__(self, width: int, device: str = "cpu"):
        self.scatter = torch.zeros(width, width, device=device)
        self.freedom = torch.zeros((), dtype=torch.float64)
        self.length = torch.ones((), device=device)
        self._map: Tensor | None = None

    @property
    def map(self) -> Tensor:
        """The map T, (D, D); it is found when it is needed."""
        if self._map is None:
            self._map = self._solve() / self.length
        return self._map

    def add(self, vectors: Tensor, means: Tensor, freedom: float) -> None:
        """Take in unit-length vectors (n, D) and the mean of each one's class (n, D).

        ``freedom`` is how many of the deviations are not bound to add up to zero.
        """
        deviations = vectors - means
        self.scatter = self.scatter + deviations.T @ deviations
        self.freedom = self.freedom + freedom
        # Products should stay about as large as cosines are.
        unscaled = self._solve()
        lengths = torch.linalg.vector_norm(vectors[:_MEASURED] @ unscaled, dim=1)
        self.length = lengths.mean().clamp_min(1e-12)
        self._map = unscaled / self.length

    def state(self) -> dict[str, Tensor]:
        """The tensors that decide the map."""
        return {
            "scatter": self.scatter.cpu(),
            "freedom": self.freedom,
            "length": self.length.to("cpu", copy=True),
        }

    def load_state(self, state: dict[str, Tensor]) -> None:
        """Take over what :meth:`state` gave."""
        device = self.scatter.device
        self.scatter, self.length = state["scatter"].to(device), state["length"].to(device)
        self.freedom, self._map = state["freedom"], None

    def _solve(self) -> Tensor:
        identity = torch.eye(len(self.scatter), device=self.scatter.device)
        diagonal = self.scatter.diagonal()
        used = int((diagonal > 0).sum())  # a column without deviations says nothing of the others
        if not used or not self.freedom > 0 or diagonal.sum() / used < _LEAST * self.freedom:
            return identity  # one sample of each class, or all of a class alike
        doubt = SHRINKAGE * (1 + used / float(self.freedom))
        factor = torch.linalg.cholesky(identity + self.scatter * (used / diagonal.sum() / doubt))
        found: Tensor = torch.linalg.solve_triangular(factor, identity, upper=False).T.contiguous()
        return found
