"""An offset on the scores of seen classes, chosen without any unseen class.

Training pulls samples towards the classes it knows, so a seen class wins too often against one that
is only described. ``calibration="auto"`` measures that bias on a *shadow*: a second copy of the
method that learns the same stream but never gets a fixed fifth of the classes, nor a fifth of the
samples of the others. To the shadow the held-out classes are unseen, although there are samples of
them: in the task that arrives and in the method's own memory. The offset with the best harmonic
mean there, estimated for as many unseen classes as there really are, serves the method itself. A
few held-out classes tell little, so they are weighed against what is usual. The shadow replays from
the method's memory, so not one more sample is kept.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mczsl.evaluation.offset import best_offset_among
from mczsl.memory import Memory
from mczsl.memory.hashing import keyed_hash
from mczsl.methods import get_method
from mczsl.methods.base import Method, MethodConfig, Progress, Scorer, Setting, State
from mczsl.methods.replay import ReplayMethod, positions
from mczsl.protocols import ClassSet, JoinedSamples, Samples, SelectedSamples, Task, TensorSamples
from mczsl.protocols.pool import some_of_each_class
from mczsl.seeding import derive, numpy_generator, torch_generator

HOLD_OUT_EVERY = 5  # every fifth class, and of the other classes every fifth sample
FIRST_HELD_OUT = 2  # from the second class on, so that a world of few classes has one too
FEWEST_SEEN = 4  # with fewer classes, one of them held out, the shadow knows next to nothing
FADING = 0.5  # the weight of a measurement falls to this share with every further task
DOUBT = 1  # held-out classes that it takes to weigh as much as what is usual
# The usual best offset, in standard deviations of the lead of known classes, for as many unseen
# classes as seen ones; with a quarter of them it is twice as large, and not larger with fewer.
USUAL, MOST_USUAL = 0.3, 0.6
_SAMPLES_AT_ONCE = 8192
_MOST_SCORES = 2**24  # samples x classes that are kept for measuring; more samples tell no more


def build_method(name: str, config: MethodConfig, setting: Setting) -> Method:
    """The method of this name, calibrated if its configuration asks for it."""
    method = get_method(name)
    if config.calibration != "auto":
        return method(config, setting)
    return CalibratedMethod(method, config, setting)


class CalibratedMethod(Method):
    """A method whose seen scores are lowered by what its shadow finds best."""

    def __init__(self, method: type[Method], config: MethodConfig, setting: Setting):
        super().__init__(config, setting)
        self.name = method.name
        self.uses_unseen_attributes = method.uses_unseen_attributes
        self.classes_are_independent = method.classes_are_independent
        self.method, self.shadow = method(config, setting), method(_briefer(config), setting)
        if isinstance(self.method, ReplayMethod) and isinstance(self.shadow, ReplayMethod):
            self.shadow.memory = ShadowMemory(self.method.memory, self._is_shown)
        self.seen: list[int] = []  # class numbers in order of arrival
        self.held_out: set[int] = set()
        # After each task: the best offset, the number of held-out classes, the usual offset.
        self.measured: list[tuple[float, int, float]] = []

    @property
    def memory_capacity(self) -> int | None:
        """That of the method; the shadow keeps nothing."""
        return self.method.memory_capacity

    @property
    def offset(self) -> float:
        """What is taken off the score of every seen class; 0 while too little was measured."""
        if not self.measured or len(self.seen) < FEWEST_SEEN:
            return 0.0
        total, weight = DOUBT * self.measured[-1][2], float(DOUBT)
        for age, (offset, count, _) in enumerate(reversed(self.measured)):
            total += FADING**age * count * offset
            weight += FADING**age * count
        return total / weight

    def learn(self, task: Task) -> Iterator[Progress]:
        """Let the shadow learn its part and measure the bias, then learn the task."""
        self._admit(task)
        shown = torch.nonzero(self._is_shown(task.samples)).flatten()
        known = ~torch.isin(task.seen.ids, torch.tensor(sorted(self.held_out)))
        before = 0
        if len(shown):
            mine = SelectedSamples(task.samples, shown)
            part = Task(task.index, mine, task.seen.select(known), task.unseen)
            for progress in self.shadow.learn(part):
                before = progress.epochs
                total = before + getattr(self.config, "epochs", before)
                yield Progress(progress.epoch, total, progress.loss)
        self._measure(task, known)
        for progress in self.method.learn(task):
            yield Progress(before + progress.epoch, before + progress.epochs, progress.loss)

    def scorer(self, classes: ClassSet) -> Scorer:
        """The method's scores, less the offset for classes that were seen."""
        score = self.method.scorer(classes)
        seen = torch.isin(classes.ids, torch.tensor(self.seen, dtype=torch.int64))
        penalty = self.offset * seen.float().to(self.setting.device)
        return lambda features: score(features).sub_(penalty)

    def state(self) -> State:
        """Both learners, the classes and what was measured."""
        values = {
            "seen": self.seen.copy(),
            "held_out": sorted(self.held_out),
            "measured": [list(each) for each in self.measured],
        }
        own = State({}, {"calibration": values})
        return own.with_part("method", self.method.state()).with_part("shadow", self.shadow.state())

    def load_state(self, state: State) -> None:
        """Take over both learners, the classes and what was measured."""
        self.method.load_state(state.part("method"))
        self.shadow.load_state(state.part("shadow"))
        values = state.values["calibration"]
        self.seen, self.held_out = list(values["seen"]), set(values["held_out"])
        self.measured = [(offset, count, usual) for offset, count, usual in values["measured"]]

    def _admit(self, task: Task) -> None:
        """Note the classes that arrive; every fifth one is held out from the shadow."""
        known = set(self.seen)
        fresh = [number for number in task.seen.ids.tolist() if number not in known]
        numpy_generator(self.setting.seeds.training, "held out", task.index).shuffle(fresh)
        for number in fresh:
            self.seen.append(number)
            if len(self.seen) % HOLD_OUT_EVERY == FIRST_HELD_OUT:
                self.held_out.add(number)

    def _is_shown(self, samples: Samples) -> Tensor:
        """Which samples the shadow may train on. It depends on nothing but the sample itself."""
        key = derive(self.setting.seeds.training, "kept aside")
        aside = keyed_hash(samples, self.setting.feature_dim, key) < 1 / HOLD_OUT_EVERY
        return ~aside & ~torch.isin(samples.labels, torch.tensor(sorted(self.held_out)))

    def _measure(self, task: Task, known: Tensor) -> None:
        """Find the best offset for the shadow on samples that it never saw."""
        samples = task.samples
        if isinstance(self.method, ReplayMethod) and len(self.method.memory):
            samples = JoinedSamples(samples, self.method.memory.samples)
        new = torch.nonzero(~self._is_shown(samples)).flatten()
        test = SelectedSamples(samples, self._at_most(new, samples.labels[new], task))
        is_unseen = torch.isin(test.labels, torch.tensor(sorted(self.held_out)))
        if is_unseen.any() and not is_unseen.all():
            classes = task.seen.select(known) + task.seen.select(~known)
            scores = self._shadow_scores(test, classes)
            border = int(known.sum())
            targets = positions(test.labels, classes.ids).numpy()
            among_known, among_held_out = scores[:, :border], scores[:, border:]
            offset = best_offset_among(among_known, among_held_out, targets, task.n_unseen)
            leads = among_known.max(axis=1) - among_held_out.max(axis=1)
            deviations = USUAL * math.sqrt(len(task.seen) / max(1, task.n_unseen))
            usual = min(MOST_USUAL, deviations) * float(leads.std())
            self.measured.append((offset, len(test.labels[is_unseen].unique()), usual))

    def _at_most(self, rows: Tensor, labels: Tensor, task: Task) -> Tensor:
        """As many of these rows as may be scored against all classes, each class alike."""
        most = max(len(task.seen), _MOST_SCORES) // len(task.seen)
        if len(rows) <= most:
            return rows
        generator = torch_generator(self.setting.seeds.training, "measured", task.index)
        quota = max(1, most // len(labels.unique()))
        chosen = rows[some_of_each_class(labels, quota, generator)]
        return chosen[torch.randperm(len(chosen), generator=generator)[:most]]

    @torch.no_grad()
    def _shadow_scores(self, samples: Samples, classes: ClassSet) -> NDArray[np.float64]:
        score = self.shadow.scorer(classes)
        blocks = torch.arange(len(samples.labels)).split(_SAMPLES_AT_ONCE)
        return torch.cat([score(samples.take(rows)).cpu() for rows in blocks]).double().numpy()


def _briefer(config: MethodConfig) -> MethodConfig:
    """Half the epochs: the bias shows as well, and the shadow takes a third of the time."""
    epochs = getattr(config, "epochs", None)
    return config.model_copy(update={"epochs": (epochs + 1) // 2} if epochs else {})


class ShadowMemory(Memory):
    """What the shadow may replay of its method's memory. It keeps nothing itself."""

    def __init__(self, memory: Memory, is_shown: Callable[[Samples], Tensor]):
        super().__init__(0, memory.features.shape[1])
        self._memory, self._is_shown = memory, is_shown

    def __len__(self) -> int:
        return len(self.samples.labels)

    @property
    def samples(self) -> TensorSamples:
        """The samples that are neither of a held-out class nor kept aside."""
        whole = self._memory.samples
        shown = self._is_shown(whole)
        return TensorSamples(whole.features[shown], whole.labels[shown])

    def _choose(
        self, labels: NDArray[np.int64], priority: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        return np.empty(0, dtype=np.int64)
