"""Testing after a task, with a method whose scores are known."""

import math
from collections.abc import Iterator

import numpy as np
import pytest
import torch

from mczsl.data import FeatureDataset
from mczsl.errors import DivergedError
from mczsl.evaluation import stage as stage_module
from mczsl.evaluation.stage import compare, evaluate
from mczsl.methods.base import Method, MethodConfig, Progress, Scorer, Setting, State
from mczsl.protocols import ClassSet, make_plan
from tests.worlds import dataset_of


class Told(Method):
    """Knows every sample by its first feature, and says what it was told to."""

    name = "told"
    Config = MethodConfig

    def __init__(self, dataset: FeatureDataset, guesses: np.ndarray, bias: float = 0.0):
        super().__init__(MethodConfig(), Setting(3, 4))
        self.row = {float(value): row for row, value in enumerate(dataset.features[:, 0])}
        self.guesses, self.bias = guesses, bias
        self.favoured: set[int] = set()

    def learn(self, task: object) -> Iterator[Progress]:
        raise NotImplementedError

    def scorer(self, classes: ClassSet) -> Scorer:
        favour = torch.tensor([self.bias * (int(each) in self.favoured) for each in classes.ids])

        def score(features: torch.Tensor) -> torch.Tensor:
            rows = [self.row[float(value)] for value in features[:, 0]]
            guess = torch.tensor(self.guesses[rows].reshape(-1, 1))
            return (classes.ids == guess).float() + favour

        return score

    def state(self) -> State:
        raise NotImplementedError

    def load_state(self, state: State) -> None:
        raise NotImplementedError


@pytest.fixture
def dataset() -> FeatureDataset:
    return dataset_of([10, 5, 20, 10, 5], unseen=[3, 4])


def test_accuracies_are_per_class_and_joint(dataset: FeatureDataset) -> None:
    guesses = dataset.labels.copy()
    guesses[dataset.labels == 1] = 3  # a seen class is taken for an unseen one
    guesses[dataset.labels == 4] = 2  # an unseen class is taken for a seen one
    plan = make_plan(dataset, "gzsl")
    result = evaluate(Told(dataset, guesses), dataset, plan.stages)
    assert result.seen == pytest.approx(2 / 3)
    assert result.unseen == pytest.approx(1 / 2)
    assert result.harmonic == pytest.approx(2 * (2 / 3) * (1 / 2) / (2 / 3 + 1 / 2))
    assert result.by_task == (pytest.approx(2 / 3),)


def test_restricted_candidates_are_those_of_the_samples_own_side(dataset: FeatureDataset) -> None:
    told = Told(dataset, dataset.labels, bias=5.0)
    told.favoured = {0, 1, 2}  # every seen class beats every unseen one, but truth wins among them
    plan = make_plan(dataset, "gzsl")
    joint = evaluate(told, dataset, plan.stages)
    restricted = evaluate(told, dataset, plan.stages, candidates="restricted")
    assert (joint.seen, joint.unseen, joint.harmonic) == (1, 0, 0)
    assert (restricted.seen, restricted.unseen, restricted.harmonic) == (1, 1, 1)
    assert joint.ausuc == pytest.approx(1), "the area does not depend on a common bias"


def test_perfect_and_hopeless(dataset: FeatureDataset) -> None:
    plan = make_plan(dataset, "gzsl")
    perfect = evaluate(Told(dataset, dataset.labels), dataset, plan.stages)
    assert (perfect.seen, perfect.unseen, perfect.harmonic) == (1, 1, 1)
    assert perfect.ausuc == pytest.approx(1)
    hopeless = evaluate(Told(dataset, (dataset.labels + 1) % 3), dataset, plan.stages)
    assert (hopeless.seen, hopeless.harmonic) == (0, 0)


def test_the_last_fixed_task_has_no_unseen_class(dataset: FeatureDataset) -> None:
    plan = make_plan(dataset, "fixed", tasks=5)
    result = evaluate(Told(dataset, dataset.labels), dataset, plan.stages)
    assert result.seen == 1
    assert all(math.isnan(value) for value in (result.unseen, result.harmonic, result.ausuc))
    assert result.by_task == (1, 1, 1, 1, 1)
    earlier = evaluate(Told(dataset, dataset.labels), dataset, plan.stages[:2])
    assert (earlier.unseen, earlier.by_task) == (1, (1, 1))


def test_future_classes_are_no_candidates(dataset: FeatureDataset) -> None:
    """In the dynamic setting, unseen classes that are not yet known must not be guessed."""
    plan = make_plan(dataset, "dynamic", tasks=2)
    first = plan.stages[0]
    known = {*first.seen.tolist(), *first.unseen.tolist()}
    outcomes = compare(Told(dataset, np.full(len(dataset.labels), 4)), dataset, first)
    assert set(outcomes.labels) <= known
    assert set(outcomes.predictions()) <= known
    assert 4 not in known


def test_a_class_without_test_images_does_not_count() -> None:
    dataset = dataset_of([10, 1, 10], unseen=[2])
    result = evaluate(
        Told(dataset, dataset.labels), dataset, make_plan(dataset, "fixed", tasks=3).stages[:2]
    )
    assert (result.seen, result.by_task[0]) == (1, 1)
    assert math.isnan(result.by_task[1])


def test_blocks_change_nothing(dataset: FeatureDataset, monkeypatch: pytest.MonkeyPatch) -> None:
    guesses = np.random.default_rng(0).integers(0, 5, len(dataset.labels))
    stages = make_plan(dataset, "gzsl").stages
    whole = evaluate(Told(dataset, guesses), dataset, stages)
    monkeypatch.setattr(stage_module, "_SCORES_AT_ONCE", 1)
    assert evaluate(Told(dataset, guesses), dataset, stages) == whole


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_scores_that_are_not_finite_are_no_result(dataset: FeatureDataset, bad: float) -> None:
    told = Told(dataset, dataset.labels, bias=bad)
    told.favoured = {2}
    with pytest.raises(DivergedError, match=r"told: .* not finite"):
        evaluate(told, dataset, make_plan(dataset, "gzsl").stages)
