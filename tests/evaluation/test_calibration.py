"""Calibration: an offset on seen scores that helps, found without any unseen class."""

from typing import Any

import pytest
import torch

from mczsl.data import FeatureDataset, load_dataset
from mczsl.evaluation import calibration
from mczsl.evaluation.calibration import build_method
from mczsl.evaluation.stage import evaluate
from mczsl.methods import get_method, make_config, register_method
from mczsl.methods.base import Method, Scorer, Setting
from mczsl.protocols import ClassSet, make_plan
from mczsl.testing import check_method
from tests.methods.toys import Ridge

BIAS = 0.2


@register_method("BiasedRidge")
class BiasedRidge(Ridge):
    """Favours every class that it has learned, by a known amount."""

    def __init__(self, config: Any, setting: Setting):
        super().__init__(config, setting)
        self.known: set[int] = set()

    def learn(self, task: Any) -> Any:
        self.known |= set(task.samples.labels.tolist())
        yield from super().learn(task)

    def scorer(self, classes: ClassSet) -> Scorer:
        score = super().scorer(classes)
        bias = torch.tensor([BIAS * (int(number) in self.known) for number in classes.ids])
        return lambda features: score(features) + bias

    def state(self) -> Any:
        state = super().state()
        return type(state)(state.tensors, {"known": sorted(self.known)})

    def load_state(self, state: Any) -> None:
        super().load_state(state)
        self.known = set(state.values["known"])


@register_method("LargeRidge")
class LargeRidge(BiasedRidge):
    """The same with a hundred times larger scores."""

    def scorer(self, classes: ClassSet) -> Scorer:
        score = super().scorer(classes)
        return lambda features: 100 * score(features)


@pytest.fixture(scope="module")
def dataset() -> FeatureDataset:
    return load_dataset(
        "synthetic:classes=60,unseen=15,samples=20,features=64,attributes=16,difficulty=0.2,noise=0.5"
    )


def learn(dataset: FeatureDataset, protocol: str, name: str, **settings: Any) -> tuple:
    plan = make_plan(dataset, protocol)
    config = make_config(get_method(name), settings=settings)
    sizes = dataset.features.shape[1], dataset.attributes.shape[1]
    method = build_method(name, config, Setting(*sizes, plan.memory_capacity))
    for index in range(len(plan.stages)):
        list(method.learn(plan.task(dataset, index, method.uses_unseen_attributes)))
    return method, plan


def harmonic(method: Method, dataset: FeatureDataset, stages: Any) -> float:
    return evaluate(method, dataset, stages).harmonic


@pytest.mark.parametrize("protocol", ["gzsl", "dynamic"])
def test_it_undoes_a_known_bias(dataset: FeatureDataset, protocol: str) -> None:
    plain, plan = learn(dataset, protocol, "BiasedRidge")
    calibrated, _ = learn(dataset, protocol, "BiasedRidge", calibration="auto")
    before = harmonic(plain, dataset, plan.stages)
    after = harmonic(calibrated, dataset, plan.stages)
    assert before < 0.05, "the bias hides the unseen classes"
    assert after > 0.4


def test_many_held_out_classes_weigh_more_than_few(dataset: FeatureDataset) -> None:
    method, _ = learn(dataset, "dynamic", "BiasedRidge", calibration="auto")
    counts = [count for _, count, _ in method.measured]
    # Numbers 2, 7, ... 42 of 45 seen classes; without a memory each can be measured in its task.
    assert sum(counts) == len(method.held_out) == 9
    method.measured = [(9.0, 2, 7.0), (1.0, 4, 7.0), (2.0, 6, 4.0)]
    # One class says what is usual, six say 2, half of four say 1, a quarter of two say 9.
    assert method.offset == pytest.approx((4 + 6 * 2 + 2 * 1 + 0.5 * 9) / (1 + 6 + 2 + 0.5))
    method.measured = []
    assert method.offset == 0


def test_what_is_usual_follows_the_scale_of_the_scores(dataset: FeatureDataset) -> None:
    method, _ = learn(dataset, "gzsl", "BiasedRidge", calibration="auto")
    larger, _ = learn(dataset, "gzsl", "LargeRidge", calibration="auto")
    assert method.offset != 0
    assert larger.offset == pytest.approx(100 * method.offset, rel=1e-3)


def test_a_method_is_told_nothing_of_unseen_classes(dataset: FeatureDataset) -> None:
    """Other unseen classes, the same offset: the scores of seen classes stay as they are."""
    plan = make_plan(dataset, "gzsl")
    features = torch.from_numpy(dataset.features[plan.stages[0].test_seen_rows])
    found = []
    for changed in (False, True):
        attributes = dataset.attributes.copy()
        if changed:
            attributes[dataset.unseen_classes] += 0.5
        world = FeatureDataset(
            dataset.name,
            dataset.features,
            dataset.labels,
            dataset.class_names,
            attributes,
            dataset.splits,
            dataset.provenance,
        )
        method, _ = learn(world, "gzsl", "BiasedRidge", calibration="auto")
        seen = plan.task(world, 0).seen
        found.append(method.scores(features, seen))
    assert torch.equal(*found)


def test_without_calibration_it_is_the_method_itself() -> None:
    config = make_config(get_method("Ridge"))
    assert type(build_method("Ridge", config, Setting(3, 4))) is Ridge


def test_any_method_can_be_calibrated() -> None:
    check_method("BiasedRidge", calibration="auto")
    check_method("Ridge", calibration="auto")
    check_method("sequential", calibration="auto", hidden=8, epochs=1)


def test_three_seen_classes_are_too_few_to_go_by(dataset: FeatureDataset) -> None:
    method, _ = learn(dataset, "dynamic", "BiasedRidge", calibration="auto")
    assert method.offset != 0
    method.seen = method.seen[:3]
    assert method.offset == 0


def test_what_is_measured_on_is_bounded(
    dataset: FeatureDataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, _ = learn(dataset, "gzsl", "BiasedRidge", calibration="auto")
    monkeypatch.setattr(calibration, "_MOST_SCORES", 45 * 90)
    scored: list[int] = []
    original = calibration.best_offset_among

    def spy(known: Any, held_out: Any, *rest: Any) -> float:
        scored.append(known.shape[0])
        return original(known, held_out, *rest)

    monkeypatch.setattr(calibration, "best_offset_among", spy)
    bounded, plan = learn(dataset, "gzsl", "BiasedRidge", calibration="auto")
    assert 80 < sum(scored) <= 90, "two samples of each of 45 classes, where there are two"
    assert bounded.offset == pytest.approx(whole.offset, rel=0.5)
    assert harmonic(bounded, dataset, plan.stages) > 0.4
