"""Memories for replay: ``reservoir`` (uniform over all samples) and ``ring`` (newest per class)."""

from mczsl.memory.base import Memory
from mczsl.memory.reservoir import Reservoir
from mczsl.memory.ring import Ring

MEMORIES: dict[str, type[Memory]] = {"reservoir": Reservoir, "ring": Ring}

__all__ = ["MEMORIES", "Memory", "Reservoir", "Ring"]
