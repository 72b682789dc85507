"""Results as tables: one for each setting and dataset, one row for each method."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from mczsl.experiments.reported import Reported, reported
from mczsl.experiments.results import Results
from mczsl.reports.cells import Cell
from mczsl.reports.reproducibility import Standing, reproducibility
from mczsl.reports.rows import Group, Value, grouped, not_ranked, ranked_rows

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


def make_tables(results: Results) -> list[Table]:
    """All tables of an experiment."""
    tables = []
    for facts, groups in grouped(results.runs):
        tables.append(_method_table(results, dict(facts), groups))
        if results.show == "tasks":
            tables.append(_task_table(results, dict(facts), groups))
    return tables


def _method_table(results: Results, facts: dict[str, str], groups: list[Group]) -> Table:
    paper = reported(results.reported, facts["dataset"], groups[0].protocol)
    columns = {Column("method"): [Cell(group.label) for group in groups]}
    if results.show == "memory" or _differ_in_memory(groups):
        columns[Column("memory")] = [Cell(group.memory) for group in groups]
    for name, key in _METRICS.items():
        cells = [group.figure(itemgetter(key)) for group in groups]
        if any(cell.value is not None for cell in cells) or name == "mH":
            columns[Column(name)] = ranked_rows(groups, cells, name != "forgetting")
    columns[Column("n")] = [Cell(group.count()) for group in groups]
    columns[Column("calibration")] = [Cell(group.condition("calibration")) for group in groups]
    columns[Column("unseen attributes")] = [Cell(_uses_unseen(group)) for group in groups]
    columns[Column("seconds")] = [group.seconds() for group in groups]
    if any(group.runs[0].note for group in groups):
        columns[Column("note")] = [Cell(group.runs[0].note) for group in groups]
    notes = _failures(groups) + not_ranked(groups)
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


def _differ_in_memory(groups: Iterable[Group]) -> bool:
    """By what was asked for or by what a method keeps of it; GZSL has no past to keep."""
    known = [group for group in groups if group.memory and group.protocol != "gzsl"]
    return len({(group.memory_per_class, group.memory) for group in known}) > 1


def _uses_unseen(group: Group) -> str:
    return {"True": "in training", "False": "no", "": ""}[group.condition("uses_unseen_attributes")]


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
        (Cell(group.name), *(group.figure(_harmonic_after(task)) for task in range(count)))
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
        f"{group.name}: {run.state.state}: {_first_line(run.state.error)}"
        for group in groups
        for run in group.runs
        if run.state.error is not None
    )
    return [f"{count} run(s) of {text}" for text, count in counts.items()]


def _first_line(error: str | None) -> str:
    """Of a trace the last line, which names the exception."""
    lines = (error or "").strip().splitlines() or [""]
    return lines[-1] if lines[0].startswith("Traceback") else lines[0]
