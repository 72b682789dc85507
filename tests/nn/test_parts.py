"""The parts of the net, against NumPy by hand."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mczsl.nn.attributes import scale_attributes
from mczsl.nn.scaled_norm import EPSILON, ScaledNorm
from mczsl.nn.self_gating import SelfGating


def random(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


# ---------------------------------------------------------------- self-gating


def test_self_gating_is_equation_1() -> None:
    gating = SelfGating(5, 4)
    attributes = random(3, 5)
    weight, bias = (parameter.detach().numpy() for parameter in gating.parameters())
    layers = np.split(weight, 3), np.split(bias, 3)
    phi_a, phi_s, phi_b = (attributes.numpy() @ w.T + b for w, b in zip(*layers, strict=True))
    expected = np.maximum(phi_a, 0) / (1 + np.exp(-phi_s)) + np.maximum(phi_b, 0)
    assert np.allclose(gating(attributes).detach(), expected, atol=1e-6)


def test_self_gating_by_numbers() -> None:
    gating = SelfGating(1, 1)
    with torch.no_grad():
        gating.layers.weight.copy_(torch.tensor([[2.0], [math.log(3)], [-1.0]]))
        gating.layers.bias.copy_(torch.tensor([0.0, 0.0, 3.0]))
    # a = 1: 2 * sigmoid(ln 3) + (3 - 1) = 2 * 3/4 + 2
    assert gating(torch.tensor([[1.0]])).item() == pytest.approx(3.5)
    # a = -1: 0 * sigmoid(-ln 3) + (3 + 1)
    assert gating(torch.tensor([[-1.0]])).item() == pytest.approx(4.0)


def test_a_shut_gate_hides_the_first_branch() -> None:
    gating = SelfGating(1, 1)
    with torch.no_grad():
        gating.layers.weight.copy_(torch.tensor([[5.0], [0.0], [0.0]]))
        gating.layers.bias.copy_(torch.tensor([0.0, -100.0, 0.0]))
    assert gating(torch.tensor([[1.0], [9.0]])).abs().max() < 1e-6


# ---------------------------------------------------------------- scaled normalisation


@pytest.mark.parametrize(("over", "axis"), [("features", 1), ("classes", 0)])
@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 1.0), (0.3, 2.0), (-1.0, -0.5)])
def test_scaled_norm_against_numpy(over: str, axis: int, alpha: float, beta: float) -> None:
    norm = ScaledNorm(6, over)
    with torch.no_grad():
        norm.alpha.fill_(alpha)
        norm.beta.fill_(beta)
    hidden = 3 * random(4, 6) + 1
    values = hidden.numpy()
    mean, variance = values.mean(axis, keepdims=True), values.var(axis, keepdims=True)
    expected = (values - alpha * mean) / (beta * np.sqrt(variance + EPSILON))
    assert np.allclose(norm(hidden).detach(), expected, atol=1e-5)


def test_over_features_a_class_does_not_depend_on_the_others() -> None:
    norm, hidden = ScaledNorm(6, "features"), random(4, 6)
    alone = torch.cat([norm(row[None]) for row in hidden])
    assert torch.allclose(norm(hidden), alone, atol=1e-6)
    assert torch.equal(norm(hidden), norm.eval()(hidden)), "training and test differ"
    assert not list(norm.buffers())


def test_over_classes_running_statistics_serve_at_test_time() -> None:
    norm = ScaledNorm(2, "classes", momentum=0.25)
    hidden = torch.tensor([[0.0, 4.0], [2.0, 4.0]])  # mean (1, 4), variance (1, 0)
    norm(hidden)
    assert torch.allclose(norm.mean, torch.tensor([0.25, 1.0]))
    assert torch.allclose(norm.variance, torch.tensor([1.0, 0.75]))
    norm(hidden)
    assert torch.allclose(norm.mean, torch.tensor([0.25 * 0.75 + 0.25, 1.75]))
    before = norm.mean.clone(), norm.variance.clone()
    tested = norm.eval()(torch.tensor([[1.0, 1.0]]))
    expected = (1 - before[0]) / (before[1] + EPSILON).sqrt()
    assert torch.allclose(tested[0], expected)
    assert torch.equal(norm.mean, before[0]), "testing changed the running statistics"
    assert torch.equal(norm.variance, before[1])
    state = norm.state_dict()
    assert {"mean", "variance"} <= state.keys(), "running statistics must be stored"


@pytest.mark.parametrize("over", ["features", "classes"])
@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 1.0), (0.3, -2.0)])
def test_gradients_against_differences(over: str, alpha: float, beta: float) -> None:
    norm = ScaledNorm(5, over).double()

    def normalise(hidden: torch.Tensor, *scalars: torch.Tensor) -> torch.Tensor:
        return torch.func.functional_call(
            norm, dict(zip(("alpha", "beta"), scalars, strict=True)), hidden
        )

    inputs = random(4, 5).double(), torch.tensor(alpha).double(), torch.tensor(beta).double()
    assert torch.autograd.gradcheck(normalise, [each.requires_grad_() for each in inputs])


@pytest.mark.parametrize("over", ["features", "classes"])
def test_one_class_alone_is_finite(over: str) -> None:
    norm = ScaledNorm(3, over)
    for hidden in (torch.ones(1, 3), torch.zeros(1, 3), random(1, 3)):
        result = norm(hidden.requires_grad_())
        assert result.isfinite().all()
        result.sum().backward()
        assert hidden.grad is not None
        assert hidden.grad.isfinite().all()


@pytest.mark.parametrize("over", ["features", "classes"])
def test_equal_values_are_finite_and_have_finite_gradients(over: str) -> None:
    hidden = torch.full((3, 3), 2.0, requires_grad=True)
    ScaledNorm(3, over)(hidden).sum().backward()
    assert hidden.grad is not None
    assert hidden.grad.isfinite().all()


def test_unscaled_leaves_alpha_and_beta_at_one() -> None:
    norm = ScaledNorm(3, "features", scaled=False)
    norm(random(2, 3).requires_grad_()).sum().backward()
    assert norm.alpha.grad is norm.beta.grad is None
    scaled = ScaledNorm(3, "features")
    scaled(random(2, 3)).square().sum().backward()
    assert scaled.alpha.grad is not None
    assert scaled.beta.grad is not None


# ---------------------------------------------------------------- attributes


@given(st.integers(1, 6), st.floats(0.01, 100))
def test_scaled_attributes_have_root_mean_square_one(width: int, factor: float) -> None:
    attributes = random(4, width, seed=width) + 0.01
    scaled = scale_attributes(attributes)
    assert torch.allclose(scaled.square().mean(dim=1), torch.ones(4), atol=1e-4)
    assert torch.allclose(scale_attributes(attributes * factor), scaled, atol=1e-4)


def test_attributes_of_zeros_stay_finite() -> None:
    assert torch.equal(scale_attributes(torch.zeros(2, 3)), torch.zeros(2, 3))
