"""Attribute self-gating (the paper's equation 1)."""

from torch import Tensor, nn


class SelfGating(nn.Module):
    """``ReLU(Phi_a(a)) * sigmoid(Phi_s(a)) + ReLU(Phi_b(a))``, each Phi one linear layer.

    The sigmoid weighs every dimension of the first branch, so that noisy ones can be shut; the
    last branch is a learned bias. The three layers are one matrix product.
    """

    def __init__(self, attribute_dim: int, hidden: int):
        super().__init__()
        self.layers = nn.Linear(attribute_dim, 3 * hidden)

    def forward(self, attributes: Tensor) -> Tensor:
        """(n, attribute_dim) -> (n, hidden)."""
        value, gate, bias = self.layers(attributes).chunk(3, dim=1)
        gated: Tensor = value.relu() * gate.sigmoid() + bias.relu()
        return gated
