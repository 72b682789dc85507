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


def test_a_borrowing_class_draws_from_all_samples_and_needs_none() -> None:
    generator = torch.Generator().manual_seed(0)
    labels, borrowing = torch.tensor([5, 2, 5, 9, 2]), torch.tensor([2, 7])
    episodes = EpisodeSampler(labels, 4, 200, generator, borrowing)
    assert episodes.classes.tolist() == [2, 5, 7, 9]
    chosen, rows = episodes.draw()
    drawn = {int(episodes.classes[c]): set(r.tolist()) for c, r in zip(chosen, rows, strict=True)}
    assert drawn == {2: {0, 1, 2, 3, 4}, 5: {0, 2}, 7: {0, 1, 2, 3, 4}, 9: {3}}


def test_virtual_classes_lie_half_way_between_two() -> None:
    generator = torch.Generator().manual_seed(0)
    features, prototypes = torch.rand(4, 3, 5, generator=generator), torch.rand(7, 5)
    virtual = VirtualClasses(4, 6, generator)
    descriptions = virtual.attributes(torch.eye(4))
    logits = virtual.logits(features @ prototypes.T)
    assert logits.shape == (6, 3, 7)
    for description, found in zip(descriptions, logits, strict=True):
        parents = torch.nonzero(description).flatten()
        assert description[parents].tolist() == [0.5, 0.5], "not two different classes"
        assert torch.allclose(found, features[parents].mean(dim=0) @ prototypes.T, atol=1e-6)


@pytest.mark.parametrize(("classes", "count"), [(1, 3), (4, 0)])
def test_no_virtual_classes(classes: int, count: int) -> None:
    virtual = VirtualClasses(classes, count, torch.Generator().manual_seed(0))
    assert virtual.attributes(torch.eye(classes)).shape == (0, classes)
    assert virtual.logits(torch.ones(classes, 2, 7)).shape == (0, 2, 7)


def test_dropped_values_keep_their_mean() -> None:
    generator = torch.Generator().manual_seed(0)
    values = torch.ones(100, 100)
    dropped = drop(values, 0.2, generator)
    assert set(dropped.unique().tolist()) == {0.0, 1.25}
    assert (dropped == 0).double().mean().item() == pytest.approx(0.2, abs=0.02)
    assert torch.equal(drop(values, 0.0, generator), values)
