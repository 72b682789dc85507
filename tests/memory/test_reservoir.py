"""The reservoir is a uniform random subset; the tests fail for samplers that are not."""

from collections.abc import Callable
from functools import cache
from typing import Protocol

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from mczsl.memory import Reservoir
from mczsl.protocols import TensorSamples

SAMPLES, CAPACITY, SEEDS, WIDTH = 12, 3, 500, 8
IMPROBABLE = 1e-4

# Data that a poor hash would not spread: neighbours, whole numbers, zeros; all in one class.
DATA = {
    "random": np.random.default_rng(0).normal(size=(SAMPLES, WIDTH)),
    "counted": np.arange(SAMPLES)[:, None] * np.ones(WIDTH),
    "binary": (np.arange(SAMPLES)[:, None] >> np.arange(WIDTH)) & 1,
    "neighbours": 1 + np.arange(SAMPLES)[:, None] * 2.0**-23 * (np.arange(WIDTH) == 0),
}


class Sampler(Protocol):
    features: torch.Tensor

    def add(self, samples: TensorSamples) -> None: ...


def samples(name: str) -> TensorSamples:
    features = torch.from_numpy(DATA[name].astype(np.float32))
    assert len(features.unique(dim=0)) == SAMPLES
    return TensorSamples(features, torch.zeros(SAMPLES, dtype=torch.int64))


@cache
def included(make: Callable[[int], Sampler], name: str = "random") -> np.ndarray:
    """Whether each sample is in the memory at the end, for many seeds: (seeds, samples)."""
    everything = samples(name)
    found = []
    for seed in range(SEEDS):
        memory = make(seed)
        for rows in torch.arange(SAMPLES).split(5):
            memory.add(TensorSamples(everything.features[rows], everything.labels[rows]))
        same = (memory.features[:, None] == everything.features).all(dim=2)
        found.append(same.any(dim=0).numpy())
    return np.array(found)


def improbability(found: np.ndarray) -> float:
    """The probability of inclusion counts that are as uneven as these (chi-square)."""
    share = CAPACITY / SAMPLES
    deviations = (found.sum(axis=0) - SEEDS * share) ** 2 / (SEEDS * share * (1 - share))
    # Fixed size: the counts are bound together, which takes one degree of freedom.
    return float(stats.chi2.sf(deviations.sum() * (SAMPLES - 1) / SAMPLES, SAMPLES - 1))


def make_reservoir(seed: int) -> Reservoir:
    return Reservoir(CAPACITY, WIDTH, seed)


@pytest.mark.parametrize("name", DATA)
def test_every_sample_is_kept_with_the_same_probability(name: str) -> None:
    found = included(make_reservoir, name)
    assert (found.sum(axis=1) == CAPACITY).all()
    assert improbability(found) > IMPROBABLE


@pytest.mark.parametrize("name", DATA)
def test_samples_are_kept_independently_of_each_other(name: str) -> None:
    found = included(make_reservoir, name).astype(float)
    together = found.T @ found / SEEDS
    expected = CAPACITY * (CAPACITY - 1) / (SAMPLES * (SAMPLES - 1))
    pairs = together[np.triu_indices(SAMPLES, 1)]
    deviations = (pairs - expected) / np.sqrt(expected * (1 - expected) / SEEDS)
    assert np.abs(deviations).max() < 4.5  # of 66 pairs


@pytest.mark.parametrize("name", DATA)
def test_three_at_equal_distances_are_no_more_likely_than_others(name: str) -> None:
    """A hash that is linear in the sample would keep such triples together."""
    found = included(make_reservoir, name)
    triples = [(i, i + d, i + 2 * d) for d in range(1, 6) for i in range(SAMPLES - 2 * d)]
    together = sum(found[:, triple].all(axis=1).sum() for triple in triples)
    share = np.prod([(CAPACITY - i) / (SAMPLES - i) for i in range(3)])
    expected = SEEDS * len(triples) * share
    assert abs(together - expected) < 4 * np.sqrt(expected)


class KeepFirst:
    """Keeps what comes first."""

    def __init__(self, seed: int):
        self.features = torch.empty(0, WIDTH)

    def add(self, samples: TensorSamples) -> None:
        self.features = torch.cat([self.features, samples.features])[:CAPACITY]


class ByTask:
    """Replaces slots at random, but counts the task in place of the samples: a likely mistake."""

    def __init__(self, seed: int):
        self.features, self.random = torch.empty(0, WIDTH), np.random.default_rng(seed)

    def add(self, samples: TensorSamples) -> None:
        both = torch.cat([self.features, samples.features])
        keep = np.sort(self.random.permutation(len(both))[:CAPACITY])
        self.features = both[keep]


class SlightlyLate:
    """Algorithm R with an off-by-one error: the n-th sample enters with probability M/(n+1)."""

    def __init__(self, seed: int):
        self.features, self.random = torch.empty(0, WIDTH), np.random.default_rng(seed)
        self.count = 0

    def add(self, samples: TensorSamples) -> None:
        for row in samples.features:
            self.count += 1
            slot = self.random.integers(0, self.count + 1)
            if len(self.features) < CAPACITY:
                self.features = torch.cat([self.features, row[None]])
            elif slot < CAPACITY:
                self.features[slot] = row


@pytest.mark.parametrize("biased", [KeepFirst, ByTask, SlightlyLate])
def test_the_test_catches_biased_samplers(biased: type[Sampler]) -> None:
    assert improbability(included(biased)) < IMPROBABLE


def test_the_nth_sample_enters_with_probability_m_of_n() -> None:
    everything, entered, seeds = samples("random"), np.zeros(SAMPLES), 250
    for seed in range(seeds):
        memory = make_reservoir(seed)
        for row in range(SAMPLES):
            memory.add(TensorSamples(everything.features[[row]], everything.labels[[row]]))
            entered[row] += torch.equal(memory.features[-1], everything.features[row])
    expected = np.minimum(1, CAPACITY / np.arange(1, SAMPLES + 1))
    assert (entered[:CAPACITY] == seeds).all()
    deviation = np.sqrt(seeds * expected * (1 - expected))[CAPACITY:]
    assert (np.abs(entered - seeds * expected)[CAPACITY:] < 4 * deviation).all()


@given(st.permutations(range(SAMPLES)), st.integers(1, SAMPLES), st.integers(0, SAMPLES))
def test_the_order_and_the_batches_do_not_matter(
    order: list[int], batch: int, capacity: int
) -> None:
    everything = samples("random")
    kept = []
    for rows in (torch.arange(SAMPLES), torch.tensor(order)):
        memory = Reservoir(capacity, WIDTH)
        for part in rows.split(batch):
            memory.add(TensorSamples(everything.features[part], everything.labels[part]))
        kept.append(sorted(map(tuple, memory.features.tolist())))
    assert kept[0] == kept[1]


@given(st.integers(0, SAMPLES), st.integers(0, SAMPLES))
def test_a_smaller_reservoir_is_part_of_a_larger_one(one: int, other: int) -> None:
    memories = [Reservoir(capacity, WIDTH) for capacity in sorted((one, other))]
    for memory in memories:
        memory.add(samples("random"))
    small, large = (set(map(tuple, memory.features.tolist())) for memory in memories)
    assert small <= large


def test_another_seed_keeps_others() -> None:
    first, second = Reservoir(CAPACITY, WIDTH, seed=1), Reservoir(CAPACITY, WIDTH, seed=2)
    for memory in (first, second):
        memory.add(samples("random"))
    assert not torch.equal(first.features, second.features)


def test_room_that_is_given_back_is_not_filled_by_the_newest() -> None:
    """What is kept are the lowest priorities of all that was ever offered, however many."""
    generator = torch.Generator().manual_seed(0)
    features = torch.randn(900, WIDTH, generator=generator)
    everything = Reservoir(900, WIDTH)
    everything.add(TensorSamples(features, torch.zeros(900, dtype=torch.int64)))
    memory = Reservoir(40, WIDTH)
    memory.taken = 20
    sizes = []
    for step, rows in enumerate(torch.arange(900).split(100)):
        if step == 4:
            memory.taken = 0
            again = Reservoir(40, WIDTH)
            again.load_state(memory.state())
            memory = again
        memory.add(TensorSamples(features[rows], torch.zeros(100, dtype=torch.int64)))
        lowest = everything.priority[: 100 * (step + 1)].sort().values[: len(memory)]
        assert torch.equal(memory.priority.sort().values, lowest)
        sizes.append(len(memory))
    assert sizes[:4] == [20] * 4
    assert 20 <= sizes[4] < 40, "there are no samples of the past to fill the room with"
    assert sizes[-1] == 40, "by and by it is full again"


def test_a_memory_that_was_emptied_fills_again() -> None:
    before = Reservoir(4, WIDTH)
    before.add(samples("random"))
    emptied = Reservoir(0, WIDTH)
    emptied.load_state(before.state())
    assert len(emptied) == 0
    again = Reservoir(4, WIDTH)
    again.load_state(emptied.state())
    again.add(samples("counted"))
    assert len(again) == 4
