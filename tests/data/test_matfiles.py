import struct
import zlib

import numpy as np
import pytest
import scipy.io
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mczsl.data.matfiles import MatFile
from mczsl.errors import DataError
from tests.data import samples

numbers = hnp.arrays(
    st.sampled_from(["i1", "u1", "i2", "u2", "i4", "u4", "i8", "f4", "f8"]),
    hnp.array_shapes(min_dims=2, max_dims=2, max_side=4),
    elements=st.integers(0, 100),
)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("mat") / "some.mat"


@given(table=numbers, compressed=st.booleans())
def test_tables_of_any_type_are_read_as_they_were_written(path, table, compressed):
    scipy.io.savemat(path, {"before": "x", "table": table}, do_compression=compressed)
    np.testing.assert_array_equal(MatFile(path).columns("table"), table.T)


@given(st.lists(st.text("aé+_世 z", min_size=1, max_size=9).filter(str.strip), min_size=1))
def test_texts_in_cells_are_read_as_they_were_written(path, texts):
    scipy.io.savemat(path, {"names": samples.cells(texts)}, do_compression=True)
    assert MatFile(path).texts("names") == [text.strip() for text in texts]


def test_an_empty_cell_keeps_its_place(path):
    scipy.io.savemat(path, {"names": samples.cells(["ant", "", "cow"])})
    assert MatFile(path).texts("names") == ["ant", "", "cow"]


def test_sparse_tables_become_dense(path):
    dense = np.array([[0, 2.5, 0], [1, 0, 0]])
    scipy.io.savemat(path, {"table": scipy.sparse.csc_matrix(dense)})
    np.testing.assert_array_equal(MatFile(path).columns("table"), dense.T)


def test_the_other_byte_order_is_read(path):
    """Written by hand, since no writer here makes such files: the table [[1, 2]] named "t"."""
    elements = (
        struct.pack(">IIII", 6, 8, 6, 0)  # flags: doubles
        + struct.pack(">IIii", 5, 8, 1, 2)  # shape
        + struct.pack(">HHcxxx", 1, 1, b"t")  # a small element
        + struct.pack(">IIdd", 9, 16, 1.0, 2.0)
    )
    header = b"MATLAB 5.0 MAT-file".ljust(124) + b"\1\0MI"
    path.write_bytes(header + struct.pack(">II", 14, len(elements)) + elements)
    assert MatFile(path).columns("t").tolist() == [[1.0], [2.0]]


@pytest.mark.parametrize(
    "value", [np.array([[1 + 2j]]), {"field": 1.0}, samples.cells(["a"]), "text"]
)
def test_what_is_no_table_of_numbers_is_refused(path, value):
    scipy.io.savemat(path, {"table": value})
    with pytest.raises(DataError, match=r"some\.mat: table"):
        MatFile(path).columns("table")


def test_a_bomb_is_refused_before_it_is_unpacked(path):
    claimed = 2**31
    small = struct.pack("<IIII", 6, 8, 6, 0) + struct.pack("<IIii", 5, 8, 1, 1)
    name = struct.pack("<HHcxxx", 1, 1, b"t")
    bomb = zlib.compress(struct.pack("<II", 14, claimed) + small + name + bytes(2**20))
    header = b"MATLAB 5.0 MAT-file".ljust(124) + b"\0\1IM"
    path.write_bytes(header + struct.pack("<II", 15, len(bomb)) + bomb)
    with pytest.raises(DataError, match=f"t would unpack from {len(bomb)} to {claimed} bytes"):
        MatFile(path).columns("t")
