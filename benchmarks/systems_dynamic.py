"""(h) Dynamic continual training of every system side by side on CUB, as in (g)."""

from __future__ import annotations

from typing import Any

from benchmarks.systems import SYSTEMS, side_by_side
from benchmarks.training import real_cub_or_synthetic

CONTINUAL = (*SYSTEMS, "agem", "seq_cvae", "seq_cada", "joint")


def run() -> dict[str, Any]:
    """All tasks, with the default presets."""
    config = real_cub_or_synthetic().model_copy(update={"protocol": "dynamic"})
    return side_by_side(config, [(name, "default") for name in CONTINUAL])
