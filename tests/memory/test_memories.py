"""What holds for every memory, whatever it keeps."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mczsl.errors import ConfigError, StorageError
from mczsl.memory import MEMORIES, Memory
from mczsl.protocols import TensorSamples

WIDTH = 3
kinds = pytest.mark.parametrize("kind", MEMORIES)


def distinct_samples(labels: list[int], start: int = 0) -> TensorSamples:
    """Samples that can be told apart by their first feature, which counts up from ``start``."""
    features = torch.zeros(len(labels), WIDTH)
    features[:, 0] = torch.arange(start, start + len(labels))
    return TensorSamples(features, torch.tensor(labels, dtype=torch.int64))


def numbers(memory: Memory) -> list[int]:
    """Which samples are kept, in the memory's order."""
    return [int(value) for value in memory.features[:, 0]]


streams = st.lists(st.lists(st.integers(0, 4), max_size=12), max_size=5)


def fill(memory: Memory, stream: list[list[int]]) -> list[int]:
    """Offer a stream of labels; returns every label that was offered."""
    offered: list[int] = []
    for labels in stream:
        memory.add(distinct_samples(labels, start=len(offered)))
        offered += labels
    return offered


@given(st.sampled_from(list(MEMORIES)), st.integers(0, 70), streams, st.integers(0, 3))
def test_what_is_kept_was_offered_and_fills_the_capacity(
    kind: str, capacity: int, stream: list[list[int]], seed: int
) -> None:
    memory = MEMORIES[kind](capacity, WIDTH, seed)
    offered = fill(memory, stream)
    kept = numbers(memory)
    assert len(memory) == len(kept) == min(capacity, len(offered))
    assert len(set(kept)) == len(kept)
    assert kept == sorted(kept), "not in order of arrival"
    assert memory.labels.tolist() == [offered[number] for number in kept], "labels got mixed up"
    assert torch.equal(memory.samples.take(torch.arange(len(kept))), memory.features)


@given(st.sampled_from(list(MEMORIES)), st.integers(0, 70), streams)
def test_the_same_data_twice_counts_once(kind: str, capacity: int, stream: list[list[int]]) -> None:
    memory = MEMORIES[kind](capacity, WIDTH)
    offered = fill(memory, stream)
    once = numbers(memory)
    everything = distinct_samples(offered)
    memory.add(everything)
    memory.add(TensorSamples(everything.features.repeat(2, 1), everything.labels.repeat(2)))
    assert numbers(memory) == once


@kinds
def test_equal_features_with_another_label_are_another_sample(kind: str) -> None:
    memory = MEMORIES[kind](10, WIDTH)
    memory.add(TensorSamples(torch.ones(2, WIDTH), torch.tensor([0, 1])))
    assert memory.labels.tolist() == [0, 1]


@kinds
def test_minus_zero_is_zero(kind: str) -> None:
    memory = MEMORIES[kind](10, WIDTH)
    memory.add(TensorSamples(torch.zeros(1, WIDTH), torch.tensor([0])))
    memory.add(TensorSamples(-torch.zeros(1, WIDTH), torch.tensor([0])))
    assert len(memory) == 1


@given(st.sampled_from(list(MEMORIES)), st.integers(0, 70), streams, streams)
def test_a_restored_memory_goes_on_as_if_never_stored(
    kind: str, capacity: int, before: list[list[int]], after: list[list[int]]
) -> None:
    memory, restored = MEMORIES[kind](capacity, WIDTH), MEMORIES[kind](capacity, WIDTH)
    start = len(fill(memory, before))
    restored.load_state(memory.state())
    for each in (memory, restored):
        count = start
        for labels in after:
            each.add(distinct_samples(labels, start=count))
            count += len(labels)
    for name, tensor in memory.state().items():
        assert torch.equal(tensor, restored.state()[name])


@given(st.sampled_from(list(MEMORIES)), st.integers(0, 70), st.integers(0, 70), streams)
def test_restored_with_another_capacity(
    kind: str, capacity: int, other: int, stream: list[list[int]]
) -> None:
    memory, smaller = MEMORIES[kind](capacity, WIDTH), MEMORIES[kind](min(capacity, other), WIDTH)
    fill(memory, stream)
    fill(smaller, stream)
    restored = MEMORIES[kind](other, WIDTH)
    restored.load_state(memory.state())
    if kind == "reservoir":  # as if it had been that small from the beginning
        assert numbers(restored) == numbers(smaller)
    else:
        assert len(restored) == min(other, len(memory))
        assert set(numbers(restored)) <= set(numbers(memory))


@kinds
def test_a_memory_of_another_width_is_refused(kind: str) -> None:
    state = MEMORIES[kind](5, WIDTH + 1).state()
    with pytest.raises(StorageError, match="4-dimensional samples, but the data has 3"):
        MEMORIES[kind](5, WIDTH).load_state(state)


@kinds
def test_negative_capacity_is_refused(kind: str) -> None:
    with pytest.raises(ConfigError, match="-1"):
        MEMORIES[kind](-1, WIDTH)


@kinds
def test_huge_capacity_costs_nothing(kind: str) -> None:
    memory = MEMORIES[kind](10**30, WIDTH)
    fill(memory, [[0, 1, 2]])
    assert len(memory) == 3


@kinds
def test_a_memory_keeps_copies(kind: str) -> None:
    samples = distinct_samples([0, 1])
    memory = MEMORIES[kind](5, WIDTH)
    memory.add(samples)
    samples.features.zero_()
    assert numbers(memory) == [0, 1]


@kinds
def test_large_tasks_are_hashed_in_blocks(kind: str) -> None:
    """The blocks must not change anything: nor where a sample stands among the others."""
    memory, other = MEMORIES[kind](50, WIDTH), MEMORIES[kind](50, WIDTH)
    labels = np.random.default_rng(0).integers(0, 4, 5000).tolist()
    memory.add(distinct_samples(labels))
    for start in range(0, 5000, 100):
        other.add(distinct_samples(labels[start : start + 100], start))
    assert numbers(memory) == numbers(other)
