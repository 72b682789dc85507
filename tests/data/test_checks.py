import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mczsl.data import checks
from mczsl.data.convert import as_integers, as_matrix
from mczsl.errors import DataError


def ones(rows: int = 3, columns: int = 2) -> np.ndarray:
    return np.ones((rows, columns), np.float32)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_the_place_of_a_value_that_is_not_finite_is_named(value):
    features = ones(checks.BLOCK + 3)  # the fault is in the second block
    features[checks.BLOCK + 1, 1] = value
    with pytest.raises(DataError, match=f"{value} at row {checks.BLOCK + 1}, column 1"):
        checks.check_features(features)


def test_all_faults_of_features_are_found_and_counted():
    features = ones(checks.BLOCK + 5)
    features[[2, checks.BLOCK + 1]] = np.nan
    features[[3, checks.BLOCK + 2]] = 0
    first, second = checks.feature_problems(features)
    assert "nan at row 2, column 0 (4 values are not finite)" in first.message
    assert "row 3 is all zeros (2 such rows)" in second.message


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (np.ones(3, np.float32), "must be a table"),
        (np.ones((0, 3), np.float32), "is empty"),
        (np.ones((3, 0), np.float32), "is empty"),
        (np.ones((2, 2), bool), "not bool"),
        (np.array([["1", "2"]]), "not <U1"),
    ],
)
def test_what_is_not_a_table_of_numbers_is_refused(features, message):
    with pytest.raises(DataError, match=message):
        checks.check_features(features)


def test_attributes_need_a_row_for_each_class():
    with pytest.raises(DataError, match="3 rows for 2 classes"):
        checks.check_attributes(ones(), ["a", "b"])


def test_every_fault_of_attributes_names_its_class():
    attributes = np.array([[1, 2], [0, 0], [1, 2], [np.nan, 1]], np.float32)
    messages = [
        problem.message
        for problem in checks.attribute_problems(attributes, ["ant", "bee", "cow", "dog"])
    ]
    assert len(messages) == 3
    assert "nan at row 3, column 0, class 'dog'" in messages[0]
    assert "'bee' are all zeros" in messages[1]
    assert "'ant' and 'cow' are described by the same values" in messages[2]


@pytest.mark.parametrize(("factor", "word"), [(1e30, "large"), (1e-30, "small")])
def test_attributes_that_cannot_be_computed_with_are_named(factor, word):
    attributes = np.array([[1, 0], [0, factor]], dtype=np.float32)
    with pytest.raises(DataError, match=f"class 'b' are too {word} to compute with"):
        checks.check_attributes(attributes, ["a", "b"])


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([], "no classes"),
        (["a", " "], "' ' is not a non-empty text"),
        (["a", 3], "3 is not a non-empty text"),
        (["a", "b", "a"], "'a' is listed 2 times"),
    ],
)
def test_bad_class_names_are_named(names, message):
    with pytest.raises(DataError, match=message):
        checks.check_class_names(names)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([0, 3], "run from 0 to 3, but there are 3 rows"),
        ([-1, 2], "run from -1 to 2"),
        ([1, 1], "row 1 is listed more than once"),
        ([0.5], "whole numbers"),
    ],
)
def test_bad_row_numbers_are_named(rows, message):
    (problem,) = checks.row_problems(np.array(rows), 3, "split trainval")
    assert message in problem.message


@given(
    hnp.arrays(
        hnp.integer_dtypes(endianness="?") | hnp.floating_dtypes(sizes=(16, 32), endianness="?"),
        hnp.array_shapes(min_dims=2, max_dims=2, max_side=4),
    ),
    st.booleans(),
)
def test_any_number_type_becomes_native_contiguous_float32(array, transposed):
    given_array = array.T if transposed else array
    given_array.flags.writeable = False
    matrix = as_matrix(given_array)
    assert matrix.dtype == np.dtype(np.float32)
    assert matrix.flags.c_contiguous
    np.testing.assert_array_equal(matrix, given_array.astype(np.float32))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[1.0, 2.0], [3.0]], "rows differ in length"),
        ([["1", "2"]], "not texts"),
        ([[True, False]], "not booleans"),
        ([[1.0, None]], "not mixed objects"),
        ([[1j]], "not complex128"),
        ([[1.0, 1e300]], r"1e\+300 at \(0, 1\) is too large"),
    ],
)
def test_what_cannot_become_a_matrix_says_why(values, message):
    with pytest.raises(DataError, match=message):
        as_matrix(values)


@given(st.lists(st.integers(-(2**50), 2**50), min_size=1), st.sampled_from([">i8", "<i8", "<f8"]))
def test_whole_numbers_stay_the_same_in_any_type(numbers, dtype):
    assert as_integers(np.array(numbers, dtype), "labels").tolist() == numbers


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1.0, 2.5], "2.5 at position 1 is not a whole number"),
        ([1.0, np.nan], "nan at position 1"),
        ([np.inf], "inf at position 0"),
        (np.array([2**63], np.uint64), "not a whole number"),
        (["3"], "not texts"),
        ([True], "not booleans"),
        (np.ones((2, 2)), r"table of shape \(2, 2\)"),
    ],
)
def test_what_is_no_list_of_whole_numbers_is_refused(values, message):
    with pytest.raises(DataError, match=message):
        as_integers(values, "labels")
