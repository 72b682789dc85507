"""Tables as Markdown, LaTeX, CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from mczsl.errors import printable
from mczsl.reports.cells import Cell
from mczsl.reports.tables import Table

_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "–": "--",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}
_FORMULA = re.compile(r"^[\s]*[=+\-@\t\r]")  # a spreadsheet would run it
_NUMBER = re.compile(r"^[+-]?[0-9]+(\.[0-9]+)?\Z")


def markdown(tables: Iterable[Table], level: int = 2) -> str:
    """Best in bold, second underlined."""
    return "\n".join(_markdown(table, level) for table in tables)


def _markdown(table: Table, level: int) -> str:
    lines = [f"{'#' * level} {_escape_markdown(table.caption())}", ""]
    lines.append(_markdown_row(column.full_name for column in table.columns))
    numeric = [table.is_numeric(index) for index in range(len(table.columns))]
    lines.append("|" + "|".join("---:" if right else "---" for right in numeric) + "|")
    lines += [_markdown_row(map(_markdown_cell, row), escape=False) for row in table.rows]
    lines += ["", *(f"- {_escape_markdown(note)}" for note in table.notes)]
    return "\n".join(lines).rstrip() + "\n"


def _markdown_row(texts: Iterable[str], escape: bool = True) -> str:
    return f"| {' | '.join(_escape_markdown(text) if escape else text for text in texts)} |"


def _markdown_cell(cell: Cell) -> str:
    text = _escape_markdown(cell.text())
    return {1: f"**{text}**", 2: f"<u>{text}</u>"}.get(cell.rank, text)


def _escape_markdown(text: str) -> str:
    text = printable(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_\[\]|])", r"\\\1", " ".join(text.split()))


def latex(tables: Iterable[Table]) -> str:
    r"""For ``\usepackage{booktabs}``: best in bold, second underlined."""
    return "\n".join(map(_latex, tables))


def _latex(table: Table) -> str:
    alignment = "".join("r" if table.is_numeric(i) else "l" for i in range(len(table.columns)))
    lines = [r"\begin{table}", r"\centering", rf"\caption{{{_escape_latex(table.caption())}}}"]
    lines += [rf"\begin{{tabular}}{{{alignment}}}", r"\toprule", *_latex_groups(table)]
    lines.append(_latex_row(_escape_latex(column.name) for column in table.columns))
    lines.append(r"\midrule")
    lines += [_latex_row(map(_latex_cell, row)) for row in table.rows]
    lines += [r"\bottomrule", r"\end{tabular}"]
    lines += [rf"\par {_escape_latex(note)}" for note in table.notes]
    return "\n".join([*lines, r"\end{table}", ""])


def _latex_groups(table: Table) -> list[str]:
    """A line of headings above the columns that stand in groups."""
    if not any(column.group for column in table.columns):
        return []
    headings, rules, at = [], [], 1
    for name, width in table.groups():
        headings.append(rf"\multicolumn{{{width}}}{{c}}{{{_escape_latex(name)}}}")
        if name:
            rules.append(rf"\cmidrule(lr){{{at}-{at + width - 1}}}")
        at += width
    return [_latex_row(headings), *rules]


def _latex_row(texts: Iterable[str]) -> str:
    return rf"{' & '.join(texts)} \\"


def _latex_cell(cell: Cell) -> str:
    text = _escape_latex(cell.text())
    return {1: rf"\textbf{{{text}}}", 2: rf"\underline{{{text}}}"}.get(cell.rank, text)


def _escape_latex(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in printable(text))


def as_csv(tables: Iterable[Table]) -> str:
    """One row for each row of every table, with the table's facts; means and deviations apart."""
    rows = [row for table in tables for row in _csv_rows(table)]
    header = list(dict.fromkeys(key for row in rows for key in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, header, lineterminator="\n")
    writer.writerow({key: spreadsheet_safe(key) for key in header})
    writer.writerows({key: spreadsheet_safe(value) for key, value in row.items()} for row in rows)
    return text.getvalue()


def _csv_rows(table: Table) -> Iterable[dict[str, Any]]:
    for row in table.rows:
        values: dict[str, Any] = {"experiment": table.experiment, "table": table.title}
        values |= table.facts
        for column, cell in zip(table.columns, row, strict=True):
            values[column.full_name] = cell.value
            if cell.deviation is not None:
                values[f"{column.full_name} deviation"] = cell.deviation
        yield values


def spreadsheet_safe(value: Any) -> Any:
    """A text that a spreadsheet would take for a formula gets an apostrophe in front.

    What a terminal would take for a command is spelled out.

    >>> spreadsheet_safe("=1+1"), spreadsheet_safe("-3"), spreadsheet_safe("MCZSL - SA")
    ("'=1+1", '-3', 'MCZSL - SA')
    """
    if not isinstance(value, str) or _NUMBER.match(value):
        return value
    return f"'{printable(value)}" if _FORMULA.match(value) else printable(value)


def as_json(tables: Iterable[Table]) -> str:
    """For programs: every cell with mean, deviation and rank."""
    return json.dumps(
        [
            {
                "experiment": table.experiment,
                "title": table.title,
                "facts": table.facts,
                "rows": [
                    {
                        column.full_name: _json_cell(cell)
                        for column, cell in zip(table.columns, row, strict=True)
                    }
                    for row in table.rows
                ],
                "notes": table.notes,
            }
            for table in tables
        ],
        indent=1,
        ensure_ascii=False,
    )


def _json_cell(cell: Cell) -> Any:
    if not isinstance(cell.value, float):
        return cell.value
    return {"mean": cell.value, "deviation": cell.deviation, "rank": cell.rank or None}


FORMATS: dict[str, Callable[[Sequence[Table]], str]] = {
    "md": markdown,
    "tex": latex,
    "csv": as_csv,
    "json": as_json,
}
