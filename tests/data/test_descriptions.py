from pathlib import Path

import pandas as pd
import pytest

from mczsl.data.descriptions import read_descriptions
from mczsl.errors import DataError

TEXTS = {"ant": "small, with six legs", "bee": "striped; it flies"}
SERIES = pd.Series(TEXTS)
FRAME = pd.DataFrame({"species": TEXTS.keys(), "description": TEXTS.values()})


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize(
    "table",
    [
        FRAME.set_index("species"),
        FRAME.set_index("species").rename(columns={"description": "Text"}),
        FRAME.set_index("species")
        .rename(columns={"description": "what it is like"})
        .rename_axis("class"),
        SERIES,
        SERIES.rename_axis("species"),
        SERIES.rename_axis("target"),
        FRAME,
        FRAME.rename_axis("id"),
        FRAME.rename(columns={"species": "label", "description": "said"}),
    ],
    ids=str,
)
def test_headers_and_indices_are_no_classes(
    tmp_path: Path, table: pd.DataFrame | pd.Series, delimiter: str
) -> None:
    table.to_csv(tmp_path / "d.csv", sep=delimiter)
    assert read_descriptions(tmp_path / "d.csv") == TEXTS


def test_without_a_header_every_row_is_a_class(tmp_path: Path) -> None:
    SERIES.to_csv(tmp_path / "d.csv", header=False)
    assert read_descriptions(tmp_path / "d.csv") == TEXTS


@pytest.mark.parametrize(
    ("text", "row"),
    [("id,a text, cut\nbee,a text, cut\n", 0), (",class,text\n0,ant,a\n1,bee,a text, cut\n", 1)],
)
def test_what_is_cut_by_a_comma_is_no_index(tmp_path: Path, text: str, row: int) -> None:
    (tmp_path / "d.csv").write_text(text)
    with pytest.raises(DataError, match=f"row {row} has 3 columns; it needs two"):
        read_descriptions(tmp_path / "d.csv")
