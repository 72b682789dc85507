"""Calibration: an offset on seen scores that helps, found without any unseen class."""

from dataclasses import replace
from typing import Any

import pytest
import torch

from mczsl.data import FeatureDataset, load_dataset
from mczsl.evaluation import calibration
from mczsl.evaluation.calibration import CalibratedMethod, build_method
from mczsl.evaluation.stage import evaluate
from mczsl.methods import get_method, make_config, register_method
from mczsl.methods.base import Method, Scorer, Setting
from mczsl.protocols import ClassSet, Task, make_plan
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


def learned_with(dataset: FeatureDataset, n_unseen: int) -> tuple[CalibratedMethod, Task]:
    """Calibrated on one task, to which this many more classes are known by description."""
    plan = make_plan(dataset, "gzsl")
    config = make_config(get_method("BiasedRidge"), settings={"calibration": "auto"})
    sizes = dataset.features.shape[1], dataset.attributes.shape[1]
    method = build_method("BiasedRidge", config, Setting(*sizes, plan.memory_capacity))
    assert isinstance(method, CalibratedMethod)
    task = replace(plan.task(dataset, 0), n_unseen=n_unseen)
    list(method.learn(task))
    return method, task


def test_the_more_unseen_classes_the_smaller_the_offset(dataset: FeatureDataset) -> None:
    """One of many wins by chance more often; both what is measured and what is usual say so."""
    methods = [learned_with(dataset, n_unseen)[0] for n_unseen in (2, 45, 45 * 16)]
    measured, _, usual = zip(*(method.measured[-1] for method in methods), strict=True)
    for found in (measured, usual, [method.offset for method in methods]):
        assert found[0] > found[1] > found[2]


def lead_deviation(method: CalibratedMethod, task: Task) -> float:
    """The spread of known classes' lead over held-out ones, on samples new to the shadow."""
    new = torch.nonzero(~method._is_shown(task.samples)).flatten()
    held_out = torch.isin(task.seen.ids, torch.tensor(sorted(method.held_out)))
    found = method.shadow.scores(task.samples.take(new), task.seen).double()
    leads = found[:, ~held_out].amax(dim=1) - found[:, held_out].amax(dim=1)
    return float(leads.std(correction=0))


@pytest.mark.parametrize(
    ("share", "deviations"), [(4, 0.15), (1, 0.3), (1 / 3, 0.3 * 3**0.5), (1 / 9, 0.6)]
)
def test_what_is_usual_goes_by_the_share_of_unseen_classes(
    dataset: FeatureDataset, share: float, deviations: float
) -> None:
    """0.3 deviations for as many unseen as seen classes, with the root of the ratio, up to 0.6."""
    method, task = learned_with(dataset, round(45 * share))
    usual = method.measured[-1][2]
    assert usual == pytest.approx(deviations * lead_deviation(method, task), rel=1e-4)


def test_few_held_out_classes_are_weighed_against_what_is_usual() -> None:
    few = load_dataset("synthetic:classes=12,unseen=3,samples=40,features=64,attributes=16")
    method, _ = learned_with(few, 3)
    [(measured, count, usual)] = method.measured
    assert count == 2, "the second and the seventh of nine"
    assert measured != pytest.approx(usual, rel=0.05)
    assert min(measured, usual) < method.offset < max(measured, usual)
    # Two classes weigh twice as much as what is usual.
    assert method.offset == pytest.approx((2 * measured + usual) / 3)
