"""ESZSL: an embarrassingly simple approach to zero-shot learning, in closed form.

Romera-Paredes and Torr, 2015. A bilinear map V between features X (n, D) and attributes S (C, A) of
the seen classes, with Y (n, C) 1 at a sample's class and -1 elsewhere:

    V = (X'X + gamma I)^-1  X'Y S  (S'S + lambda I)^-1,   score(x, c) = x' V s_c

Of the past it needs sums alone. As Y = 2 E - 1 with E 1 at a sample's class and 0 elsewhere,

    X'Y S = 2 sum over samples x s_y'  -  (sum over samples x) (sum over classes s)'

so every task adds its part to X'X, to the two sums, and to S'S. After any number of tasks, in any
order, V is the solution on all data at once, without a memory of samples.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from pydantic import Field
from torch import Tensor
from torch.nn.functional import normalize

from mczsl.methods.base import Method, MethodConfig, Progress, Scorer, Setting, State
from mczsl.methods.registry import register_method
from mczsl.methods.replay import positions
from mczsl.protocols import ClassSet, Task

_BLOCK = 4096  # samples that are summed in one go


class ESZSLConfig(MethodConfig):
    """The two regularisers, for features and attributes of unit length."""

    gamma: float = Field(1.0, gt=0, description="regulariser of the features' side")
    lambda_: float = Field(0.01, gt=0, description="regulariser of the attributes' side")


@register_method("eszsl")
class ESZSL(Method):
    """Closed form: sums over the samples replace a memory, and nothing is forgotten."""

    Config = ESZSLConfig
    config: ESZSLConfig

    def __init__(self, config: ESZSLConfig, setting: Setting):
        super().__init__(config, setting)
        features, attributes = setting.feature_dim, setting.attribute_dim
        shapes = {
            "XX": (features, features),
            "SS": (attributes, attributes),
            "XES": (features, attributes),
            "sum_x": (features,),
            "sum_s": (attributes,),
        }
        self.sums = {name: self._exact(torch.zeros(shape)) for name, shape in shapes.items()}
        self.seen = torch.empty(0, dtype=torch.int64)
        self.map = self._solve()

    @property
    def memory_capacity(self) -> int:
        """Sums are kept, and no sample."""
        return 0

    def learn(self, task: Task) -> Iterator[Progress]:
        """Add the task's samples and new classes to the sums, and solve."""
        attributes = self._unit(task.seen.attributes)
        new = attributes[~torch.isin(task.seen.ids, self.seen).to(attributes.device)]
        self._add(SS=new.T @ new, sum_s=new.sum(dim=0))
        labels = task.samples.labels
        of_sample = positions(labels, task.seen.ids).to(attributes.device)
        for rows in torch.arange(len(labels)).split(_BLOCK):
            x = self._unit(task.samples.take(rows))
            self._add(XX=x.T @ x, XES=x.T @ attributes[of_sample[rows]], sum_x=x.sum(dim=0))
        self.seen, self.map = task.seen.ids, self._solve()
        yield Progress(1, 1)

    def scorer(self, classes: ClassSet) -> Scorer:
        """``x' V s_c``, with ``V s_c`` computed once."""
        weights = self.map @ self._unit(classes.attributes).T
        return lambda features: (self._unit(features) @ weights).float()

    def state(self) -> State:
        """The sums, and which classes are in them."""
        return State(
            {name: tensor.cpu() for name, tensor in self.sums.items()} | {"seen": self.seen}
        )

    def load_state(self, state: State) -> None:
        """Take over the sums, and solve."""
        self.sums = {name: self._exact(state.tensors[name]) for name in self.sums}
        self.seen, self.map = state.tensors["seen"], self._solve()

    def _add(self, **parts: Tensor) -> None:
        self.sums |= {name: self.sums[name] + part for name, part in parts.items()}

    def _solve(self) -> Tensor:
        sums, config = self.sums, self.config
        xys = 2 * sums["XES"] - torch.outer(sums["sum_x"], sums["sum_s"])
        left = torch.linalg.solve(_regularised(sums["XX"], config.gamma), xys)
        right = _regularised(sums["SS"], config.lambda_)
        found: Tensor = torch.linalg.solve(right, left, left=False)
        return found

    def _exact(self, tensor: Tensor) -> Tensor:
        """In double precision: the sums run over everything ever seen."""
        return tensor.to(self.setting.device, torch.float64)

    def _unit(self, rows: Tensor) -> Tensor:
        return normalize(self._exact(rows), dim=1)


def _regularised(gram: Tensor, amount: float) -> Tensor:
    return gram + amount * torch.eye(len(gram), dtype=gram.dtype, device=gram.device)
