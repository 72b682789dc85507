"""Finished runs in MLflow, each once."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from typing import Any

from mczsl.errors import ConfigError
from mczsl.experiments.results import Result, Results

_KEY = "mczsl.key"
_FIGURES = ("mSA", "mUA", "mH", "ausuc", "forgetting", "train_seconds", "peak_memory_mb")
_CONDITIONS = (
    "dataset",
    "features",
    "semantics",
    "protocol",
    "method",
    "preset",
    "calibration",
    "candidates",
    "uses_unseen_attributes",
    "memory_capacity",
    "fingerprint",
    "version",
    "code",
)


def log_to_mlflow(uri: str, experiments: Iterable[Results]) -> int:
    """Log what is finished and not there yet; gives how many runs that were."""
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    try:
        from mlflow import MlflowClient
        from mlflow.exceptions import MlflowException
    except (ImportError, RuntimeError) as error:
        raise ConfigError(f"--mlflow needs MLflow ({error}); pip install 'mczsl[mlflow]'") from None
    try:
        client = MlflowClient(tracking_uri=uri)
        return sum(
            _log(client, results.title, run)
            for results in experiments
            for run in results.runs
            if run.state.record is not None
        )
    except (MlflowException, OSError) as error:
        raise ConfigError(
            f"MLflow at {uri}: {error}; the results are kept, the same command logs them later"
        ) from None


def _log(client: Any, title: str, run: Result) -> bool:
    """Log one run, unless it is there."""
    known = client.get_experiment_by_name(title)
    experiment = known.experiment_id if known else client.create_experiment(title)
    query = f"tags.`{_KEY}` = '{run.key}' and attributes.status = 'FINISHED'"
    if client.search_runs([experiment], query, max_results=1):
        return False
    record = run.state.record
    assert record is not None
    tags = {_KEY: run.key, "label": run.label}
    number = client.create_run(experiment, run_name=run.label, tags=tags).info.run_id
    client.log_batch(number, metrics=_metrics(record), params=_parameters(record))
    client.log_dict(number, record, "record.json")
    client.set_terminated(number)  # the last step: only now does it count as logged
    return True


def _metrics(record: dict[str, Any]) -> list[Any]:
    from mlflow.entities import Metric

    now = int(1000 * time.time())
    figures = [(name, record[name], 0) for name in _FIGURES]
    figures += [(name, task[name], task["task"]) for task in record["tasks"] for name in "SUH"]
    return [Metric(name, value, now, step) for name, value, step in figures if value is not None]


def _parameters(record: dict[str, Any]) -> list[Any]:
    from mlflow.entities import Param

    told = {name: record[name] for name in _CONDITIONS}
    told |= {f"seeds.{name}": seed for name, seed in record["seeds"].items()}
    told |= {f"config.{name}": value for name, value in record["config"].items()}
    return [Param(name, str(value)) for name, value in told.items()]
