"""Class normalisation against NumPy by hand."""

import numpy as np
import torch

from mczsl.nn.class_norm import EPSILON, ClassNorm


def random(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def test_in_training_it_divides_by_the_variance_over_the_classes() -> None:
    hidden = random(7, 3) * 4 + 1
    rows = hidden.numpy()
    expected = (rows - rows.mean(axis=0)) / (rows.var(axis=0, ddof=1) + EPSILON)
    assert np.allclose(ClassNorm(3)(hidden), expected, atol=1e-5)


def test_at_test_time_running_averages_serve() -> None:
    norm, mean, variance = ClassNorm(3), np.zeros(3), np.ones(3)
    for seed in range(4):
        hidden = random(6, 3, seed=seed) + seed
        norm(hidden)
        mean = 0.9 * mean + 0.1 * hidden.numpy().mean(axis=0)
        variance = 0.9 * variance + 0.1 * hidden.numpy().var(axis=0, ddof=1)
    hidden = random(5, 3, seed=9)
    expected = (hidden.numpy() - mean) / (variance + EPSILON)
    assert np.allclose(norm.eval()(hidden), expected, atol=1e-5)
    assert np.allclose(norm(hidden[:1]), expected[:1], atol=1e-5)  # whatever stands beside it


def test_one_class_alone_is_normalised_by_what_is_known() -> None:
    norm = ClassNorm(3)
    norm(random(6, 3))
    before = norm.mean.clone(), norm.variance.clone()
    alone = norm(random(1, 3, seed=1))
    assert alone.isfinite().all()
    assert torch.equal(alone, norm.eval()(random(1, 3, seed=1)))
    assert torch.equal(norm.mean, before[0])
    assert torch.equal(norm.variance, before[1])
