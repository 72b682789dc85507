"""AGEM-CZSL: averaged gradient episodic memory on the embedding net.

Chaudhry, Ranzato, Rohrbach and Elhoseiny, "Efficient lifelong learning with A-GEM", 2019. Batches
come from the current task alone and give the gradient g. A batch from the memory gives a reference
r. Where a step along g would raise the loss on the memory, the part of g against r is taken out:

    g <- g - (g.r / r.r) r    if g.r < 0

The net is that of the lower bound. As there, a batch's own task is all that its classes compete
with: past classes have no samples in it and would only be pushed away. In the reference all classes
compete that have samples.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from pydantic import Field
from torch import Tensor

from mczsl.methods.batches import BatchConfig, RowsLoss
from mczsl.methods.registry import register_method
from mczsl.methods.sequential import Sequential


class AGEMConfig(BatchConfig):
    """Settings of A-GEM."""

    reference_size: int = Field(256, ge=1, description="samples that give the reference gradient")


@register_method("agem")
class AGEM(Sequential):
    """Averaged gradient episodic memory: no step may raise the loss on remembered samples."""

    Config = AGEMConfig
    config: AGEMConfig
    replays: ClassVar[bool] = False

    def adjust_gradients(
        self, loss: RowsLoss, remembered: Tensor, generator: torch.Generator
    ) -> None:
        """Project the gradient where it points against the memory's."""
        if not len(remembered):
            return
        drawn = torch.randperm(len(remembered), generator=generator)[: self.config.reference_size]
        trained = [parameter for parameter in self.parameters() if parameter.requires_grad]
        reference = torch.autograd.grad(loss(remembered[drawn]), trained)
        gradient = [parameter.grad for parameter in trained if parameter.grad is not None]
        project(gradient, list(reference))


@torch.no_grad()
def project(gradient: list[Tensor], reference: list[Tensor]) -> None:
    """Take out of ``gradient``, in place, what points against ``reference``.

    >>> gradient = [torch.tensor([1.0, -1.0])]
    >>> project(gradient, [torch.tensor([0.0, 2.0])])
    >>> gradient
    [tensor([1., 0.])]
    """
    along = torch.stack([(g * r).sum() for g, r in zip(gradient, reference, strict=True)]).sum()
    size = torch.stack([r.square().sum() for r in reference]).sum()
    share = torch.where(size > 0, along.clamp(max=0) / size, 0)
    for g, r in zip(gradient, reference, strict=True):
        g.sub_(share * r)
