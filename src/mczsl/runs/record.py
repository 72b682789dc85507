"""The record of a run: one flat JSON object that says what was done and what came out."""

from __future__ import annotations

import json
import math
import platform
import resource
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch

import mczsl
from mczsl import storage
from mczsl.data import FeatureDataset
from mczsl.evaluation.metrics import forgetting
from mczsl.evaluation.stage import StageResult
from mczsl.methods.base import Method
from mczsl.protocols import Plan
from mczsl.runs.code_version import code_if_known
from mczsl.runs.config import RunConfig

Record = dict[str, Any]
Status = Literal["finished", "interrupted", "diverged"]


def make_record(
    status: Status,
    config: RunConfig,
    dataset: FeatureDataset,
    plan: Plan,
    method: Method,
    results: Sequence[StageResult],
    train_seconds: float,
    total_seconds: float,
) -> Record:
    """What ``record.json`` holds. Accuracies are in percent; null is what cannot be measured.

    Only a finished run has means, all of them over the same tasks: those where H can be measured.
    """
    finished = status == "finished"
    scored = [each for each in results[: plan.scored] if finished and not math.isnan(each.harmonic)]
    return {
        "status": status,
        "dataset": dataset.name,
        "features": dataset.provenance.get("features"),
        "semantics": dataset.provenance.get("semantics"),
        "protocol": plan.protocol,
        "method": config.method,
        "preset": config.preset,
        "calibration": method.config.calibration,
        "candidates": config.candidates,
        "uses_unseen_attributes": method.uses_unseen_attributes,
        "seeds": config.seeds.model_dump(),
        "config": method.config.model_dump(),
        "memory_capacity": method.memory_capacity,
        "mSA": percent(mean([result.seen for result in scored])),
        "mUA": percent(mean([result.unseen for result in scored])),
        "mH": percent(mean([result.harmonic for result in scored])),
        "ausuc": percent(mean([result.ausuc for result in scored])),
        "forgetting": percent(_forgetting(results if finished else [])),
        "tasks": [
            {
                "task": number,
                "S": percent(result.seen),
                "U": percent(result.unseen),
                "H": percent(result.harmonic),
                "ausuc": percent(result.ausuc),
                "forgetting": percent(_forgetting(results[:number])),
                "by_task": [percent(value) for value in result.by_task],
            }
            for number, result in enumerate(results, start=1)
        ],
        "train_seconds": round(train_seconds, 3),
        "total_seconds": round(total_seconds, 3),
        "peak_memory_mb": round(peak_memory_mb(), 1),
        "threads": torch.get_num_threads(),
        "device": config.device,
        "fingerprint": dataset.fingerprint,
        "version": mczsl.__version__,
        "code": code_if_known(config.method),
        "torch": torch.__version__,
        "platform": platform.platform(),
        "run": config.model_dump(mode="json"),
    }


def write_record(out: Path, record: Record) -> None:
    """Write ``record.json`` into a run's folder."""
    storage.write_atomically(out / "record.json", json.dumps(record, indent=1).encode())


def mean(values: Sequence[float]) -> float:
    """The mean, NaN of nothing."""
    return float(np.mean(values)) if values else float("nan")


def percent(share: float) -> float | None:
    """A share as a percentage with two digits behind the point; None for NaN.

    >>> percent(0.54321), percent(float("nan"))
    (54.32, None)
    """
    return None if math.isnan(share) else round(100 * share, 2) + 0.0  # no minus zero


def peak_memory_mb() -> float:
    """The most memory that this process has ever had resident."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10


def _forgetting(results: Sequence[StageResult]) -> float:
    return forgetting([result.by_task for result in results]) if results else float("nan")
