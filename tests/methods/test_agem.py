"""A-GEM: the projection by its definition, and what follows from it for a run."""

import hypothesis.extra.numpy as arrays
import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from mczsl.methods.agem import project
from tests.methods.streams import all_scores, learned, stream

vectors = arrays.arrays(np.float64, 6, elements=st.floats(-10, 10, width=16))


@given(vectors, vectors)
def test_a_projected_gradient_never_points_against_the_memory(
    gradient: np.ndarray, reference: np.ndarray
) -> None:
    parts = [torch.from_numpy(gradient[:2].copy()), torch.from_numpy(gradient[2:].copy())]
    project(parts, [torch.from_numpy(reference[:2]), torch.from_numpy(reference[2:])])
    found, along = torch.cat(parts).numpy(), gradient @ reference
    if along >= 0:
        assert np.array_equal(found, gradient)
    else:  # what is left stands at a right angle to the reference, and only that part is gone
        expected = gradient - along / (reference @ reference) * reference
        assert np.allclose(found, expected, atol=1e-9)
        assert abs(found @ reference) <= 1e-6 * (1 + np.linalg.norm(reference))


def test_without_a_memory_it_is_the_lower_bound() -> None:
    dataset, plan = stream()
    settings = {"epochs": 2, "hidden": 32}
    bare = learned("agem", dataset, plan, memory="none", **settings)
    bound = learned("sequential", dataset, plan, **settings)
    assert not torch.equal(
        all_scores(learned("agem", dataset, plan, **settings), dataset), all_scores(bound, dataset)
    )
    assert torch.equal(all_scores(bare, dataset), all_scores(bound, dataset))
