import torch
from hypothesis import given
from hypothesis import strategies as st

from mczsl.memory import Ring
from mczsl.protocols import TensorSamples
from tests.memory.test_memories import WIDTH, distinct_samples, fill, numbers


def test_shares_shrink_as_classes_come() -> None:
    ring = Ring(6, WIDTH)
    fill(ring, [[0] * 10])
    assert numbers(ring) == [4, 5, 6, 7, 8, 9]
    ring.add(distinct_samples([1] * 10, start=10))
    assert numbers(ring) == [7, 8, 9, 17, 18, 19]
    ring.add(distinct_samples([2] * 10, start=20))
    assert numbers(ring) == [8, 9, 18, 19, 28, 29]


def test_a_class_with_few_samples_leaves_its_share_to_others() -> None:
    ring = Ring(6, WIDTH)
    fill(ring, [[0, 0, 0, 0, 0, 0, 1]])
    assert numbers(ring) == [1, 2, 3, 4, 5, 6]


def test_with_less_room_than_classes_the_newest_stay() -> None:
    ring = Ring(2, WIDTH)
    fill(ring, [[0, 0], [1, 1], [2, 2], [3, 3]])
    assert numbers(ring) == [5, 7]


def newest_of_each(labels: dict[int, int], capacity: int) -> list[int]:
    """Everybody's newest, then everybody's second newest, ... until the room is used up."""
    kept: list[int] = []
    rest = sorted(labels, reverse=True)
    while rest and len(kept) < capacity:
        firsts = {labels[number]: number for number in reversed(rest)}.values()
        kept += sorted(firsts, reverse=True)
        rest = [number for number in rest if number not in kept]
    return sorted(kept[:capacity])


@given(
    st.integers(0, 30),
    st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=15), min_size=1, max_size=5),
)
def test_equal_shares_of_the_newest(capacity: int, stream: list[list[int]]) -> None:
    ring = Ring(capacity, WIDTH)
    expected: list[int] = []
    offered: list[int] = []
    for labels in stream:
        ring.add(distinct_samples(labels, start=len(offered)))
        candidates = [*expected, *range(len(offered), len(offered) + len(labels))]
        offered += labels
        expected = newest_of_each({number: offered[number] for number in candidates}, capacity)
    assert numbers(ring) == expected


def test_a_sample_that_comes_again_is_the_newest_again() -> None:
    ring = Ring(3, WIDTH)
    fill(ring, [[0, 0, 0]])
    ring.add(distinct_samples([0], start=0))
    assert numbers(ring) == [1, 2, 0]
    ring.add(TensorSamples(torch.full((1, WIDTH), 9.0), torch.tensor([0])))
    assert numbers(ring) == [2, 0, 9]
