"""Results as tables: one for each setting and dataset, one row for each method.

Only runs that differ in nothing but the seeds of training and memory are averaged. What else may
differ either makes another table (setting, dataset, features, semantics, split, candidates) or
another row (calibration, use of unseen attributes, memory).
"""

from __future__ import annotations

import json
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from typing import Any

from mczsl.experiments.reported import Reported, reported
from mczsl.experiments.results import Result, Results
from mczsl.reports.reproducibility import Standing, reproducibility

SETTINGS = {
    "gzsl": "GZSL",
    "fixed": "fixed continual GZSL",
    "dynamic": "dynamic continual GZSL",
}
Facts = tuple[tuple[str, str], ...]
Value = Callable[[dict[str, Any]], float | None]
_Names = dict[tuple[object, ...], tuple[str, ...]]  # asked for -> what the records call it
_METRICS = {"mSA": "mSA", "mUA": "mUA", "mH": "mH", "AUSUC": "ausuc", "forgetting": "forgetting"}


@dataclass(frozen=True)
class Column:
    """A column's name, and the group of columns that it stands in."""

    name: str
    group: str = ""

    @property
    def full_name(self) -> str:
        """Both in one."""
        return f"{self.name}, {self.group}" if self.group else self.name


@dataclass(frozen=True)
class Cell:
    """A text or a figure; ``rank`` 1 is the best of its column, 2 the second."""

    value: str | float | None
    deviation: float | None = None
    rank: int = 0

    @property
    def number(self) -> float | None:
        """The figure, if it is one."""
        return self.value if isinstance(self.value, float) else None

    def text(self, missing: str = "–") -> str:
        """As people read it."""
        if self.value is None or isinstance(self.value, str):
            return self.value or missing
        spread = "" if self.deviation is None else f" ± {self.deviation:.2f}"
        return f"{self.value:.2f}{spread}"


@dataclass(frozen=True)
class Table:
    """A table of results. ``facts`` say what all of its rows have in common."""

    experiment: str
    title: str
    facts: dict[str, str]
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...]

    def is_numeric(self, column: int) -> bool:
        """Whether there are figures in the column."""
        return any(isinstance(row[column].value, float) for row in self.rows)

    def groups(self) -> list[tuple[str, int]]:
        """The groups of columns from left to right, each with its width."""
        names = groupby(column.group for column in self.columns)
        return [(name, len(list(members))) for name, members in names]

    def heading(self) -> str:
        """The data and the setting."""
        return f"{self.facts['dataset']}, {self.facts['setting']}"

    def caption(self) -> str:
        """Title and facts in one line."""
        return f"{self.title}: {', '.join(f'{k} {v}' for k, v in self.facts.items())}"


@dataclass(frozen=True)
class Group:
    """Runs that differ in seeds alone: a row."""

    label: str
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
    def complete(self) -> bool:
        """Whether all of its runs are finished; only then it competes with others."""
        return all(run.state.state == "finished" for run in self.runs)

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


def mean_cell(numbers: Sequence[float]) -> Cell:
    """Mean and sample deviation; a single number has none.

    >>> mean_cell([1.0, 2.0, 3.0]).text(), mean_cell([2.0]).text(), mean_cell([]).text()
    ('2.00 ± 1.00', '2.00', '–')
    """
    if not numbers:
        return Cell(None)
    deviation = statistics.stdev(numbers) if len(numbers) > 1 else None
    return Cell(statistics.fmean(numbers), deviation)


def make_tables(results: Results) -> list[Table]:
    """All tables of an experiment."""
    tables = []
    for facts, groups in grouped(results):
        tables.append(_method_table(results, dict(facts), groups))
        if results.show == "tasks":
            tables.append(_task_table(results, dict(facts), groups))
    return tables


def grouped(results: Results) -> list[tuple[Facts, list[Group]]]:
    """The rows of each table, with what the rows of a table have in common."""
    names = _resolved_names(results.runs)
    tables: dict[Facts, dict[tuple[str, ...], list[Result]]] = {}
    for run in results.runs:
        rows = tables.setdefault(_facts(run, names), {})
        rows.setdefault(_row_key(run), []).append(run)
    return [
        (facts, [Group(key[0], tuple(runs)) for key, runs in rows.items()])
        for facts, rows in tables.items()
    ]


def data_name(facts: dict[str, str]) -> str:
    """Dataset, features and semantics in one, none of them twice."""
    return "/".join(dict.fromkeys(facts[key] for key in ("dataset", "features", "semantics")))


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
    return tuple(run.config[key] for key in ("dataset", "features", "semantics"))


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
    return (run.label, json.dumps({**run.config, "seeds": seeds}, sort_keys=True))


def _method_table(results: Results, facts: dict[str, str], groups: list[Group]) -> Table:
    paper = reported(results.reported, facts["dataset"], groups[0].protocol)
    columns = {Column("method"): [Cell(group.label) for group in groups]}
    if results.show == "memory":
        columns[Column("memory")] = [Cell(group.condition("memory_capacity")) for group in groups]
    complete = [group.complete for group in groups]
    for name, key in _METRICS.items():
        cells = [group.figure(itemgetter(key)) for group in groups]
        if any(cell.value is not None for cell in cells) or name == "mH":
            columns[Column(name)] = _ranked_by_memory(groups, cells, complete, name)
    columns[Column("n")] = [Cell(group.count()) for group in groups]
    columns[Column("calibration")] = [Cell(group.condition("calibration")) for group in groups]
    columns[Column("unseen attributes")] = [Cell(_uses_unseen(group)) for group in groups]
    columns[Column("seconds")] = [group.seconds() for group in groups]
    if any(group.runs[0].note for group in groups):
        columns[Column("note")] = [Cell(group.runs[0].note) for group in groups]
    notes = _failures(groups)
    if paper is not None:
        notes += _add_reported(columns, paper, groups)
    return Table(
        experiment=results.name,
        title=results.title,
        facts=facts,
        columns=tuple(columns),
        rows=tuple(zip(*columns.values(), strict=True)),
        notes=tuple(notes),
    )


def _ranked_by_memory(
    groups: list[Group], cells: list[Cell], complete: list[bool], name: str
) -> list[Cell]:
    """Rows with the same memory compete with each other."""
    sizes = [group.runs[0].config["memory_per_class"] for group in groups]
    found = cells.copy()
    for size in set(sizes):
        fits = [ok and own == size for ok, own in zip(complete, sizes, strict=True)]
        marked = ranked(cells, fits, name != "forgetting")
        found = [new if fit else old for new, old, fit in zip(marked, found, fits, strict=True)]
    return found


def _uses_unseen(group: Group) -> str:
    return {"True": "in training", "False": "no", "": ""}[group.condition("uses_unseen_attributes")]


def ranked(cells: Sequence[Cell], eligible: Sequence[bool], higher_is_better: bool) -> list[Cell]:
    """Mark the best and the second by what is printed; rows with missing runs do not compete."""
    values = [
        round(cell.value, 2) if ok and isinstance(cell.value, float) else None
        for cell, ok in zip(cells, eligible, strict=True)
    ]
    order = sorted({value for value in values if value is not None}, reverse=higher_is_better)
    places = {value: place for place, value in enumerate(order[:2], start=1)}
    return [
        replace(cell, rank=places.get(value, 0) if value is not None else 0)
        for cell, value in zip(cells, values, strict=True)
    ]


def _add_reported(
    columns: dict[Column, list[Cell]], paper: Reported, groups: list[Group]
) -> list[str]:
    """Columns with the paper's figures, rows for what only the paper has; gives the notes."""
    labels = [group.runs[0].reported for group in groups]
    labels += [label for label in paper.rows if label not in labels]
    for column, cells in columns.items():
        missing = labels[len(groups) :]
        cells += [Cell(label if column.name == "method" else None) for label in missing]
    where = f"reported ({paper.features})"
    for name in ("mSA", "mUA", "mH"):
        figures = [paper.rows.get(label, {}).get(name) for label in labels]
        columns[Column(name, where)] = [Cell(figure) for figure in figures]
    rows = zip(columns[Column("method")], labels, columns[Column("mH")], figures, strict=True)
    claims = reproducibility(
        [Standing(row.text(), label, ours.number, theirs) for row, label, ours, theirs in rows]
    )
    if any(claims):
        columns[Column("reproducibility")] = [Cell(claim) for claim in claims]
    notes = [f"Reported: figures of the paper on {paper.features} features, not ranked with ours."]
    notes += [f"Reported: {paper.note}."] if paper.note else []
    return notes + [
        f"Reported {label}: {paper.rows[label]['note']}."
        for label in dict.fromkeys(labels)
        if paper.rows.get(label, {}).get("note")
    ]


def _task_table(results: Results, facts: dict[str, str], groups: list[Group]) -> Table:
    """H after every task."""
    count = max((len(record["tasks"]) for group in groups for record in group.records), default=0)
    rows = tuple(
        (Cell(group.label), *(group.figure(_harmonic_after(task)) for task in range(count)))
        for group in groups
    )
    columns = (Column("H after task"), *(Column(str(task + 1)) for task in range(count)))
    notes: tuple[str, ...] = ()
    if rows and count and all(row[-1].value is None for row in rows):
        notes = ("After the last task no class is unseen, so H is not defined there.",)
    return Table(results.name, f"{results.title}, by task", facts, columns, rows, notes)


def _harmonic_after(task: int) -> Value:
    return lambda record: record["tasks"][task]["H"]


def _failures(groups: Iterable[Group]) -> list[str]:
    counts = Counter(
        f"{group.label}: {run.state.state}: {_first_line(run.state.error)}"
        for group in groups
        for run in group.runs
        if run.state.error is not None
    )
    return [f"{count} run(s) of {text}" for text, count in counts.items()]


def _first_line(error: str | None) -> str:
    """Of a trace the last line, which names the exception."""
    lines = (error or "").strip().splitlines() or [""]
    return lines[-1] if lines[0].startswith("Traceback") else lines[0]
