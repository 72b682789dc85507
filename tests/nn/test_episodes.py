import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mczsl.nn.episodes import EpisodeSampler, VirtualClasses, drop

label_lists = st.lists(st.integers(0, 1000), min_size=1, max_size=40)


def sampler(labels: list[int], ways: int, shots: int, seed: int = 0) -> EpisodeSampler:
    generator = torch.Generator().manual_seed(seed)
    return EpisodeSampler(torch.tensor(labels), ways, shots, generator)


@given(label_lists, st.integers(1, 12), st.integers(1, 6), st.integers(0, 5))
def test_rows_belong_to_the_chosen_classes(
    labels: list[int], ways: int, shots: int, seed: int
) -> None:
    episodes = sampler(labels, ways, shots, seed)
    assert episodes.classes.tolist() == sorted(set(labels))
    for _ in range(3):
        chosen, rows = episodes.draw()
        assert len(set(chosen.tolist())) == len(chosen) == min(ways, len(set(labels)))
        assert rows.shape == (len(chosen), shots)
        drawn = torch.tensor(labels)[rows]
        assert torch.equal(drawn, episodes.classes[chosen, None].expand_as(drawn))


def test_classes_are_drawn_alike_however_many_samples_they_have() -> None:
    labels = [7] * 500 + [3] * 5 + [5]
    episodes = sampler(labels, ways=1, shots=1)
    drawn = np.bincount([int(episodes.draw()[0][0]) for _ in range(3000)], minlength=3)
    # 3000 draws with p = 1/3: 1000 expected, standard deviation 26.
    assert np.abs(drawn - 1000).max() < 5 * 26


def test_samples_of_a_class_are_drawn_alike() -> None:
    labels = [1, 0, 1, 1, 0, 1]
    episodes = sampler(labels, ways=2, shots=50)
    counts = np.zeros(6)
    for _ in range(60):
        counts += np.bincount(episodes.draw()[1].flatten(), minlength=6)
    expected = np.array([750, 1500, 750, 750, 1500, 750])
    assert (np.abs(counts - expected) < 5 * np.sqrt(expected)).all()


def test_the_generator_decides() -> None:
    labels = list(range(20)) * 3
    first, same, other = (sampler(labels, 5, 2, seed).draw()[1] for seed in (1, 1, 2))
    assert torch.equal(first, same)
    assert not torch.equal(first, other)


def test_virtual_classes_lie_half_way_between_two() -> None:
    generator = torch.Generator().manual_seed(0)
    features = torch.nn.functional.normalize(torch.rand(4, 3, 5, generator=generator), dim=2)
    prototypes = torch.rand(7, 5, generator=generator)
    virtual = VirtualClasses(features, 6, generator)
    descriptions = virtual.attributes(torch.eye(4))
    logits = virtual.logits(features.flatten(0, 1) @ prototypes.T).unflatten(0, (6, 3))
    for description, found in zip(descriptions, logits, strict=True):
        parents = torch.nonzero(description).flatten()
        assert description[parents].tolist() == [0.5, 0.5], "not two different classes"
        half_way = torch.nn.functional.normalize(features[parents].sum(dim=0), dim=1)
        assert torch.allclose(found, half_way @ prototypes.T, atol=1e-6)


@pytest.mark.parametrize(("classes", "count"), [(1, 3), (4, 0)])
def test_no_virtual_classes(classes: int, count: int) -> None:
    features = torch.ones(classes, 2, 5)
    virtual = VirtualClasses(features, count, torch.Generator().manual_seed(0))
    assert virtual.attributes(torch.eye(classes)).shape == (0, classes)
    assert virtual.logits(torch.ones(2 * classes, 7)).shape == (0, 7)


def test_samples_that_cancel_out_give_no_nan() -> None:
    features = torch.stack([torch.ones(1, 4), -torch.ones(1, 4)]) / 2
    virtual = VirtualClasses(features, 1, torch.Generator().manual_seed(0))
    assert virtual.logits(features.flatten(0, 1) @ torch.rand(4, 3)).isfinite().all()


def test_dropped_values_keep_their_mean() -> None:
    generator = torch.Generator().manual_seed(0)
    values = torch.ones(100, 100)
    dropped = drop(values, 0.2, generator)
    assert set(dropped.unique().tolist()) == {0.0, 1.25}
    assert (dropped == 0).double().mean().item() == pytest.approx(0.2, abs=0.02)
    assert torch.equal(drop(values, 0.0, generator), values)
