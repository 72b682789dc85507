"""Gaussians against torch.distributions, and draws through which gradients flow."""

import torch
from torch.distributions import Normal, kl_divergence

from mczsl.nn.vae import Gaussian, GaussianEncoder


def random(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def gaussian(seed: int) -> Gaussian:
    return Gaussian(random(5, 3, seed=seed), random(5, 3, seed=seed + 100))


def test_divergence_from_the_standard_gaussian() -> None:
    q = gaussian(0)
    reference = kl_divergence(Normal(q.mean, q.deviation), Normal(torch.zeros(3), torch.ones(3)))
    torch.testing.assert_close(q.divergence(), reference.sum(dim=1))
    nothing = Gaussian(torch.zeros(2, 3), torch.zeros(2, 3))
    assert torch.equal(nothing.divergence(), torch.zeros(2))


def test_distance_is_a_metric() -> None:
    a, b, c = gaussian(0), gaussian(1), gaussian(2)
    assert torch.equal(a.distance(a), torch.zeros(5))
    torch.testing.assert_close(a.distance(b), b.distance(a))
    assert (a.distance(c) <= a.distance(b) + b.distance(c) + 1e-6).all()


def test_equal_gaussians_give_no_infinite_gradient() -> None:
    mean = torch.zeros(1, 3, requires_grad=True)
    Gaussian(mean, torch.zeros(1, 3)).distance(gaussian(0)).sum().backward()
    same = Gaussian(mean, torch.zeros(1, 3))
    same.distance(Gaussian(torch.zeros(1, 3), torch.zeros(1, 3))).sum().backward()
    assert mean.grad is not None
    assert mean.grad.isfinite().all()


def test_draws_have_the_mean_and_the_deviation() -> None:
    q = Gaussian(torch.full((20000, 1), 3.0), torch.full((20000, 1), 2.0).log() * 2)
    drawn = q.sample(torch.Generator().manual_seed(0))
    assert abs(drawn.mean().item() - 3) < 0.05
    assert abs(drawn.std().item() - 2) < 0.05


def test_gradients_flow_through_a_draw() -> None:
    encoder = GaussianEncoder(4, 8, 2)
    encoder(random(6, 4)).sample(torch.Generator()).sum().backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in encoder.parameters())
