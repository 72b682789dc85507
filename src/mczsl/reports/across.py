"""One figure of every method, side by side for all datasets and settings."""

from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter

from mczsl.errors import unknown_name
from mczsl.experiments.results import Results
from mczsl.reports.tables import Cell, Column, Group, Table, data_name, grouped, ranked

_Columns = dict[Column, list[Group]]


def harmonic_table(experiments: Iterable[Results]) -> Table:
    """The mH of every method in these experiments: all of their tables at a glance."""
    found: dict[Column, dict[str, Cell]] = {}
    titles = []
    for results in experiments:
        titles.append(results.title)
        for column, groups in _columns(results).items():
            cells = [group.figure(itemgetter("mH")) for group in groups]
            marked = ranked(cells, [group.complete for group in groups], higher_is_better=True)
            own = found.setdefault(column, {})
            own |= {group.label: cell for group, cell in zip(groups, marked, strict=True)}
    return _table("overview", "; ".join(titles), {"figure": "mH"}, found)


def time_table(results: Results, base: str) -> Table:
    """The training time of every method, of its quickest run, in multiples of that of ``base``."""
    found: dict[Column, dict[str, Cell]] = {}
    for column, groups in _columns(results).items():
        seconds = {group.label: group.seconds() for group in groups}
        if base not in seconds:
            raise unknown_name(f"row of {results.name}", base, seconds)
        found[column] = {label: _over(cell, seconds[base]) for label, cell in seconds.items()}
    return _table(results.name, "Training time", {"in multiples of": base}, found)


def _columns(results: Results) -> _Columns:
    found: _Columns = {}
    for facts, groups in grouped(results):
        told = dict(facts)
        found[Column(data_name(told), told["setting"])] = groups
    return found


def _over(cell: Cell, unit: Cell) -> Cell:
    if cell.number is None or not unit.number:
        return Cell(None)
    return Cell(cell.number / unit.number)


def _table(
    experiment: str, title: str, facts: dict[str, str], found: dict[Column, dict[str, Cell]]
) -> Table:
    labels = dict.fromkeys(label for cells in found.values() for label in cells)
    return Table(
        experiment=experiment,
        title=title,
        facts=facts,
        columns=(Column("method"), *found),
        rows=tuple(
            (Cell(label), *(cells.get(label, Cell(None)) for cells in found.values()))
            for label in labels
        ),
        notes=(),
    )
