"""The classifier on generated samples: it separates, it weighs, and order means nothing."""

import torch
from torch import Tensor

from mczsl.nn.softmax_classifier import train_softmax

MEANS = torch.tensor([[3.0, 0.0, 0.0], [0.0, 3.0, 0.0], [0.0, 0.0, 3.0], [2.0, 2.0, 2.0]])


def trained(means: Tensor, weights: Tensor | None = None, noise: float = 0.5) -> torch.nn.Linear:
    generator = torch.Generator().manual_seed(0)

    def draw() -> Tensor:
        return means + noise * torch.randn(5, 1, means.shape[1], generator=generator)

    return train_softmax(draw, torch.ones(len(means)) if weights is None else weights, 300, 0.05)


def test_it_separates_the_classes() -> None:
    points = MEANS + 0.5 * torch.randn(200, 4, 3, generator=torch.Generator().manual_seed(1))
    assert (trained(MEANS)(points).argmax(dim=2) == torch.arange(4)).float().mean() > 0.95


def test_the_order_of_the_classes_means_nothing() -> None:
    order = torch.tensor([2, 0, 3, 1])
    found, permuted = trained(MEANS), trained(MEANS[order])
    # Not to the last digits: Adam makes whole steps of what rounding leaves of a gradient of zero.
    torch.testing.assert_close(found.weight[order], permuted.weight, rtol=0, atol=0.02)
    torch.testing.assert_close(found.bias[order], permuted.bias, rtol=0, atol=0.02)


def test_a_heavier_class_wins_where_classes_overlap() -> None:
    same = torch.zeros(2, 3)
    heavy = trained(same, torch.tensor([1.0, 3.0]))(torch.zeros(1, 3)).softmax(dim=1)
    torch.testing.assert_close(heavy, torch.tensor([[0.25, 0.75]]), atol=0.05, rtol=0)


def test_it_trains_where_gradients_are_off() -> None:
    with torch.no_grad():
        linear = trained(MEANS)
    assert linear.weight.abs().max() > 0.1
    assert not linear.weight.requires_grad
