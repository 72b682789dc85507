"""A pool of samples that are too many to prepare."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mczsl.protocols import TensorSamples, pool
from mczsl.protocols.pool import PooledSamples, pool_of, some_of_each_class


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=60), st.integers(1, 7), st.integers(0, 3))
def test_every_class_has_its_quota_or_all_it_has(labels: list[int], quota: int, seed: int) -> None:
    chosen = some_of_each_class(torch.tensor(labels), quota, generator(seed)).tolist()
    assert chosen == sorted(set(chosen))
    kept = [labels[position] for position in chosen]
    assert {label: kept.count(label) for label in kept} == {
        label: min(quota, labels.count(label)) for label in labels
    }


def test_every_sample_can_be_chosen() -> None:
    labels = torch.zeros(5, dtype=torch.int64)
    chosen = {some_of_each_class(labels, 1, generator(seed)).item() for seed in range(60)}
    assert chosen == {0, 1, 2, 3, 4}


def test_few_samples_are_left_alone() -> None:
    samples = TensorSamples(torch.rand(4, 3), torch.tensor([0, 0, 1, 1]))
    assert pool_of(samples, 3, generator()) is samples


def test_a_pool_is_bounded_and_holds_samples_of_every_class(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pool, "POOLED_FROM", 100)
    monkeypatch.setattr(pool, "POOL_BYTES", 2 * 3 * 8)  # eight samples of three dimensions
    features, labels = torch.rand(100, 3), torch.arange(100) % 4
    pooled = pool_of(TensorSamples(features, labels), 3, generator())
    assert isinstance(pooled, PooledSamples)
    assert pooled.labels.bincount().tolist() == [2, 2, 2, 2]
    held = pooled.take(torch.arange(8))
    assert held.dtype == torch.float32
    distances, origin = torch.cdist(held, features).min(dim=1)
    assert distances.max() < 1e-3, "half precision is closer than that"
    assert torch.equal(labels[origin], pooled.labels), "a sample got another one's label"
