"""Plan an experiment, do what is not done yet, and keep the books."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mczsl
from mczsl.data import load_dataset
from mczsl.errors import ConfigError, MczslError
from mczsl.experiments.experiment import Experiment, Planned
from mczsl.experiments.folder import ResultFolder, run_key
from mczsl.experiments.local_engine import Job, OnEnd
from mczsl.experiments.shared_data import data_id, share_dataset
from mczsl.experiments.worker import Failure
from mczsl.methods import get_method, make_config
from mczsl.runs.code_version import code_version
from mczsl.runs.config import RunConfig

Engine = Callable[[ResultFolder, Sequence[Job], OnEnd], None]


@dataclass(frozen=True)
class Ended:
    """How a run ended, for those who watch."""

    done: int
    total: int
    job: Job
    failure: Failure | None


Watcher = Callable[[Ended], None]


def prepare(
    experiments: dict[str, Experiment],
    folder: ResultFolder,
    data_root: Path | None = None,
    command: str = "",
) -> list[Job]:
    """Write down what is asked for; gives the distinct runs that it takes, done or not.

    What cannot be run (a dataset that is not there, a setting that a method does not have) is noted
    as an error beside the rest. If nothing at all can be run, that is an error here and now.
    """
    data = _SharedData(folder)
    jobs: dict[str, Job] = {}
    problems: list[str] = []
    for name, experiment in experiments.items():
        entries = []
        for planned in experiment.runs(data_root):
            entry = _entry(planned)
            try:
                _check_method(planned.config)
                identity = data.id(planned.config)
                key = run_key(planned.config, identity, code_version(planned.config.method))
                jobs[key] = Job(planned.variant.name, key, _placeless(planned.config), identity)
                entry["key"] = key
            except MczslError as error:
                entry["error"] = str(error)
                problems.append(str(error))
            entries.append(entry)
        folder.write_plan(name, _plan(experiment, entries, command))
    if not jobs:
        raise ConfigError(problems[0] if problems else "the grid is empty; " + _EMPTY)
    return list(jobs.values())


_EMPTY = "an experiment needs at least one dataset, protocol, variant and seed"


def perform(
    folder: ResultFolder, jobs: Sequence[Job], engine: Engine, watcher: Watcher | None = None
) -> None:
    """Do the jobs that are not done; one that diverged is not tried again."""
    states = {job.key: folder.state(job.key) for job in jobs}
    left = [job for job in jobs if states[job.key].state not in ("finished", "diverged")]
    done = len(jobs) - len(left)

    def ended(job: Job, failure: Failure | None) -> None:
        nonlocal done
        done += 1
        if failure is not None:
            try:
                failure.write(folder.run(job.key))
            except MczslError as error:  # a full disk, say: then at least the watcher hears of it
                failure = Failure(failure.kind, f"{failure.message} ({error})")
        if watcher is not None:
            watcher(Ended(done, len(jobs), job, failure))

    if left:
        engine(folder, left, ended)


class _SharedData:
    """Every dataset is loaded once, written for the processes to map, and let go."""

    def __init__(self, folder: ResultFolder):
        self._folder = folder
        self._known: dict[tuple[object, ...], str | MczslError] = {}

    def id(self, config: RunConfig) -> str:
        wanted = (config.dataset, config.features, config.semantics, config.data_root)
        if wanted not in self._known:
            try:
                self._known[wanted] = self._share(config)
            except MczslError as error:
                self._known[wanted] = error
        found = self._known[wanted]
        if isinstance(found, MczslError):
            raise found
        return found

    def _share(self, config: RunConfig) -> str:
        dataset = load_dataset(
            config.dataset,
            features=config.features,
            semantics=config.semantics,
            root=config.data_root,
        )
        share_dataset(dataset, self._folder.data(data_id(dataset)))
        return data_id(dataset)


def _placeless(config: RunConfig) -> RunConfig:
    """Without the place of the data, which is each machine's own; runs use the shared copy."""
    return config.model_copy(update={"data_root": None})


def _check_method(config: RunConfig) -> None:
    make_config(get_method(config.method), config.preset, config.settings)


def _entry(planned: Planned) -> dict[str, Any]:
    return {
        "label": planned.variant.name,
        "reported": planned.variant.reported or planned.variant.name,
        "note": planned.variant.note,
        "config": _placeless(planned.config).model_dump(mode="json"),
        "key": None,
        "error": None,
    }


def _plan(experiment: Experiment, entries: list[dict[str, Any]], command: str) -> dict[str, Any]:
    return {
        "title": experiment.title,
        "show": experiment.show,
        "reported": experiment.reported,
        "command": command,
        "version": mczsl.__version__,
        "runs": entries,
    }
