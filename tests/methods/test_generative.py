"""What the generative methods share: the classifier behind them, its cache, and replay."""

from typing import Any

import numpy as np
import pytest
import torch

from mczsl.methods.generative import GenerativeMethod
from mczsl.protocols import class_set
from tests.methods.streams import all_scores, build, learned, result, stream

QUICK: dict[str, dict[str, Any]] = {
    "cvae_res": {"hidden": 32, "latent": 8, "epochs": 3, "classifier_steps": 5},
    "cada_res": {
        "feature_encoder": 32,
        "feature_decoder": 32,
        "attribute_encoder": 32,
        "attribute_decoder": 32,
        "latent": 8,
        "epochs": 3,
        "classifier_steps": 5,
    },
}
each = pytest.mark.parametrize("name", QUICK)


@each
def test_the_classifier_of_the_known_classes_is_trained_in_learning(name: str) -> None:
    """Then testing costs nothing more, and the time counts as training."""
    dataset, plan = stream()
    method = learned(name, dataset, plan, **QUICK[name])
    assert isinstance(method, GenerativeMethod)
    stage = plan.stages[-1]
    known = class_set(dataset, np.concatenate([stage.seen, stage.unseen]))
    kept = method.classifier(known)
    assert method.classifier(known) is kept
    fewer = known.select(slice(0, 5))
    assert method.classifier(fewer).out_features == 5
    assert method.classifier(fewer) is not kept


@each
def test_scores_in_the_middle_of_learning_leave_nothing_behind(name: str) -> None:
    dataset, plan = stream("gzsl", tasks=None)
    method = build(name, dataset, 0, **QUICK[name])
    seen = [all_scores(method, dataset) for _ in method.learn(plan.task(dataset, 0, True))]
    assert not torch.equal(seen[0], seen[-1])
    assert torch.equal(
        all_scores(method, dataset),
        all_scores(learned(name, dataset, plan, **QUICK[name]), dataset),
    )


@each
def test_unseen_classes_weigh_as_much_as_asked(name: str) -> None:
    dataset, plan = stream()
    settings = {**QUICK[name], "epochs": 20, "classifier_steps": 50}
    light, heavy = (
        result(learned(name, dataset, plan, unseen_weight=weight, **settings), dataset, plan)
        for weight in (0.2, 5.0)
    )
    assert heavy.unseen > light.unseen
    assert heavy.seen < light.seen


@each
def test_the_sequential_one_has_no_memory_and_is_otherwise_the_same(name: str) -> None:
    dataset, plan = stream()
    sequential = learned(f"seq_{name.removesuffix('_res')}", dataset, plan, **QUICK[name])
    bare = learned(name, dataset, plan, memory="none", **QUICK[name])
    with_memory = learned(name, dataset, plan, **QUICK[name])
    assert torch.equal(all_scores(sequential, dataset), all_scores(bare, dataset))
    assert not torch.equal(all_scores(with_memory, dataset), all_scores(bare, dataset))
