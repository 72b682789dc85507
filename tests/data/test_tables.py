import contextlib
import csv
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mczsl.data.tables import label_texts, read_attributes, read_labels, read_matrix
from mczsl.errors import DataError, MczslError

TABLE = np.array([[1.5, 2.25], [3.0, -4.5], [0.125, 1e-3]], np.float32)
NAMES = ["ant", 'say "moo"', "two\nlines; and, more"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tables")


def write(folder, text, name="t.csv", encoding="utf-8"):
    (folder / name).write_bytes(text.encode(encoding))
    return folder / name


@pytest.mark.parametrize(
    "text",
    [
        "1.5,2.25\n3,-4.5\n0.125,1e-3\n",
        "\ufeff1.5,2.25\r\n3,-4.5\r\n0.125,0.001\r\n\r\n",
        "1,5;2,25\n3;-4,5\n0,125;0,001",
        "1.5\t2.25\n3\t-4.5\n0.125\t1e-3\n",
        "width,height\n1.5,2.25\n3,-4.5\n0.125,1e-3\n",
        '"width, all";"height"\n"1,5";2,25\n3;-4,5\n0,125;1e-3\n',
        ",0,1\n0,1.5,2.25\n1,3,-4.5\n2,0.125,1e-3\n",
        ",width,height\na.jpg,1.5,2.25\nb.jpg,3,-4.5\nc.jpg,0.125,1e-3\n",
        ' 1.5 ,"2.25"\n 3,-4.5\n0.125,1e-3\n',
    ],
)
def test_one_table_in_the_ways_in_which_programs_write_it(folder, text):
    np.testing.assert_array_equal(read_matrix(write(folder, text)), TABLE)


def test_columns_numbered_by_pandas_are_a_header_and_data_never_is(folder):
    wide = np.arange(10, dtype=np.float32).reshape(2, 5) + 0.5
    pd.DataFrame(wide).to_csv(folder / "t.csv", index=False)
    np.testing.assert_array_equal(read_matrix(folder / "t.csv"), wide)
    np.testing.assert_array_equal(read_matrix(write(folder, "0,1\n1,0\n")), [[0, 1], [1, 0]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no rows"),
        ("a,b\n", "has no rows"),
        ("1,2\n3\n", "row 1 has 1 columns, the rows before it 2"),
        ("1,2\n\n3,4\n", "row 1 is a blank line"),
        ("\n1,2\n", "row 0 is a blank line"),
        ("1,2\n3,\n", "row 1, column 1 is empty"),
        ("1,2\n3,abc\n", "row 1, column 1 is 'abc'"),
        ("1,abc\n3,4\n", "row 0, column 1 is 'abc'"),
        ("1,2\n3,True\n", "is 'True'"),
        ("1,2\n3,1_0\n", "is '1_0'"),
        ('1,2\n3,"1,234"\n', "decimal comma or a thousands mark"),
        ("1;2\n3;1.234,5\n", r"is '1\.234,5'"),
        ('1,2\n3,"4\n', "cannot be read"),
        ("1,2\n3,1e300\n", "row 1, column 1: 1e300 is too large"),
        ("id,w,h\n1,2,3\n2,4,\n", "row 1, column 'h' is empty"),
        ("id;w;h\n1;2;3\n2;4;1e39\n", "row 1, column 'h': 1e39 is too large"),
    ],
)
def test_each_fault_of_a_csv_names_its_place(folder, text, message):
    with pytest.raises(DataError, match=message):
        read_matrix(write(folder, text))


def test_a_text_that_is_not_utf8_says_so(folder):
    with pytest.raises(DataError, match=r"UnicodeDecodeError.*save it as CSV in UTF-8"):
        read_attributes(write(folder, "größe,1\nlänge,2\n", encoding="latin-1"))


@pytest.mark.parametrize(
    "header", [None, ["class", "a", "b"], ["", "0", "1"], ["anything", "a", "b"]]
)
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_attributes_have_the_class_name_first(folder, header, delimiter):
    path = folder / "a.csv"
    with path.open("w", newline="", encoding="utf-8-sig") as file:
        writer = csv.writer(file, delimiter=delimiter)
        if header:
            writer.writerow(header)
        writer.writerows([name, *row] for name, row in zip(NAMES, TABLE.tolist(), strict=True))
    names, matrix = read_attributes(path)
    assert names == NAMES
    np.testing.assert_array_equal(matrix, TABLE)


def test_a_missing_class_name_is_named(folder):
    with pytest.raises(DataError, match="class names: row 1 is empty"):
        read_attributes(write(folder, "ant,1,2\n,3,4\n"))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("label\nant\n3.0\ncow\n", "l.csv"),
        ("ant\n3\ncow\n", "l.csv"),
        ("ant\n3\ncow\n", "l.txt"),
        (",label\n0,ant\n1,3\n2,cow\n", "l.csv"),
        (",0\n0,ant\n1,3\n2,cow\n", "l.csv"),
        ("image;Class\na.jpg;ant\nb.jpg;3,0\nc.jpg;cow\n".replace("3,0", "3"), "l.csv"),
    ],
)
def test_labels_are_found_in_their_column(folder, text, name):
    assert read_labels(write(folder, text, name)) == ["ant", "3", "cow"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ant\n\ncow\n", "row 1 is empty"),
        ('ant\n""\ncow\n', "row 1 is empty"),
        ("image,species\na,b\n", "name the one with the labels 'label'"),
        ("", "csv: is empty"),
    ],
)
def test_faults_of_labels_are_named(folder, text, message):
    with pytest.raises(DataError, match=message):
        read_labels(write(folder, text))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1, None], "row 1 is empty"),
        ([1.0, float("nan")], "row 1 is empty"),
        ([1, 2.5], "row 1 is 2.5"),
        ([True], "row 0 is True"),
        (np.array([1.5]), "1.5 at position 0"),
        (np.array([True]), "row 0 is True"),
        (np.array(["a", ""]), "row 1 is empty"),
    ],
)
def test_labels_that_are_none_are_refused(values, message):
    with pytest.raises(DataError, match=message):
        label_texts(values, "labels")


@pytest.mark.parametrize(
    "values",
    [np.array([-1, 7]), np.array([-1.0, 7.0]), np.array([b"-1", b"7"]), ["-1", "7.0"], [-1, 7.0]],
)
def test_labels_of_any_type_become_texts(values):
    assert label_texts(values, "labels") == ["-1", "7"]


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_numpy_tables_of_floats_stay_on_disk(folder, dtype):
    np.save(folder / "m.npy", TABLE.astype(dtype))
    matrix = read_matrix(folder / "m.npy")
    assert isinstance(matrix, np.memmap)
    assert matrix.dtype == dtype


@pytest.mark.parametrize("array", [TABLE.astype(">f4"), TABLE.astype(np.float64), TABLE.T.copy().T])
def test_other_numpy_tables_become_float32(folder, array):
    np.save(folder / "m.npy", array)
    matrix = read_matrix(folder / "m.npy")
    assert matrix.dtype == np.dtype(np.float32)
    assert matrix.flags.c_contiguous
    np.testing.assert_array_equal(matrix, TABLE)


def test_python_objects_are_never_loaded(folder):
    np.save(folder / "o.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(DataError, match="cannot be read"):
        read_matrix(folder / "o.npy")


def test_parquet_as_pandas_writes_it(folder):
    frame = pd.DataFrame(TABLE, columns=["w", "h"])
    frame.to_parquet(folder / "m.parquet")
    np.testing.assert_array_equal(read_matrix(folder / "m.parquet"), TABLE)
    frame.index = pd.Index(NAMES)
    frame.to_parquet(folder / "a.parquet")  # the names become the last column
    np.testing.assert_array_equal(read_matrix(folder / "a.parquet"), TABLE)
    names, matrix = read_attributes(folder / "a.parquet")
    assert names == NAMES
    np.testing.assert_array_equal(matrix, TABLE)
    frame.reset_index(names="class").to_parquet(folder / "a.parquet", index=False)
    assert read_attributes(folder / "a.parquet")[0] == NAMES
    pd.DataFrame({"label": pd.Categorical(NAMES)}).to_parquet(folder / "l.parquet")
    assert read_labels(folder / "l.parquet") == NAMES
    pd.DataFrame({"embedding": TABLE.tolist()}).to_parquet(folder / "e.parquet")
    np.testing.assert_array_equal(read_matrix(folder / "e.parquet"), TABLE)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.DataFrame({"w": [1.0, 2.0], "h": ["a", "b"]}), "column 'h'"),
        (pd.DataFrame({"w": [True, False]}), "column 'w': must be numbers, not booleans"),
        (pd.DataFrame({"e": [[1.0, 2.0], [3.0]]}), "rows differ in length"),
    ],
)
def test_faults_of_parquet_are_named(folder, frame, message):
    frame.to_parquet(folder / "bad.parquet")
    with pytest.raises(DataError, match=message):
        read_matrix(folder / "bad.parquet")


@pytest.mark.parametrize("failure", [ImportError, RuntimeError])
def test_without_pyarrow_the_extra_is_named(folder, monkeypatch, failure):
    class Broken:
        def find_spec(self, name, path=None, target=None):
            if name.startswith("pyarrow"):
                raise failure("broken")

    pd.DataFrame(TABLE, columns=["w", "h"]).to_parquet(folder / "m.parquet")
    for name in [each for each in sys.modules if each.split(".")[0] == "pyarrow"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [Broken(), *sys.meta_path])
    with pytest.raises(DataError, match=r"pip install 'mczsl\[tables\]'"):
        read_matrix(folder / "m.parquet")


def test_an_unknown_kind_of_file_lists_the_known(folder):
    with pytest.raises(MczslError, match=r"\.xlsx.*Known: \.csv, \.npy"):
        read_matrix(folder / "t.xlsx")
    with pytest.raises(DataError, match="no such file"):
        read_matrix(folder / "absent.csv")


@given(
    hnp.arrays(
        np.float32,
        hnp.array_shapes(min_dims=2, max_dims=2, max_side=4),
        elements=st.floats(-1e6, 1e6, width=32),
    ),
    st.sampled_from([",", ";", "\t"]),
    st.booleans(),
)
def test_any_table_survives_the_way_through_csv(folder, table, delimiter, decimal_comma):
    lines = [delimiter.join(map(repr, row)) for row in table.tolist()]
    text = "c" + f"{delimiter}c" * (table.shape[1] - 1) + "\n" + "\n".join(lines)
    if decimal_comma and delimiter != ",":
        text = text.replace(".", ",")
    if table.shape[1] == 1 and "," in text:
        return  # one column of decimal commas looks like two columns
    np.testing.assert_array_equal(read_matrix(write(folder, text)), table)


@given(st.text(max_size=60) | st.text("12,;\t\n\"'.-e", max_size=60))
def test_any_text_gives_a_table_or_a_named_error(folder, text):
    path = write(folder, text, encoding="utf-8", name="any.csv")
    for reader in (read_matrix, read_attributes, read_labels):
        with contextlib.suppress(MczslError):
            reader(path)
