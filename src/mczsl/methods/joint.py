"""Joint: the upper bound. MCZSL with a memory that keeps every sample of every task.

Nothing is forgotten for lack of samples, so what separates a continual method from this one is what
its small memory costs.
"""

from dataclasses import replace
from typing import Literal

from mczsl.methods.base import Setting
from mczsl.methods.mczsl import MCZSL, MCZSLConfig
from mczsl.methods.registry import register_method

EVERYTHING = 2**62


class JointConfig(MCZSLConfig):
    """Settings of MCZSL, but for the memory."""

    memory: Literal["reservoir"] = "reservoir"
    replay: Literal["samples"] = "samples"


@register_method("joint")
class Joint(MCZSL):
    """Upper bound: MCZSL with all past samples kept."""

    Config = JointConfig

    def __init__(self, config: JointConfig, setting: Setting):
        super().__init__(config, replace(setting, memory_capacity=EVERYTHING))

    @property
    def memory_capacity(self) -> None:
        """There is no limit."""
        return
