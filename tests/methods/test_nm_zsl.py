"""NM-ZSL: its net as published, and its hand-made calibration."""

import math

import numpy as np
import pytest
import torch
from torch import nn

from mczsl.evaluation.stage import evaluate
from mczsl.methods.nm_zsl import NMZSL
from mczsl.nn.class_norm import ClassNorm
from tests.methods.streams import all_scores, build, learned, stream

QUICK = {"epochs": 5, "hidden": 64}


def test_the_net_is_the_published_one() -> None:
    dataset, plan = stream()
    method = build("nm_zsl", dataset, plan.memory_capacity)
    assert isinstance(method, NMZSL)
    kinds = [type(layer) for layer in method.net.children()]
    assert kinds == [
        nn.Linear,
        nn.ReLU,
        nn.Linear,
        ClassNorm,
        nn.ReLU,
        ClassNorm,
        nn.Linear,
        nn.ReLU,
    ]
    last = method.net[6].weight.detach()  # type: ignore[index]
    bound = math.sqrt(3 / (1024 * 32))
    assert last.shape == (32, 1024)
    assert 0.99 * bound < last.abs().max() <= bound


def test_the_published_calibration_lowers_seen_scores_alone() -> None:
    dataset, plan = stream()
    plain = learned("nm_zsl", dataset, plan, **QUICK)
    published = learned("nm_zsl", dataset, plan, calibration="published", **QUICK)
    factor = np.where(np.isin(np.arange(dataset.n_classes), dataset.seen_classes), 0.95, 1.0)
    expected = all_scores(plain, dataset) * torch.from_numpy(factor).float()
    torch.testing.assert_close(all_scores(published, dataset), expected)
    before, after = (evaluate(m, dataset, plan.stages) for m in (plain, published))
    assert after.unseen >= before.unseen
    assert after.seen <= before.seen


def test_it_trains_in_bfloat16_too() -> None:
    dataset, plan = stream()
    exact, rough = (learned("nm_zsl", dataset, plan, bf16=bf16, **QUICK) for bf16 in (False, True))
    one, two = all_scores(exact, dataset), all_scores(rough, dataset)
    assert not torch.equal(one, two)
    assert torch.corrcoef(torch.stack([one.flatten(), two.flatten()]))[0, 1] > 0.99


@pytest.mark.parametrize("epochs", [1, 2, 5, 6])
def test_the_rate_falls_once_at_half(epochs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rates: list[float] = []
    step = torch.optim.Adam.step

    def noting(adam: torch.optim.Adam) -> None:
        rates.append(round(adam.param_groups[0]["lr"], 12))
        step(adam)

    monkeypatch.setattr(torch.optim.Adam, "step", noting)
    dataset, plan = stream("gzsl", None)
    learned("nm_zsl", dataset, plan, hidden=8, epochs=epochs, batch_size=10**6)
    full = max(1, epochs // 2)
    assert rates == [5e-4] * full + [5e-5] * (epochs - full)
