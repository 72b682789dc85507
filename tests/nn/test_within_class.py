"""The metric that plays down what varies inside of classes."""

import pytest
import torch

from mczsl.nn.within_class import SHRINKAGE, WithinClassMetric

WIDTH = 6


def spread_out(
    n: int, deviations: torch.Tensor, seed: int = 0
) -> tuple[torch.Tensor, torch.Tensor]:
    """Vectors of one class around a mean, with these deviations along the axes."""
    generator = torch.Generator().manual_seed(seed)
    mean = torch.ones(WIDTH)
    return mean + deviations * torch.randn(n, WIDTH, generator=generator), mean.expand(n, -1)


def test_the_map_is_a_root_of_the_metric() -> None:
    metric = WithinClassMetric(WIDTH)
    vectors, means = spread_out(50, torch.linspace(0.1, 2, WIDTH))
    metric.add(vectors, means, freedom=49)
    deviations = vectors - means
    W = deviations.T @ deviations
    w = W.diagonal().mean()
    expected = torch.linalg.inv(torch.eye(WIDTH) + W / (SHRINKAGE * (1 + WIDTH / 49) * w))
    found = metric.map @ metric.map.T * metric.length**2
    assert torch.allclose(found, expected, atol=1e-5)


def test_what_varies_inside_of_classes_counts_less() -> None:
    metric = WithinClassMetric(WIDTH)
    metric.add(*spread_out(500, torch.tensor([20.0, 1, 1, 1, 1, 1])), freedom=499)
    along = torch.linalg.vector_norm(metric.map, dim=1)
    assert along[0] < 0.9 * along[1:].min()


def test_lengths_stay_as_they_were_on_average() -> None:
    metric = WithinClassMetric(WIDTH)
    vectors, means = spread_out(100, torch.linspace(0.1, 2, WIDTH))
    vectors = torch.nn.functional.normalize(vectors, dim=1)
    metric.add(vectors, means, freedom=99)
    lengths = torch.linalg.vector_norm(vectors @ metric.map, dim=1)
    assert lengths.mean().item() == pytest.approx(1, abs=1e-5)


def test_tasks_add_up() -> None:
    vectors, means = spread_out(60, torch.linspace(0.1, 2, WIDTH))
    parts, whole = WithinClassMetric(WIDTH), WithinClassMetric(WIDTH)
    parts.add(vectors[:20], means[:20], freedom=19)
    parts.add(vectors[20:], means[20:], freedom=38)
    whole.add(vectors, means, freedom=57)
    assert torch.allclose(parts.scatter, whole.scatter, rtol=1e-5)
    assert parts.freedom == whole.freedom == 57


@pytest.mark.parametrize("rounding", [0.0, 1e-8])
@pytest.mark.parametrize("freedom", [0.0, 3.0])
def test_without_deviations_there_is_no_map(freedom: float, rounding: float) -> None:
    metric = WithinClassMetric(WIDTH)
    vectors = torch.eye(WIDTH)[:4]
    metric.add(vectors, vectors + rounding, freedom)
    assert torch.equal(metric.map, torch.eye(WIDTH))


def test_columns_of_zeros_change_nothing() -> None:
    narrow, wide = WithinClassMetric(WIDTH), WithinClassMetric(WIDTH + 10)
    vectors, means = spread_out(50, torch.linspace(0.1, 2, WIDTH))
    narrow.add(vectors, means, freedom=49)
    wide.add(*(torch.nn.functional.pad(each, (0, 10)) for each in (vectors, means)), freedom=49)
    assert torch.allclose(wide.map[:WIDTH, :WIDTH], narrow.map, atol=1e-6)


def test_a_state_gives_the_same_map() -> None:
    metric, again = WithinClassMetric(WIDTH), WithinClassMetric(WIDTH)
    metric.add(*spread_out(30, torch.linspace(0.1, 2, WIDTH)), freedom=28)
    again.load_state(metric.state())
    assert torch.equal(metric.map, again.map)
