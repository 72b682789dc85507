"""One figure of every method, side by side for all datasets and settings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import itemgetter

from mczsl.errors import ConfigError, unknown_name
from mczsl.experiments.results import Result, Results, describe
from mczsl.reports.cells import Cell
from mczsl.reports.rows import Group, grounds, grouped, not_ranked, ranked_rows
from mczsl.reports.tables import Column, Table

_Cells = dict[Column, dict[str, Cell]]


def harmonic_table(experiments: Iterable[Results]) -> Table:
    """The mH of every method in these experiments: all of their tables at a glance."""
    known = list(experiments)
    found: _Cells = {}
    notes: list[str] = []
    for column, rows in _columns(_pooled(known)).items():
        groups = list(rows.values())
        cells = ranked_rows(groups, [group.figure(itemgetter("mH")) for group in groups])
        found[column] = dict(zip(rows, cells, strict=True))
        notes += not_ranked(groups)
    title = "; ".join(results.title for results in known)
    return _table("overview", title, {"figure": "mH"}, found, notes)


def time_table(results: Results, base: str) -> Table:
    """The training time of every method, of its quickest run, in multiples of that of ``base``."""
    columns = _columns(results.runs)
    names = {name for rows in columns.values() for name in rows}
    if base not in names:
        raise unknown_name(f"row of {results.name}", base, names)
    found: _Cells = {}
    notes = []
    for column, rows in columns.items():
        if base not in rows:
            notes.append(f"{column.full_name}: has no row {base}.")
        unit = rows[base].seconds() if base in rows else Cell(None)
        found[column] = {name: _over(group.seconds(), unit) for name, group in rows.items()}
    return _table(results.name, "Training time", {"in multiples of": base}, found, notes)


def _pooled(experiments: Iterable[Results]) -> list[Result]:
    """All of their runs; a run under one name must be the same run in all of them."""
    found: dict[tuple[str, str], Result] = {}
    for run in (run for results in experiments for run in results.runs):
        known = found.setdefault((run.label, str(run.config)), run)
        if known.key != run.key:
            raise ConfigError(
                f"{describe(run)}: is of different code or data in these experiments; do their "
                "benches again, or ask for an overview of each"
            )
    return list(found.values())


def _columns(runs: Sequence[Result]) -> dict[Column, dict[str, Group]]:
    """The rows of each column by name, no two of them under the same."""
    found: dict[Column, dict[str, Group]] = {}
    tables = grouped(runs)
    names = grounds(facts for facts, _ in tables)
    for facts, groups in tables:
        column = Column(*names[facts])
        rows = found.setdefault(column, {})
        for group in groups:
            if group.name in rows:
                raise ConfigError(
                    f"{group.name}, {column.full_name}: two different rows have this name; give "
                    "each a label of its own"
                )
            rows[group.name] = group
    return found


def _over(cell: Cell, unit: Cell) -> Cell:
    if cell.number is None or not unit.number:
        return Cell(None)
    return Cell(cell.number / unit.number)


def _table(
    experiment: str, title: str, facts: dict[str, str], found: _Cells, notes: Iterable[str]
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
        notes=tuple(dict.fromkeys(notes)),
    )
