"""How long each method trains, in multiples of one of them: ratios from runs on one machine."""

from __future__ import annotations

from operator import itemgetter

from mczsl.errors import unknown_name
from mczsl.experiments.results import Results
from mczsl.reports.tables import Cell, Column, Table, data_name, grouped


def time_table(results: Results, base: str) -> Table:
    """For each method, and for each dataset and setting, its seconds over those of ``base``."""
    rows: dict[str, dict[Column, Cell]] = {}
    for facts, groups in grouped(results):
        told = dict(facts)
        column = Column(data_name(told), told["setting"])
        seconds = {group.label: group.figure(itemgetter("train_seconds")) for group in groups}
        if base not in seconds:
            raise unknown_name(f"row of {results.name}", base, seconds)
        unit = seconds[base].number
        for label, cell in seconds.items():
            row = rows.setdefault(label, {})
            row[column] = Cell(cell.number / unit if cell.number is not None and unit else None)
    columns = list(dict.fromkeys(column for row in rows.values() for column in row))
    return Table(
        experiment=results.name,
        title="Training time",
        facts={"in multiples of": base},
        columns=(Column("method"), *columns),
        rows=tuple(
            (Cell(label), *(row.get(column, Cell(None)) for column in columns))
            for label, row in rows.items()
        ),
        notes=(),
    )
