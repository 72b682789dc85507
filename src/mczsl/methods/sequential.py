"""Sequential: the lower bound. A plain embedding net, trained task after task, without memory.

Linear ReLU Linear ReLU Linear ReLU from attributes to feature space and cosine logits, trained with
Adam on batches of the current task alone: the net of NM-ZSL without its normalisation. What it
forgets is what continual methods are measured by.
"""

from typing import ClassVar, Literal

from torch import nn

from mczsl.methods.batches import BatchConfig, BatchTrainedMethod
from mczsl.methods.registry import register_method


class SequentialConfig(BatchConfig):
    """Settings of the lower bound: it has no memory."""

    memory: Literal["none"] = "none"


@register_method("sequential")
class Sequential(BatchTrainedMethod):
    """Lower bound: a plain embedding net trained task after task, without memory."""

    Config: ClassVar[type[BatchConfig]] = SequentialConfig

    def build_net(self) -> nn.Module:
        """Three linear layers, each with a ReLU."""
        hidden = self.config.hidden
        return nn.Sequential(
            *(nn.Linear(self.setting.attribute_dim, hidden), nn.ReLU()),
            *(nn.Linear(hidden, hidden), nn.ReLU()),
            *(nn.Linear(hidden, self.setting.feature_dim), nn.ReLU()),
        )
