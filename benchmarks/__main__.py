"""``python -m benchmarks [NAME ...]``: speed and scale, all of it by default."""

from __future__ import annotations

import importlib
import json
import platform
import sys
from pathlib import Path
from typing import Any

import torch

from benchmarks import plots
from benchmarks.timing import seconds

NAMES = (
    "step",
    "training",
    "prediction",
    "growth",
    "estimator",
    "paper_runs",
    "systems",
    "systems_dynamic",
)
OUT = Path("bench")


def main(names: list[str]) -> None:
    """Run the named benchmarks, print them, and write JSON and plots into ``bench/``."""
    unknown = set(names) - set(NAMES)
    if unknown:
        raise SystemExit(f"unknown benchmark {', '.join(unknown)}; known: {', '.join(NAMES)}")
    OUT.mkdir(exist_ok=True)
    path = OUT / "bench.json"
    results: dict[str, Any] = json.loads(path.read_text()) if names and path.exists() else {}
    results["machine"] = {"threads": torch.get_num_threads(), "platform": platform.platform()}
    for name in names or NAMES:
        module = importlib.import_module(f"benchmarks.{name}")
        print(f"== {(module.__doc__ or name).splitlines()[0]}", flush=True)
        elapsed = seconds(lambda module=module, name=name: results.update({name: module.run()}))
        print(json.dumps(results[name], indent=1), f"({elapsed:.0f} s)", flush=True)
        path.write_text(json.dumps(results, indent=1))
        if hasattr(plots, name):
            getattr(plots, name)(json.loads(path.read_text())[name], OUT / f"{name}.png")


if __name__ == "__main__":  # not in the processes that a benchmark starts
    main(sys.argv[1:])
