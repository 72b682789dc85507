"""Reptile and plain Adam against a few lines of NumPy."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from mczsl.nn.reptile import PlainAdam, Reptile

START = np.array([[1.0, -2.0, 0.5], [0.1, 0.3, -0.7]])
EPISODES = np.random.default_rng(0).normal(size=(7, 2, 3))  # each pulls towards another target


class Adam:
    """Kingma and Ba's algorithm 1."""

    def __init__(self, rate: float, momentum: float = 0.9):
        self.rate, self.momentum = rate, momentum
        self.reset()

    def reset(self) -> None:
        self.steps, self.first, self.second = 0, np.zeros(START.shape), np.zeros(START.shape)

    def step(self, theta: np.ndarray, gradient: np.ndarray) -> np.ndarray:
        self.steps += 1
        self.first = self.momentum * self.first + (1 - self.momentum) * gradient
        self.second = 0.999 * self.second + 0.001 * gradient**2
        first = self.first / (1 - self.momentum**self.steps)
        second = self.second / (1 - 0.999**self.steps)
        return theta - self.rate * first / (np.sqrt(second) + 1e-8)


def gradient(theta: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Of the sum of (theta - target)**4."""
    return 4 * (theta - target) ** 3


def loss_towards(theta: nn.Parameter, target: np.ndarray) -> Callable[[], Tensor]:
    wanted = torch.from_numpy(target)
    return lambda: (theta - wanted).pow(4).sum()


def anneal_share(episode: int) -> float:
    return 1 - episode / len(EPISODES)


@pytest.mark.parametrize("inner_state", ["second-moment", "keep", "reset"])
@pytest.mark.parametrize("inner_steps", [1, 5])
def test_reptile_against_numpy(inner_state: str, inner_steps: int) -> None:
    theta = nn.Parameter(torch.from_numpy(START.copy()))
    reptile = Reptile([theta], 0.05, 0.02, inner_steps, inner_state)
    expected, outer = START.copy(), Adam(0.05)
    inner = Adam(0.02, momentum=0.0 if inner_state == "second-moment" else 0.9)
    for episode, target in enumerate(EPISODES):
        reptile.anneal(anneal_share(episode))
        outer.rate = 0.05 * anneal_share(episode)
        if inner_state == "reset":
            inner.reset()
        reached = expected.copy()
        for _ in range(inner_steps):
            reached = inner.step(reached, gradient(reached, target))
        told = reptile.step(loss_towards(theta, target))
        assert told.item() == pytest.approx(((expected - target) ** 4).sum()), "not the first loss"
        expected = outer.step(expected, expected - reached)
        assert np.allclose(theta.detach(), expected, rtol=1e-9, atol=1e-12)


def test_the_inner_states_differ() -> None:
    """Otherwise the option would do nothing."""
    ends = []
    for inner_state in ("second-moment", "keep", "reset"):
        theta = nn.Parameter(torch.from_numpy(START.copy()))
        reptile = Reptile([theta], 0.05, 0.02, 3, inner_state)
        for target in EPISODES:
            reptile.step(loss_towards(theta, target))
        ends.append(theta.detach())
    assert not any(torch.allclose(ends[i], ends[j]) for i, j in ((0, 1), (0, 2), (1, 2)))


def test_plain_adam_against_numpy() -> None:
    theta = nn.Parameter(torch.from_numpy(START.copy()))
    plain, expected, adam = PlainAdam([theta], 0.05), START.copy(), Adam(0.05)
    for episode, target in enumerate(EPISODES):
        plain.anneal(anneal_share(episode))
        adam.rate = 0.05 * anneal_share(episode)
        told = plain.step(loss_towards(theta, target))
        assert told.item() == pytest.approx(((expected - target) ** 4).sum())
        expected = adam.step(expected, gradient(expected, target))
        assert np.allclose(theta.detach(), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("make", [lambda p: Reptile(p, 0.1, 0.1, 2), lambda p: PlainAdam(p, 0.1)])
def test_annealed_to_zero_nothing_moves(make: Callable) -> None:
    theta = nn.Parameter(torch.from_numpy(START.copy()))
    learner = make([theta])
    learner.anneal(0.0)
    learner.step(loss_towards(theta, EPISODES[0]))
    assert np.array_equal(theta.detach(), START)
    learner.anneal(1.0)
    learner.step(loss_towards(theta, EPISODES[0]))
    assert not np.array_equal(theta.detach(), START)


@pytest.mark.parametrize("make", [lambda p: Reptile(p, 0.1, 0.1, 2), lambda p: PlainAdam(p, 0.1)])
def test_fixed_and_unused_parameters_stay(make: Callable) -> None:
    theta, fixed, unused = (nn.Parameter(torch.from_numpy(START.copy())) for _ in range(3))
    fixed.requires_grad_(False)
    learner = make([theta, fixed, unused])
    for target in EPISODES[:2]:
        learner.step(loss_towards(theta, target))
    assert np.array_equal(fixed, START)
    assert np.array_equal(unused.detach(), START)


def test_reptile_leads_to_a_start_that_serves_all_episodes() -> None:
    theta = nn.Parameter(torch.from_numpy(START.copy()))
    reptile = Reptile([theta], 0.02, 0.02, 5)
    far = np.abs(EPISODES - START).mean()
    for epoch in range(60):
        reptile.anneal(1 - epoch / 60)
        for target in EPISODES:
            reptile.step(loss_towards(theta, target))
    assert np.abs(EPISODES - theta.detach().numpy()).mean() < 0.8 * far
