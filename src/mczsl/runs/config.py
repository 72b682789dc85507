"""The one schema of a run: dataset x protocol x method x seeds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from mczsl.evaluation.stage import Candidates
from mczsl.seeding import Seeds


class RunConfig(BaseModel):
    """Everything that decides a run's result, and nothing else."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    dataset: str
    features: str | None = None
    semantics: str | None = None
    data_root: Path | None = None
    protocol: str = "gzsl"
    tasks: int | None = Field(None, ge=1)
    memory_per_class: int | None = Field(None, ge=0)
    candidates: Candidates = "joint"
    method: str = "mczsl"
    preset: str = "default"
    settings: Mapping[str, Any] = Field(default_factory=dict)
    seeds: Seeds = Seeds()
    device: str = Field("cpu", pattern=r"^(cpu|cuda(:\d+)?)$")
    threads: int | None = Field(None, ge=1, le=1024)
