"""Two ways to learn from an episode: Reptile (Nichol et al. 2018), and plain Adam."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

import torch
from torch import Tensor, nn

Loss = Callable[[], Tensor]


class PlainAdam:
    """One Adam step on each episode."""

    def __init__(self, parameters: Iterable[nn.Parameter], rate: float):
        self._adam = torch.optim.Adam(_trainable(parameters), lr=rate, fused=True)
        self._rate = rate

    def anneal(self, share: float) -> None:
        """Set the learning rate to this share of its start."""
        _set_rate(self._adam, self._rate * share)

    def step(self, loss: Loss) -> Tensor:
        """One step; returns the loss before it."""
        self._adam.zero_grad(set_to_none=True)
        value = loss()
        value.backward()
        self._adam.step()
        return value.detach()


class Reptile:
    """Inner Adam steps lead from theta to theta~; the outer Adam steps along ``theta - theta~``.

    Of the inner Adam's state the second moment is kept from episode to episode and the momentum is
    off, as Reptile's authors advise; ``inner_state`` can also "keep" or "reset" both.
    """

    def __init__(
        self,
        parameters: Iterable[nn.Parameter],
        rate: float,
        inner_rate: float,
        inner_steps: int,
        inner_state: Literal["second-moment", "keep", "reset"] = "second-moment",
    ):
        self._theta = _trainable(parameters)
        momentum = 0.0 if inner_state == "second-moment" else 0.9
        betas = (momentum, 0.999)
        self._inner = torch.optim.Adam(self._theta, lr=inner_rate, betas=betas, fused=True)
        self._outer = torch.optim.Adam(self._theta, lr=rate, fused=True)
        self._rate, self._inner_steps, self._reset = rate, inner_steps, inner_state == "reset"

    def anneal(self, share: float) -> None:
        """Set the outer learning rate to this share of its start."""
        _set_rate(self._outer, self._rate * share)

    def step(self, loss: Loss) -> Tensor:
        """One meta-step; returns the loss before it."""
        start = [parameter.detach().clone() for parameter in self._theta]
        if self._reset:
            self._inner.state.clear()
        values = []
        for _ in range(self._inner_steps):
            self._inner.zero_grad(set_to_none=True)
            values.append(loss())
            values[-1].backward()
            self._inner.step()
        with torch.no_grad():
            for parameter, before in zip(self._theta, start, strict=True):
                parameter.grad = before - parameter
                parameter.copy_(before)
        self._outer.step()
        return values[0].detach()


def _trainable(parameters: Iterable[nn.Parameter]) -> list[nn.Parameter]:
    return [parameter for parameter in parameters if parameter.requires_grad]


def _set_rate(optimiser: torch.optim.Optimizer, rate: float) -> None:
    for group in optimiser.param_groups:
        group["lr"] = rate
