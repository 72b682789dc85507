"""A-GEM: the projection by its definition, and what follows from it for a run."""

import hypothesis.extra.numpy as arrays
import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from mczsl.methods.agem import project
from mczsl.runs.config import RunConfig
from mczsl.runs.loop import Run
from tests.methods.streams import all_scores, learned, stream
from tests.worlds import EASY

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


def test_it_forgets_less_than_the_lower_bound() -> None:
    """It would forget more if a batch of the new task pushed all past classes away."""
    settings = {"hidden": 64, "epochs": 60, "rate": 3e-3, "calibration": "none"}
    given = {"dataset": EASY, "protocol": "dynamic", "tasks": 3, "settings": settings}
    records = {
        name: Run(RunConfig.model_validate({**given, "method": name})).finish()
        for name in ("agem", "sequential")
    }
    assert records["agem"]["forgetting"] < 0.8 * records["sequential"]["forgetting"]
    assert records["agem"]["memory_capacity"] > 0
    assert records["sequential"]["memory_capacity"] == 0
