import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mczsl.data.splits import default_splits, split_problems
from mczsl.errors import DataError

many_labels = st.lists(st.integers(0, 11), min_size=2, max_size=80).filter(
    lambda labels: len(set(labels)) > 1
)


def names(prefix: str = "class") -> list[str]:
    return [f"{prefix} {number}" for number in range(12)]


@given(many_labels)
def test_the_default_split_is_sound_complete_and_the_same_every_time(values):
    labels = np.array(values)
    splits = default_splits(labels, names())
    assert not list(split_problems(splits, labels, names()))
    everything = np.concatenate(list(splits.sets().values()))
    assert sorted(everything) == list(range(len(labels)))
    again = default_splits(labels, names())
    for first, second in zip(splits.sets().values(), again.sets().values(), strict=True):
        np.testing.assert_array_equal(first, second)


@given(many_labels)
def test_a_fifth_of_the_classes_and_of_each_class_is_held_back(values):
    labels = np.array(values)
    splits = default_splits(labels, names())
    present = len(set(values))
    assert len(np.unique(labels[splits.test_unseen])) == max(1, round(0.2 * present))
    for number in np.unique(labels[splits.trainval]):
        total = values.count(number)
        held_back = np.count_nonzero(labels[splits.test_seen] == number)
        assert held_back == (max(1, round(0.2 * total)) if total > 1 else 0)


def test_a_further_class_does_not_change_which_images_of_others_are_held_back():
    labels = np.repeat(np.arange(4), 10)
    few = default_splits(labels, names(), unseen=[3])
    more = default_splits(np.append(labels, [4] * 10), names(), unseen=[3])
    np.testing.assert_array_equal(few.test_seen, more.test_seen[:6])


def test_the_given_classes_are_unseen():
    labels = np.repeat(np.arange(4), 10)
    splits = default_splits(labels, names(), unseen=[1, 2])
    assert set(labels[splits.test_unseen]) == {1, 2}


def test_one_class_cannot_be_split():
    with pytest.raises(DataError, match="at least two"):
        default_splits(np.zeros(5, int), names())
