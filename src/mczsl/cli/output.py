"""Tables on the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def show_table(
    header: Sequence[str], rows: Sequence[Sequence[Any]], title: str = "", caption: str = ""
) -> None:
    """Print a table; numbers to the right with two digits, a dash where there is no value."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE, title=title, caption=caption, title_justify="left")
    numeric = [any(isinstance(row[i], int | float) for row in rows) for i in range(len(header))]
    for name, is_numeric in zip(header, numeric, strict=True):
        table.add_column(name, justify="right" if is_numeric else "left")
    for row in rows:
        table.add_row(*(Text(as_text(value)) for value in row))
    console = Console()
    if not console.is_terminal:
        console.width = max(console.width, 160)  # a pipe or a file has no width to fit into
    console.print(table)


def as_text(value: Any) -> str:
    r"""A cell's text, without anything that a terminal would obey.

    >>> as_text(1.234), as_text(None), as_text("a\x1b[31mb")
    ('1.23', '-', 'a[31mb')
    """
    if value is None:
        return "-"
    text = f"{value:.2f}" if isinstance(value, float) else str(value)
    return "".join(character for character in text if character.isprintable())
