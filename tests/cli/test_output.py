import pytest

from mczsl.cli.output import show_table


def test_a_table_of_numbers_and_gaps(capsys: pytest.CaptureFixture[str]) -> None:
    show_table(["name", "value"], [["one", 1.0], ["none", None], ["many", 12.345]], title="Title")
    lines = [line.split() for line in capsys.readouterr().out.splitlines() if line.strip()]
    assert ["Title"] in lines
    assert ["one", "1.00"] in lines
    assert ["none", "-"] in lines
    assert ["many", "12.35"] in lines or ["many", "12.34"] in lines


def test_text_from_outside_is_neither_markup_nor_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    nasty = "[red]\x1b[2J[/nothing]"
    show_table([nasty], [[nasty]], title=nasty, caption=nasty)
    written = capsys.readouterr().out
    assert "\x1b" not in written
    assert written.count("[red]\\x1b[2J[/nothing]") == 4


def test_an_empty_table(capsys: pytest.CaptureFixture[str]) -> None:
    show_table(["name"], [])
    assert "name" in capsys.readouterr().out


def test_no_letter_is_lost_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    header = [f"column number {number}" for number in range(15)]
    show_table(header, [["x" * 18] * 15])
    written = capsys.readouterr().out
    assert "\N{HORIZONTAL ELLIPSIS}" not in written
    assert written.count("x") == 15 * 18
