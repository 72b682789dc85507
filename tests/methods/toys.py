"""A sound method in closed form, and broken ones that each break one promise of the contract."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from mczsl.methods import register_method
from mczsl.methods.base import Method, MethodConfig, Progress, Scorer, Setting, State
from mczsl.protocols import ClassSet, Task
from mczsl.testing import checks
from mczsl.testing.subject import Subject

BROKEN: dict[str, tuple[str, str]] = {}
"""Names of broken methods, the check that must catch each, and what it must say."""


def broken(check: Callable[[Subject], None], message: str):
    """Register a class as a method that this check must refuse with this message."""

    def register(method):
        BROKEN[method.__name__] = (check.__name__, message)
        return register_method(method.__name__)(method)

    return register


@register_method("Ridge")
class Ridge(Method):
    """A linear map from attributes to features, by least squares over all samples so far."""

    Config = MethodConfig
    classes_are_independent: ClassVar[bool] = True

    def __init__(self, config: MethodConfig, setting: Setting):
        super().__init__(config, setting)
        size = setting.attribute_dim
        self.moments = torch.eye(size, dtype=torch.float64) * 1e-3
        self.products = torch.zeros(size, setting.feature_dim, dtype=torch.float64)

    def learn(self, task: Task) -> Iterator[Progress]:
        samples = task.samples
        for label in samples.labels.unique():
            rows = torch.nonzero(samples.labels == label).flatten()
            attributes = self.attributes_of(task, int(label)).double()
            self.moments += len(rows) * attributes.outer(attributes)
            self.products += attributes.outer(self.features_of(task, rows).double().sum(dim=0))
        yield Progress(1, 1, 0.0)

    def attributes_of(self, task: Task, label: int) -> Tensor:
        return task.seen.attributes[task.seen.ids == label][0]

    def features_of(self, task: Task, rows: Tensor) -> Tensor:
        return task.samples.take(rows)

    def scorer(self, classes: ClassSet) -> Scorer:
        prototypes = (classes.attributes.double() @ self.weights()).float()
        return lambda features: normalize(features) @ normalize(prototypes).T

    def weights(self) -> Tensor:
        return torch.linalg.solve(self.moments, self.products)

    def state(self) -> State:
        return State({"moments": self.moments.clone(), "products": self.products.clone()})

    def load_state(self, state: State) -> None:
        self.moments, self.products = state.tensors["moments"], state.tensors["products"].clone()


@register_method("Aware")
class Aware(Ridge):
    """Scores are compared among the candidates, and it says so."""

    classes_are_independent = False

    def scorer(self, classes: ClassSet) -> Scorer:
        score = super().scorer(classes)
        return lambda features: score(features).softmax(dim=1)


# ---------------------------------------------------------------- scores


@broken(checks.every_task_gives_sound_scores, "scores have shape")
class WrongShape(Ridge):
    def scorer(self, classes: ClassSet) -> Scorer:
        score = super().scorer(classes)
        return lambda features: score(features).T


@broken(checks.every_task_gives_sound_scores, "some scores are not finite")
class InfiniteScores(Ridge):
    def scorer(self, classes: ClassSet) -> Scorer:
        score = super().scorer(classes)
        return lambda features: score(features) / 0


@broken(checks.every_task_gives_sound_scores, "depend on the samples scored with it")
class ComparesSamples(Ridge):
    def scorer(self, classes: ClassSet) -> Scorer:
        score = super().scorer(classes)
        return lambda features: score(features) - score(features).mean(dim=0)


@broken(checks.candidates_may_come_in_any_order, "order of the candidate classes")
class PrefersTheFirst(Ridge):
    def scorer(self, classes: ClassSet) -> Scorer:
        score = super().scorer(classes)
        return lambda features: score(features) - 0.01 * torch.arange(len(classes))


@broken(checks.candidates_may_come_in_any_order, "order of the candidate classes")
class ShiftsTinyScores(Ridge):
    def scorer(self, classes: ClassSet) -> Scorer:
        score = super().scorer(classes)
        return lambda features: 1e-5 * score(features).roll(1, dims=1)


@broken(checks.candidates_may_come_in_any_order, "a further candidate changed the scores")
class PromisesTooMuch(Aware):
    classes_are_independent = True


@broken(checks.candidates_may_come_in_any_order, "a further candidate changed the scores")
class ScalesByTheLargest(Ridge):
    """The largest attributes of all candidates, which most of the candidates do not have."""

    def scorer(self, classes: ClassSet) -> Scorer:
        score = super().scorer(classes)
        share = classes.attributes[:, 0] / classes.attributes[:, 0].max()
        return lambda features: score(features) + share


@broken(checks.every_task_gives_sound_scores, "learn() yields nothing")
class NeverYields(Ridge):
    def learn(self, task: Task) -> Iterator[Progress]:
        list(super().learn(task))
        return iter(())


@broken(checks.every_task_gives_sound_scores, "count from 1")
class CountsFromZero(Ridge):
    def learn(self, task: Task) -> Iterator[Progress]:
        yield Progress(0, 1)
        yield from super().learn(task)


# ---------------------------------------------------------------- seeds and state


@broken(checks.same_seeds_give_the_same_bits, "the same seeds gave other scores")
class GlobalTorch(Ridge):
    def features_of(self, task: Task, rows: Tensor) -> Tensor:
        features = super().features_of(task, rows)
        return features + 0.01 * torch.randn(features.shape)


@broken(checks.same_seeds_give_the_same_bits, "the same seeds gave other scores")
class GlobalNumpy(Ridge):
    def features_of(self, task: Task, rows: Tensor) -> Tensor:
        return super().features_of(task, rows) * float(np.random.rand())


@broken(checks.same_seeds_give_the_same_bits, "the same seeds gave other scores")
class GlobalPython(Ridge):
    def features_of(self, task: Task, rows: Tensor) -> Tensor:
        return super().features_of(task, rows) * random.random()


@broken(checks.inputs_and_surroundings_stay_as_they_were, "global random state")
class SeedsEverybody(GlobalTorch):
    def learn(self, task: Task) -> Iterator[Progress]:
        torch.manual_seed(self.setting.seeds.training)
        yield from super().learn(task)


@broken(checks.inputs_and_surroundings_stay_as_they_were, "global random state or a global setting")
class TakesAllThreads(Ridge):
    def learn(self, task: Task) -> Iterator[Progress]:
        torch.set_num_threads(torch.get_num_threads() + 1)
        yield from super().learn(task)


@broken(checks.inputs_and_surroundings_stay_as_they_were, "build a net inside")
class SeedsWhenBuilt(Ridge):
    def __init__(self, config: MethodConfig, setting: Setting):
        super().__init__(config, setting)
        torch.manual_seed(0)


@broken(checks.resuming_equals_never_stopping, "a resumed run ends with other scores")
class ForgetsInState(Ridge):
    def load_state(self, state: State) -> None:
        self.moments = state.tensors["moments"]


@broken(checks.a_state_is_a_snapshot, "state() must copy")
class LiveState(Ridge):
    def state(self) -> State:
        return State({"moments": self.moments, "products": self.products})


class OddValues(Ridge):
    odd: ClassVar[Any]

    def state(self) -> State:
        return State(super().state().tensors, {"odd": self.odd})


@broken(checks.resuming_equals_never_stopping, "not plain JSON")
class StoresASet(OddValues):
    odd = frozenset({1})


@broken(checks.resuming_equals_never_stopping, "not plain JSON")
class StoresNaN(OddValues):
    odd = float("nan")


@broken(checks.resuming_equals_never_stopping, "change on their way through JSON")
class StoresATuple(OddValues):
    odd = (1, 2)


@broken(checks.resuming_equals_never_stopping, "change on their way through JSON")
class StoresNumbersAsKeys(OddValues):
    odd: ClassVar = {2: "two"}


@broken(checks.resuming_equals_never_stopping, "is a list")
class StoresAList(Ridge):
    def state(self) -> State:
        return State({**super().state().tensors, "list": [1.0]})


@broken(checks.looking_on_changes_nothing, "scoring between two steps")
class DisturbedByScoring(Ridge):
    def scorer(self, classes: ClassSet) -> Scorer:
        self.moments *= 1 + 1e-7
        return super().scorer(classes)

    def learn(self, task: Task) -> Iterator[Progress]:
        yield Progress(1, 2)
        yield from super().learn(task)


@broken(checks.looking_on_changes_nothing, "scoring between two steps")
class LearnsFromCandidates(Ridge):
    """Remembers the attributes of classes that it was asked about: a look at the unseen ones."""

    def __init__(self, config: MethodConfig, setting: Setting):
        super().__init__(config, setting)
        self.asked = torch.zeros(setting.attribute_dim, dtype=torch.float64)

    def scorer(self, classes: ClassSet) -> Scorer:
        self.asked = classes.attributes.double().mean(dim=0)
        return super().scorer(classes)

    def learn(self, task: Task) -> Iterator[Progress]:
        yield Progress(1, 2)
        self.moments += self.asked.outer(self.asked)
        yield from super().learn(task)


# ---------------------------------------------------------------- data


@broken(checks.the_future_is_out_of_sight, "rows outside the current task")
class PeeksAtTheTable(Ridge):
    def features_of(self, task: Task, rows: Tensor) -> Tensor:
        everything = torch.from_numpy(task.samples._table)
        return super().features_of(task, rows) - 1e-3 * everything.nanmean(dim=0)


@broken(checks.every_task_gives_sound_scores, "not finite")
class PeeksWithoutCare(Ridge):
    def features_of(self, task: Task, rows: Tensor) -> Tensor:
        everything = torch.from_numpy(task.samples._table)
        return super().features_of(task, rows) - 1e-3 * everything.mean(dim=0)


@broken(checks.inputs_and_surroundings_stay_as_they_were, "changed its input in place")
class NormalisesInPlace(Ridge):
    def attributes_of(self, task: Task, label: int) -> Tensor:
        attributes = task.seen.attributes
        attributes /= attributes.norm(dim=1, keepdim=True)
        return super().attributes_of(task, label)


@broken(checks.inputs_and_surroundings_stay_as_they_were, "learning task 2 or scoring after it")
class NormalisesInPlaceLater(Ridge):
    def learn(self, task: Task) -> Iterator[Progress]:
        if task.index > 0:
            attributes = task.seen.attributes
            attributes /= attributes.norm(dim=1, keepdim=True)
        yield from super().learn(task)


@broken(checks.inputs_and_surroundings_stay_as_they_were, "changed its input in place")
class RootsInPlace(Ridge):
    def scorer(self, classes: ClassSet) -> Scorer:
        score = super().scorer(classes)
        return lambda features: score(features.abs_().sqrt_())


@broken(checks.inputs_and_surroundings_stay_as_they_were, "changed its input in place")
class ClipsInPlace(Ridge):
    def scorer(self, classes: ClassSet) -> Scorer:
        score = super().scorer(classes)
        return lambda features: score(features.relu_())


@broken(checks.single_classes_and_samples_suffice, "ZeroDivisionError")
class NeedsTwoClasses(Ridge):
    def learn(self, task: Task) -> Iterator[Progress]:
        _ = 1 / (len(task.seen) - 1)
        yield from super().learn(task)


@broken(checks.every_task_gives_sound_scores, "not finite")
class NeedsTwoSamples(Ridge):
    def features_of(self, task: Task, rows: Tensor) -> Tensor:
        features = super().features_of(task, rows)
        return features / features.std(dim=0, correction=0).mean()


@broken(checks.any_memory_will_do, "ZeroDivisionError")
class NeedsAMemory(Ridge):
    def learn(self, task: Task) -> Iterator[Progress]:
        _ = 1 / self.setting.memory_capacity
        yield from super().learn(task)


@broken(checks.old_classes_may_come_again, "AssertionError: classes come once")
class NeedsNewClasses(Ridge):
    def learn(self, task: Task) -> Iterator[Progress]:
        assert task.index == 0 or len(task.seen) > len(task.samples.labels.unique()), (
            "classes come once"
        )
        yield from super().learn(task)


@broken(checks.class_numbers_mean_nothing, "go by its attributes")
class PrefersEvenNumbers(Ridge):
    def scorer(self, classes: ClassSet) -> Scorer:
        score = super().scorer(classes)
        return lambda features: score(features) - 0.3 * (classes.ids % 2)


@broken(checks.class_numbers_mean_nothing, "IndexError")
class TakesNumbersForPositions(Ridge):
    def attributes_of(self, task: Task, label: int) -> Tensor:
        return task.seen.attributes[label]


@broken(
    checks.class_numbers_mean_nothing, "with other class numbers the accuracy on seen classes falls"
)
class BelievesNumbersAscend(Ridge):
    def attributes_of(self, task: Task, label: int) -> Tensor:
        return task.seen.attributes[task.seen.ids.sort().values == label][0]


# ---------------------------------------------------------------- learning and keeping


@broken(checks.every_task_is_learned, "the labels of task 1 make next to no difference")
class ScoresZero(Ridge):
    def scorer(self, classes: ClassSet) -> Scorer:
        return lambda features: torch.zeros(len(features), len(classes))


@broken(checks.every_task_is_learned, "the labels of task 2 make next to no difference")
class LearnsTheFirstTaskAlone(Ridge):
    def learn(self, task: Task) -> Iterator[Progress]:
        if task.index == 0:
            yield from super().learn(task)
        else:
            yield Progress(1, 1)


@broken(checks.every_task_is_learned, "the labels of task 1 are taken for others")
class OneClassFurther(Ridge):
    def attributes_of(self, task: Task, label: int) -> Tensor:
        return task.seen.attributes.roll(-1, dims=0)[task.seen.ids == label][0]


@broken(checks.every_task_is_learned, "the labels of task 1 are taken for others")
class LowIsLikely(Ridge):
    def scorer(self, classes: ClassSet) -> Scorer:
        score = super().scorer(classes)
        return lambda features: -score(features)


class Keeps(Ridge):
    """Keeps samples in its state."""

    def __init__(self, config: MethodConfig, setting: Setting):
        super().__init__(config, setting)
        self.kept = torch.empty(0, setting.feature_dim)

    def learn(self, task: Task) -> Iterator[Progress]:
        yield from super().learn(task)
        self.kept = torch.cat([self.kept, self.chosen(task)])

    def chosen(self, task: Task) -> Tensor:
        return task.samples.take(torch.arange(len(task.samples.labels)))

    def state(self) -> State:
        return State({**super().state().tensors, "kept": self.kept})

    def load_state(self, state: State) -> None:
        super().load_state(state)
        self.kept = state.tensors["kept"]


@register_method("KeepsWhatItMay")
class KeepsWhatItMay(Keeps):
    """As many samples as allowed, and the mean of each class."""

    def chosen(self, task: Task) -> Tensor:
        labels, all_samples = task.samples.labels, super().chosen(task)
        means = [all_samples[labels == label].mean(dim=0) for label in labels.unique()]
        return torch.cat([all_samples[: self.setting.memory_capacity // 2], torch.stack(means)])


@register_method("SaysItKeepsAll")
class SaysItKeepsAll(Keeps):
    """Every sample, and it says so."""

    @property
    def memory_capacity(self) -> None:
        return


@broken(checks.no_more_samples_are_kept_than_allowed, "after task 1 the state has 32 samples")
class Hoards(Keeps):
    pass


@broken(checks.no_more_samples_are_kept_than_allowed, "after task 1 the state has 32 samples")
class HoardsInAnotherShape(Keeps):
    """In double precision, all in one row."""

    def state(self) -> State:
        state = super().state()
        return State({**state.tensors, "kept": self.kept.double().flatten()})

    def load_state(self, state: State) -> None:
        super().load_state(state)
        self.kept = self.kept.float().unflatten(0, (-1, self.setting.feature_dim))


@broken(checks.no_more_samples_are_kept_than_allowed, "memory_capacity says 1000 where 0 samples")
class AllowsItself(Keeps):
    @property
    def memory_capacity(self) -> int:
        return 1000
