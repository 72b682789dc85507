"""Class means: of any samples, in any order, in any number of tasks."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from mczsl.memory.class_means import ClassMeans
from mczsl.protocols import TensorSamples

WIDTH = 3
label_lists = st.lists(st.sampled_from([2, 3, 11, 40]), min_size=1, max_size=30)


def samples(labels: list[int], first: int = 0) -> TensorSamples:
    """The features tell the position, so every sample is different."""
    features = torch.arange(first, first + len(labels)).float()[:, None] * torch.ones(WIDTH)
    return TensorSamples(features, torch.tensor(labels))


def doubled(features: torch.Tensor) -> torch.Tensor:
    return 2 * features


@given(label_lists)
def test_they_are_the_means(labels: list[int]) -> None:
    found, given = ClassMeans.of(samples(labels), doubled), samples(labels)
    assert found.ids.tolist() == sorted(set(labels))
    for number, mean in zip(found.ids, found.means, strict=True):
        assert torch.allclose(mean, 2 * given.features[given.labels == number].mean(dim=0))
    assert found.ids[found.places(given.labels)].tolist() == labels


@given(label_lists, label_lists)
def test_tasks_add_up(first: list[int], second: list[int]) -> None:
    whole = ClassMeans.of(samples(first + second), doubled)
    parts = ClassMeans.of(samples(first), doubled) + ClassMeans.of(
        samples(second, len(first)), doubled
    )
    together = ClassMeans.empty(WIDTH) + parts
    assert torch.equal(whole.ids, together.ids)
    assert torch.equal(whole.counts, together.counts)
    assert torch.allclose(whole.means, together.means)
