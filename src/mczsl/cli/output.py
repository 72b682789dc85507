"""Tables on the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from mczsl.errors import printable


def show_table(
    header: Sequence[str], rows: Sequence[Sequence[Any]], title: str = "", caption: str = ""
) -> None:
    """Print a table; numbers to the right with two digits, a dash where there is no value."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(
        box=box.SIMPLE,
        title=Text(printable(title), "table.title"),
        caption=Text(printable(caption), "table.caption"),
        title_justify="left",
    )
    numeric = [any(isinstance(row[i], int | float) for row in rows) for i in range(len(header))]
    for name, is_numeric in zip(header, numeric, strict=True):
        justify: Literal["left", "right"] = "right" if is_numeric else "left"
        table.add_column(Text(printable(name)), justify=justify, overflow="fold")
    for row in rows:
        table.add_row(*(Text(as_text(value)) for value in row))
    console = Console()
    if not console.is_terminal:
        console.width = max(console.width, 300)  # a pipe or a file has no width to fit into
    console.print(table)


def as_text(value: Any) -> str:
    """A cell's text.

    >>> as_text(1.234), as_text(None)
    ('1.23', '-')
    """
    if value is None:
        return "-"
    return printable(f"{value:.2f}" if isinstance(value, float) else str(value))
