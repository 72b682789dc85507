"""Which columns are labels, numbers or an index: by their headers first, by their places last."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mczsl.data.columns import of_questions, of_samples
from mczsl.data.tables import (
    label_texts,
    read_attributes,
    read_classes,
    read_labels,
    read_matrix,
    read_table,
)
from mczsl.errors import DataError

NUMBERS = np.array([[7, 5], [8, 6]], np.float32)


def write(folder: Path, text: str) -> Path:
    (folder / "t.csv").write_text(text)
    return folder / "t.csv"


def samples(path: Path) -> tuple[list[str], list[list[float]], tuple[str, ...] | None]:
    table = read_table(path, of_samples, named=True)
    return label_texts(table.labels or [], "labels"), table.numbers.tolist(), table.columns


@pytest.mark.parametrize("header", ["label", "Class", "target", "y", "name", "class_name"])
@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("labels", [["3", "4"], ["ant", "bee"]])
@pytest.mark.parametrize("index", [None, "", "id", "Unnamed: 0"])
def test_a_headed_label_is_found_wherever_it_stands(
    tmp_path: Path, header: str, place: int, labels: list[str], index: str | None
) -> None:
    frame = pd.DataFrame(NUMBERS, columns=["w", "h"])
    frame.insert(place, header, labels)
    if index is not None:
        frame.insert(0, index, [0, 1])
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert samples(tmp_path / "t.csv") == (labels, NUMBERS.tolist(), ("w", "h"))
    if index != "":
        frame.to_parquet(tmp_path / "t.parquet")
        assert samples(tmp_path / "t.parquet") == (labels, NUMBERS.tolist(), ("w", "h"))


@pytest.mark.parametrize(
    ("text", "labels", "columns"),
    [
        ("species,w,h\nant,7,5\nbee,8,6\n", ["ant", "bee"], ("w", "h")),
        ("digit,w,h\n3,7,5\n4,8,6\n", ["3", "4"], ("w", "h")),
        ("species,x,y\nant,7,5\nbee,8,6\n", ["ant", "bee"], ("x", "y")),
        (",w,h\nant,7,5\nbee,8,6\n", ["ant", "bee"], ("w", "h")),
        (",species,w,h\n0,ant,7,5\n1,bee,8,6\n", ["ant", "bee"], ("w", "h")),
        ("ant,7,5\nbee,8,6\n", ["ant", "bee"], None),
        ("x,y,label\n7,5,3\n8,6,4\n", ["3", "4"], ("x", "y")),
        (",0,1,label\n0,7,5,3\n1,8,6,4\n", ["3", "4"], None),
        ("0,1,target\n7,5,3\n8,6,4\n", ["3", "4"], None),
        ("target,0,1\n3,7,5\n4,8,6\n", ["3", "4"], None),
        ("label,w,w\n3,7,5\n4,8,6\n", ["3", "4"], None),
        ("label,w,\n3,7,5\n4,8,6\n", ["3", "4"], None),
        ('"w","h","label"\n"1",7,5,3\n"2",8,6,4\n', ["3", "4"], ("w", "h")),  # as R writes it
    ],
)
def test_headers_that_say_less(
    tmp_path: Path, text: str, labels: list[str], columns: tuple[str, ...] | None
) -> None:
    assert samples(write(tmp_path, text)) == (labels, NUMBERS.tolist(), columns)


def test_columns_that_are_only_counted_have_no_names_and_a_row_of_data_is_kept(
    tmp_path: Path,
) -> None:
    counted = "0,1,2,3,y\n7,5,1,1,3\n"
    assert samples(write(tmp_path, counted)) == (["3"], [[7, 5, 1, 1]], None)
    assert samples(write(tmp_path, "y,7,5\nn,8,6\n")) == (["y", "n"], NUMBERS.tolist(), None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (",w,h\n0,7,5\n1,8,6\n", r"t\.csv: its column '' counts the rows, and none is headed"),
        ("id,w,h\n10,7,5\n11,8,6\n", "its column 'id' counts the rows"),
        ("class,w,target\n1,7,5\n2,8,6\n", r"\('class', 'target'\); rename all but one"),
        ("file,w,label\na.png,7,5\nb.png,8,6\n", r"row 0, column 'file' is 'a\.png'"),
        ("w,h\n7,5,3,4\n", "row 0 has 4 columns, the header 2"),
        ("ant,7,5\nbee,8,x\n", "row 1, column 2 is 'x'"),
    ],
)
def test_what_is_unclear_is_an_error(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        samples(write(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "features", "width", "labels", "columns"),
    [
        ("w,h\n7,5\n8,6\n", (), 2, None, ("w", "h")),
        ("w,h,label\n7,5,3\n8,6,4\n", (), 2, ["3", "4"], ("w", "h")),
        ("w,h,y\n7,5,3\n8,6,4\n", (), 2, ["3", "4"], ("w", "h")),
        ("x,y\n7,5\n8,6\n", (), 2, None, ("x", "y")),
        ("w,class\n7,5\n8,6\n", ("w", "class"), 2, None, ("w", "class")),
        ("w,class,target\n7,5,3\n8,6,4\n", ("w", "class"), 2, ["3", "4"], ("w", "class")),
        ("id,w,h\n1,7,5\n2,8,6\n", (), 2, None, ("w", "h")),
        ("7,5\n8,6\n", (), 2, None, None),
    ],
)
def test_of_rows_to_be_recognised_only_a_headed_label_is_left_out(
    tmp_path: Path,
    text: str,
    features: tuple[str, ...],
    width: int,
    labels: list[str] | None,
    columns: tuple[str, ...] | None,
) -> None:
    table = read_table(write(tmp_path, text), of_questions(features, width), named=False)
    np.testing.assert_array_equal(table.numbers, NUMBERS)
    assert (table.labels, table.columns) == (labels, columns)


@pytest.mark.parametrize(
    ("text", "known", "columns"),
    [
        ("3,17\n7,5\n8,6\n", {"3", "17"}, ("3", "17")),
        ("17,3\n7,5\n8,6\n", {"3", "17"}, ("17", "3")),
        (",3,17\n0,7,5\n1,8,6\n", {"3", "17"}, ("3", "17")),
        ("id, 3 ,17\n0,7,5\n1,8,6\n", {"3", "17"}, ("3", "17")),
        ("7,5\n8,6\n", {"3", "17"}, None),
        ("7,5\n8,6\n", {"7", "17"}, None),
        ("7,5\n8,6\n", (), None),
    ],
)
def test_numbers_are_a_header_if_they_are_the_names_that_are_known(
    tmp_path: Path, text: str, known: set[str], columns: tuple[str, ...] | None
) -> None:
    table = read_table(write(tmp_path, text), of_questions(known, 2), named=False, known=known)
    np.testing.assert_array_equal(table.numbers, NUMBERS)
    assert table.columns == columns


@pytest.mark.parametrize(
    ("text", "names", "columns"),
    [
        ("w,h,class\n7,5,ant\n8,6,bee\n", ["ant", "bee"], ("w", "h")),
        ("id,w,h,name\n1,7,5,ant\n2,8,6,bee\n", ["ant", "bee"], ("w", "h")),
        ("id,w,h\n1,7,5\n2,8,6\n", ["1", "2"], ("w", "h")),
        (",w,h\n0,7,5\n1,8,6\n", ["0", "1"], ("w", "h")),
        ("name,w,class\nant,7,5\nbee,8,6\n", ["ant", "bee"], ("w", "class")),
        ("species,w,class\nant,7,5\nbee,8,6\n", ["ant", "bee"], ("w", "class")),
        ("species,target,y\nant,7,5\nbee,8,6\n", ["ant", "bee"], ("target", "y")),
    ],
)
def test_a_table_of_classes_has_its_names_headed_or_first(
    tmp_path: Path, text: str, names: list[str], columns: tuple[str, ...]
) -> None:
    found, table = read_classes(write(tmp_path, text))
    assert (found, table.columns) == (names, columns)
    np.testing.assert_array_equal(table.numbers, NUMBERS)
    assert read_attributes(tmp_path / "t.csv")[0] == names


def test_an_index_is_no_feature_and_no_list_of_labels(tmp_path: Path) -> None:
    np.testing.assert_array_equal(read_matrix(write(tmp_path, "id,w,h\n1,7,5\n2,8,6\n")), NUMBERS)
    assert read_labels(write(tmp_path, "target\nant\nbee\n")) == ["ant", "bee"]
    assert read_labels(write(tmp_path, "id,label\n1,ant\n2,bee\n")) == ["ant", "bee"]
