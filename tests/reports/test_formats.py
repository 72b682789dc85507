"""The four formats: what is marked, and that no text can do harm."""

import csv
import io
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from mczsl.reports.formats import as_csv, as_json, latex, markdown, spreadsheet_safe
from mczsl.reports.tables import Table, make_tables
from tests.reports.made_up import made_up, record

EVIL = '=HYPERLINK("x")|<script>alert(1)</script> $a_b$ 50% & #1 {x} \\cmd ~^'


def tables(label: str = "MCZSL", reported: str | None = "table2") -> list[Table]:
    runs = [
        (label, 0, record(mH=50.0)),
        (label, 1, record(mH=51.0)),
        ("B", 0, record(mH=40.0)),
        ("C", 0, record(mH=30.0)),
    ]
    return make_tables(made_up(runs, reported=reported, dataset="CUB"))


def test_markdown_marks_best_and_second() -> None:
    text = markdown(tables(reported=None))
    lines = [line for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    at = cells[0].index("mH")
    assert [row[at] for row in cells[2:]] == ["**50.50 ± 0.71**", "<u>40.00</u>", "30.00"]
    assert all(len(row) == len(cells[0]) for row in cells)
    assert cells[1][at] == "---:"


def test_latex_marks_and_balances() -> None:
    text = latex(tables())
    assert r"\textbf{50.50 $\pm$ 0.71}" in text
    assert r"\underline{40.00}" in text
    assert r"\multicolumn{3}{c}{reported (ResNet-101)}" in text
    for rule in ("toprule", "midrule", "bottomrule", "cmidrule"):
        assert rf"\{rule}" in text
    columns = len(re.search(r"\\begin\{tabular\}\{(\w+)\}", text).group(1))
    rows = [line for line in text.splitlines() if line.endswith(r"\\")]
    for row in rows[1:]:
        assert row.count("&") == columns - 1, row


def test_csv_keeps_figures_and_says_what_they_are() -> None:
    rows = list(csv.DictReader(io.StringIO(as_csv(tables()))))
    assert rows[0]["mH"] == "50.5"
    assert float(rows[0]["mH deviation"]) == pytest.approx(0.5**0.5)
    assert rows[1]["mH deviation"] == ""
    assert rows[0]["mH, reported (ResNet-101)"] == "51.31"
    assert {row["dataset"] for row in rows} == {"CUB"}
    assert {row["candidates"] for row in rows} == {"joint"}


def test_json_has_every_cell() -> None:
    (table,) = json.loads(as_json(tables()))
    assert table["rows"][0]["mH"] == {
        "mean": 50.5,
        "deviation": pytest.approx(0.5**0.5),
        "rank": 1,
    }
    assert table["rows"][0]["method"] == "MCZSL"
    assert table["facts"]["setting"] == "fixed continual GZSL"


def test_an_evil_name_stays_a_name() -> None:
    evil = tables(EVIL, reported=None)
    assert "<script>" not in markdown(evil)
    row = next(line for line in markdown(evil).splitlines() if "HYPERLINK" in line)
    assert len(re.findall(r"(?<!\\)\|", row)) == len(evil[0].columns) + 1
    first = next(csv.DictReader(io.StringIO(as_csv(evil))))
    assert first["method"] == "'" + EVIL
    assert json.loads(as_json(evil))[0]["rows"][0]["method"] == EVIL
    line = next(line for line in latex(evil).splitlines() if "HYPERLINK" in line)
    assert r"\textbackslash{}cmd" in line
    assert r"50\% \& \#1 \{x\}" in line
    assert r"\$a\_b\$" in line


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t=", " ="])
def test_no_cell_starts_a_formula(start: str) -> None:
    first = next(csv.DictReader(io.StringIO(as_csv(tables(f"{start}1+1", reported=None)))))
    assert first["method"].startswith("'")


def test_no_table_commands_a_terminal() -> None:
    wild = tables("red \x1b[31m", reported=None)
    for text in (markdown(wild), latex(wild), as_csv(wild), as_json(wild)):
        assert "\x1b" not in text
        assert "x1b" in text or "u001b" in text, "the name is still told"


def test_numbers_in_texts_stay_as_they_are() -> None:
    assert [spreadsheet_safe(text) for text in ("-3", "+4.5", "-3\n", "-3-2")] == [
        *("-3", "+4.5", "'-3\n", "'-3-2")
    ]


def test_latex_compiles(tmp_path: Path) -> None:
    if shutil.which("pdflatex") is None:
        pytest.skip("no LaTeX here")
    body = latex([*tables(), *tables(EVIL, reported=None)])
    document = r"\documentclass{article}\usepackage{booktabs}\begin{document}%s\end{document}"
    (tmp_path / "x.tex").write_text(document % body)
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "x.tex"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
