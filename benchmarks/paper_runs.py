"""(c) The paper's fifteen dataset x protocol runs at their exact shapes: seconds and memory."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

DATASETS = ("cub", "sun", "awa1", "awa2", "apy")
PROTOCOLS = ("gzsl", "fixed", "dynamic")


def run() -> dict[str, Any]:
    """Each run in a process of its own, so that its peak memory is its own."""
    runs = {}
    for dataset in DATASETS:
        for protocol in PROTOCOLS:
            record = _run(f"synthetic:{dataset}", protocol)
            runs[f"{dataset} {protocol}"] = {
                key: record[key] for key in ("total_seconds", "peak_memory_mb", "mH")
            }
    total = sum(result["total_seconds"] for result in runs.values())
    return {"runs": runs, "total_seconds": total}


def _run(dataset: str, protocol: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "mczsl", "run", "--dataset", dataset]
    command += ["--protocol", protocol, "--json"]
    finished = subprocess.run(command, capture_output=True, text=True, check=True)
    record: dict[str, Any] = json.loads(finished.stdout.splitlines()[-1])
    return record
