"""The upper bound keeps every sample and is otherwise MCZSL."""

import numpy as np
import pytest
import torch

from mczsl.errors import ConfigError
from mczsl.methods import get_method, make_config
from mczsl.methods.joint import Joint
from tests.methods.streams import all_scores, learned, stream

QUICK = {"epochs": 2, "hidden": 32, "calibration": "none"}


def test_every_sample_is_kept() -> None:
    dataset, plan = stream()
    method = learned("joint", dataset, plan, **QUICK)
    assert isinstance(method, Joint)
    rows = np.concatenate([stage.train_rows for stage in plan.stages])
    assert len(method.memory) == len(rows)
    assert torch.equal(method.memory.features, torch.from_numpy(dataset.features[rows]))


def test_in_one_task_it_is_mczsl() -> None:
    dataset, plan = stream("gzsl", tasks=None)
    bound, ours = (learned(name, dataset, plan, **QUICK) for name in ("joint", "mczsl"))
    assert torch.equal(all_scores(bound, dataset), all_scores(ours, dataset))


def test_a_memory_of_less_is_refused() -> None:
    with pytest.raises(ConfigError, match="memory"):
        make_config(get_method("joint"), settings={"memory": "none"})
