"""What all methods share that train a prototype net on shuffled batches with Adam."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import ClassVar

import torch
from pydantic import Field
from torch import Tensor
from torch.nn.functional import cross_entropy

from mczsl.methods.base import Progress
from mczsl.methods.prototypes import PrototypeConfig, PrototypeMethod, positions
from mczsl.protocols import Samples, Task
from mczsl.seeding import torch_generator

RowsLoss = Callable[[Tensor], Tensor]
"""Positions of samples -> the loss on them."""


class BatchConfig(PrototypeConfig):
    """Settings of training on batches, as NM-ZSL's authors publish them."""

    rate: float = Field(5e-4, gt=0, description="learning rate of Adam, a tenth in the second half")
    weight_decay: float = Field(1e-4, ge=0)
    epochs: int = Field(50, ge=1)
    batch_size: int = Field(256, ge=1)


class BatchTrainedMethod(PrototypeMethod):
    """Cross-entropy over all classes that batches are drawn from, batch by batch."""

    config: BatchConfig
    replays: ClassVar[bool] = True
    """Whether batches are drawn from the memory too, or from the task's own samples alone."""

    def train(self, samples: Samples, task: Task) -> Iterator[Progress]:
        """Shuffled batches of the samples, for some epochs."""
        config = self.config
        among_all = self._loss(samples, samples.labels.unique(), task)
        loss = among_all
        if not self.replays:  # a past class would only ever be pushed away
            loss = self._loss(samples, task.samples.labels.unique(), task)
        adam = torch.optim.Adam(
            self.parameters(), lr=config.rate, weight_decay=config.weight_decay, fused=True
        )
        half = max(1, config.epochs // 2)
        schedule = torch.optim.lr_scheduler.MultiStepLR(adam, [half], gamma=0.1)
        generator = torch_generator(self.setting.seeds.training, "batches", task.index)
        remembered = torch.arange(len(task.samples.labels), len(samples.labels))
        count = len(samples.labels if self.replays else task.samples.labels)
        for epoch in range(config.epochs):
            for rows in torch.randperm(count, generator=generator).split(config.batch_size):
                adam.zero_grad(set_to_none=True)
                value = loss(rows)
                value.backward()
                self.adjust_gradients(among_all, remembered, generator)
                adam.step()
            schedule.step()
            yield Progress(epoch + 1, config.epochs, value.item())

    def _loss(self, samples: Samples, classes: Tensor, task: Task) -> RowsLoss:
        """Cross-entropy among these classes, which must be those of the samples it is asked for."""
        targets = torch.searchsorted(classes, samples.labels).to(self.setting.device)
        inputs = self.net_inputs(task.seen.attributes)[positions(classes, task.seen.ids)]
        return lambda rows: cross_entropy(self.logits(samples.take(rows), inputs), targets[rows])

    def adjust_gradients(
        self, loss: RowsLoss, remembered: Tensor, generator: torch.Generator
    ) -> None:
        """Change the gradients before a step, where a method wants to.

        ``remembered`` are the positions of the samples from the memory; there may be none. In
        ``loss`` all classes compete that have samples, here or in the memory.
        """
