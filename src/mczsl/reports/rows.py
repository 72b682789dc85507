"""Rows of tables: which runs belong together, what the rows are called, and which compete.

Only runs that differ in nothing but the seeds of training and memory are averaged. What else may
differ either makes another table (setting, dataset, features, semantics, split, candidates) or
another row (calibration, use of unseen attributes, memory).
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from mczsl.experiments.results import Result
from mczsl.reports.cells import Cell, mean_cell, ranked

SETTINGS = {
    "gzsl": "GZSL",
    "fixed": "fixed continual GZSL",
    "dynamic": "dynamic continual GZSL",
}
Facts = tuple[tuple[str, str], ...]
Value = Callable[[dict[str, Any]], float | None]
_Names = dict[tuple[object, ...], tuple[str, ...]]  # asked for -> what the records call it
_DATA = ("dataset", "features", "semantics")
_SOMETIMES_APART = ("candidates", "tasks", "image split", "class order")
# The rest of a configuration is the recipe of a row.
_GROUNDS = {*_DATA, "data_root", "protocol", "tasks", "candidates", "seeds", "memory_per_class"}


@dataclass(frozen=True)
class Group:
    """Runs that differ in seeds alone: a row.

    ``label`` is for tables with a column for the memory; ``name`` says the memory where it differs.
    """

    label: str
    name: str
    runs: tuple[Result, ...]

    @property
    def protocol(self) -> str:
        """The setting of all of its runs."""
        return str(self.runs[0].config["protocol"])

    @property
    def records(self) -> list[dict[str, Any]]:
        """The records of the runs that are finished."""
        return [run.state.record for run in self.runs if run.state.record is not None]

    @property
    def memory_per_class(self) -> int | None:
        """The size that was asked for; None is the usual one."""
        size: int | None = self.runs[0].config["memory_per_class"]
        return size

    @property
    def memory(self) -> str:
        """How many samples of the past may be kept, as far as a record says."""
        found = [record["memory_capacity"] for record in self.records]
        return "" if not found else "all" if found[0] is None else str(found[0])

    @property
    def keeps_all(self) -> bool:
        """Whether it keeps every sample of the past; GZSL has no past."""
        return self.memory == "all" and self.protocol != "gzsl"

    @property
    def competes(self) -> bool:
        """Whether it may be the best: all of its runs are finished, and its memory is bounded."""
        finished = all(run.state.state == "finished" for run in self.runs)
        return finished and not self.keeps_all

    def figure(self, value: Value) -> Cell:
        """Mean and sample deviation of what the records say."""
        found = [value(record) for record in self.records]
        return mean_cell([number for number in found if number is not None])

    def seconds(self) -> Cell:
        """The training time of the quickest run: other work on the machine only makes it longer."""
        return Cell(min((float(r["train_seconds"]) for r in self.records), default=None))

    def condition(self, key: str) -> str:
        """Something that all of the group's records say alike."""
        return next((str(record[key]) for record in self.records), "")

    def count(self) -> str:
        """How many runs are in the mean, and what became of the others."""
        states = Counter(run.state.state for run in self.runs)
        finished = states.pop("finished", 0)
        rest = ", ".join(f"{count} {state}" for state, count in sorted(states.items()))
        return f"{finished} of {len(self.runs)} ({rest})" if rest else str(finished)


def grouped(runs: Sequence[Result]) -> list[tuple[Facts, list[Group]]]:
    """The rows of each table, with what the rows of a table have in common."""
    # The same run may be asked for twice, with its features named and by default.
    distinct = {(run.label, run.key or json.dumps(run.config)): run for run in runs}
    runs = list(distinct.values())
    names, labels = _resolved_names(runs), _labels(runs)
    has_sizes = len({run.config["memory_per_class"] for run in runs}) > 1
    tables: dict[Facts, dict[tuple[str, ...], list[Result]]] = {}
    for run in runs:
        rows = tables.setdefault(_facts(run, names), {})
        rows.setdefault(_row_key(run), []).append(run)
    found = []
    for facts, rows in tables.items():
        groups = []
        for members in rows.values():
            label, size = labels[_recipe_key(members[0])], members[0].config["memory_per_class"]
            name = f"{label}, memory {size}" if has_sizes and size is not None else label
            groups.append(Group(label, name, tuple(members)))
        found.append((facts, groups))
    return found


class Ground(NamedTuple):
    """What a table is about: its data, and its setting with whatever else sets it apart."""

    data: str
    setting: str


def grounds(tables: Iterable[Facts]) -> dict[Facts, Ground]:
    """A name for each table; of what rarely differs, only what differs here is in it."""
    alike: dict[Ground, list[dict[str, str]]] = {}
    for told in map(dict, tables):
        alike.setdefault(_plain_ground(told), []).append(told)
    found = {}
    for plain, members in alike.items():
        apart = [key for key in _SOMETIMES_APART if len({told.get(key) for told in members}) > 1]
        for told in members:
            more = [f"{key} {told.get(key, 'default')}" for key in apart]
            found[tuple(told.items())] = Ground(plain.data, ", ".join([plain.setting, *more]))
    return found


def ranked_rows(
    groups: Sequence[Group], cells: Sequence[Cell], higher_is_better: bool = True
) -> list[Cell]:
    """Mark the best and the second among the rows that compete with each other."""
    found = list(cells)
    for rivals in _rivals(groups):
        marked = ranked(cells, rivals, higher_is_better)
        found = [new if fit else old for new, old, fit in zip(marked, found, rivals, strict=True)]
    return found


def not_ranked(groups: Iterable[Group]) -> list[str]:
    """A note on each row that does not compete for all that it may keep."""
    return [
        f"{group.name} keeps all samples and is not ranked." for group in groups if group.keeps_all
    ]


def _rivals(groups: Sequence[Group]) -> list[list[bool]]:
    """Rows with less than the usual memory compete with it; without it, each size for itself."""
    usual = [group for group in groups if group.memory_per_class is None]
    if not usual:
        sizes = dict.fromkeys(group.memory_per_class for group in groups)
        return [[g.competes and g.memory_per_class == size for g in groups] for size in sizes]
    # If no row makes use of the usual memory, nothing here tells how much it is.
    most = max(_capacity(group) for group in usual) or math.inf
    return [[group.competes and _capacity(group) <= most for group in groups]]


def _capacity(group: Group) -> int:
    return int(group.memory) if group.memory.isdigit() else 0


def _plain_ground(told: dict[str, str]) -> Ground:
    """Dataset, features and semantics in one, none of them twice, and the setting."""
    return Ground("/".join(dict.fromkeys(told[key] for key in _DATA)), told["setting"])


def _facts(run: Result, names: _Names) -> Facts:
    config, seeds = run.config, run.config["seeds"]
    dataset, features, semantics = names[_asked(run)]
    split = f"seed {seeds['image_split']}" if config["protocol"] == "fixed" else "published"
    facts = {
        "setting": SETTINGS[config["protocol"]],
        "dataset": dataset,
        "features": features,
        "semantics": semantics,
        "image split": split,
        "candidates": config["candidates"],
    }
    if config["tasks"] is not None:
        facts["tasks"] = str(config["tasks"])
    if seeds["class_order"] is not None:
        facts["class order"] = f"seed {seeds['class_order']}"
    return tuple(facts.items())


def _asked(run: Result) -> tuple[object, ...]:
    return tuple(run.config[key] for key in _DATA)


def _resolved_names(runs: Iterable[Result]) -> _Names:
    """What the records call the data that was asked for; runs that failed have none."""
    found = {_asked(run): tuple(str(name or "default") for name in _asked(run)) for run in runs}
    for run in runs:
        if (record := run.state.record) is not None:
            found[_asked(run)] = (record["dataset"], record["features"], record["semantics"])
    return found


def _row_key(run: Result) -> tuple[str, ...]:
    """Equal for runs that differ in seeds alone: one plan means one code and one state of data."""
    seeds = {k: v for k, v in run.config["seeds"].items() if k not in ("training", "memory")}
    rest = {key: value for key, value in run.config.items() if key not in _DATA}
    return (run.label, json.dumps({**rest, "seeds": seeds}, sort_keys=True))


def _labels(runs: Iterable[Result]) -> dict[tuple[str, str], str]:
    """What each recipe is called: its label, with what sets it apart from others of that label."""
    recipes = {_recipe_key(run): _recipe(run) for run in runs}
    found = {}
    for (label, text), recipe in recipes.items():
        rivals = [other for (name, _), other in recipes.items() if name == label]
        keys = dict.fromkeys(key for rival in rivals for key in rival)
        apart = [key for key in keys if len({json.dumps(r.get(key)) for r in rivals}) > 1]
        told = [f"{key} {recipe.get(key, 'default')}" for key in apart]
        found[label, text] = ", ".join([label, *told])
    return found


def _recipe_key(run: Result) -> tuple[str, str]:
    return run.label, json.dumps(_recipe(run), sort_keys=True)


def _recipe(run: Result) -> dict[str, object]:
    """The method and how it was set, whatever it was tried on."""
    config = run.config
    plain = {key: config[key] for key in config if key not in _GROUNDS and key != "settings"}
    return {**plain, **config["settings"]}
