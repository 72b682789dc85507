"""Small experiments for tests, and what to do with them."""

from collections.abc import Sequence
from typing import Any

from mczsl.experiments.bench import Ended, perform, prepare
from mczsl.experiments.experiment import Experiment, validated
from mczsl.experiments.folder import ResultFolder
from mczsl.experiments.local_engine import Job, OnEnd, run_locally
from mczsl.experiments.results import Result, read_results
from tests.worlds import SMALL

QUICK = {"epochs": 1, "hidden": 8, "calibration": "none"}
# A stage takes long enough to be met while it is at work.
SLOW = QUICK | {"epochs": 80, "episodes": 1, "ways": 4, "shots": 2}


def experiment(**changes: Any) -> Experiment:
    """One run of a moment, unless something is changed."""
    values = {
        "title": "A test",
        "datasets": [SMALL],
        "protocols": ["fixed"],
        "variants": [{"label": "MCZSL", "method": "mczsl", "settings": QUICK}],
    }
    return validated(Experiment, values | changes, "test")


SLOW_ONE = experiment(variants=[{"method": "mczsl", "settings": SLOW}], tasks=4)


def perform_locally(
    folder: ResultFolder, wanted: Experiment, name: str = "test", processes: int = 2
) -> list[Ended]:
    """Do an experiment on this machine; gives what a watcher hears."""
    heard: list[Ended] = []

    def engine(where: ResultFolder, jobs: Sequence[Job], on_end: OnEnd) -> None:
        run_locally(where, jobs, processes, on_end)

    perform(folder, prepare({name: wanted}, folder), engine, heard.append)
    return heard


def runs_in(folder: ResultFolder) -> list[Result]:
    """Every run of the only experiment in the folder."""
    (results,) = read_results(folder)
    return list(results.runs)


def figures(record: dict[str, Any]) -> dict[str, Any]:
    """The part of a record that must be the same whenever a run is repeated."""
    clocks = ("train_seconds", "total_seconds", "peak_memory_mb")
    return {key: value for key, value in record.items() if key not in clocks}
