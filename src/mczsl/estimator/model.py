"""A learned model: a method, the classes it knows, and what it was taught.

A model is never changed, only succeeded by another one. So whoever predicts while somebody else
teaches goes on with a whole model, and what failed or was stopped has changed nothing.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mczsl.estimator.classes import ClassTable
from mczsl.estimator.describe import Semantics
from mczsl.estimator.inputs import usable_rows
from mczsl.estimator.labels import Label
from mczsl.estimator.lessons import Lesson
from mczsl.evaluation.calibration import build_method
from mczsl.evaluation.metrics import mean_accuracy, per_class_accuracy
from mczsl.methods.base import Method, MethodConfig, Progress, Scorer, Setting, State
from mczsl.protocols import Samples, Task

# Features with fewer columns get columns of zeros. Methods normalise a class's prototype over its
# dimensions, which takes away one degree of freedom: nothing among thousands, but half of all in
# two dimensions. Zeros in the features change no cosine and leave room for it.
NARROWEST = 64
_NUMBERS_AT_ONCE = 2**22  # 16 MB of features or scores: small enough for a cache to hold
# A matrix product rounds alike whatever its size, unless it is tiny. So tiny ones are filled up:
# a row's scores do not depend on the rows around it, nor a class's on how many others there are.
_FEWEST_ROWS, _FEWEST_CLASSES = 16, 32
_SCORERS_KEPT = 16


@dataclass(frozen=True)
class Origin:
    """The parameters that a model was made with, and that stay as they are while it learns."""

    method: str
    preset: str
    settings: Mapping[str, Any] | None
    random_state: int


@dataclass(frozen=True, eq=False)
class Model:
    """Everything that prediction needs; see the module's docstring."""

    origin: Origin
    method: Method
    classes: ClassTable
    semantics: Semantics
    features: int
    lessons: tuple[Lesson, ...] = ()
    described: Mapping[Label, bytes] | None = None  # hashes of what was said at the last lesson
    _scorers: dict[tuple[int, ...] | None, Scorer] = field(default_factory=dict)

    def __getstate__(self) -> dict[str, Any]:
        """Without the scorers, which are functions and can be made again."""
        return {**self.__dict__, "_scorers": {}}

    @staticmethod
    def new(
        origin: Origin,
        config: MethodConfig,
        setting: Setting,
        classes: ClassTable,
        semantics: Semantics,
    ) -> Model:
        """A model that has not learned anything. ``setting`` has the width of the features."""
        wide = replace(setting, feature_dim=max(NARROWEST, setting.feature_dim))
        method = build_method(origin.method, config, wide)
        return Model(origin, method, classes, semantics, setting.feature_dim)

    @property
    def name(self) -> str:
        """The method's."""
        return self.origin.method

    def with_classes(self, classes: ClassTable) -> Model:
        """A model that knows these classes instead."""
        return replace(self, classes=classes, _scorers={})

    def with_state(self, state: State) -> Model:
        """A model with a method of its own that has learned what ``state`` says."""
        method = build_method(self.name, self.method.config, self.method.setting)
        method.load_state(state)
        return replace(self, method=method, _scorers={})

    def with_memory(self, capacity: int) -> Model:
        """A model that may keep so many samples; it drops at once what is too much."""
        setting = replace(self.method.setting, memory_capacity=capacity)
        method = build_method(self.name, self.method.config, setting)
        method.load_state(self.method.state())
        return replace(self, method=method, _scorers={})

    def without_samples(self, places: Tensor) -> Model:
        """A model whose memories hold no sample of the classes at these places."""
        state = self.method.state()
        tensors, gone = dict(state.tensors), self.classes.ids[places]
        for name in [name for name in tensors if name.endswith("memory.labels")]:
            keep = ~torch.isin(tensors[name], gone)
            memory = name.removesuffix("labels")
            for part in [part for part in tensors if part.startswith(memory)]:
                if tensors[part].dim():  # one value for each sample
                    tensors[part] = tensors[part][keep]
        return self.with_state(State(tensors, state.values))

    # -------------------------------------------------------------- learning

    def learning(self, samples: Samples) -> Generator[Progress, None, Model]:
        """Learn these samples, labelled by class number; the result is the model after it."""
        taught = self.with_state(self.method.state()) if self.lessons else self
        classes = self.classes.with_seen(torch.isin(self.classes.ids, samples.labels))
        unseen = ~classes.seen if taught.method.uses_unseen_attributes else classes.seen & False
        task = Task(
            index=len(self.lessons),
            samples=samples,
            seen=classes.select(classes.seen),
            unseen=classes.select(unseen),
            n_unseen=int((~classes.seen).sum()),
        )
        yield from taught.method.learn(task)
        return taught.with_classes(classes)

    def accuracy(
        self, X: NDArray[Any], places: NDArray[np.int64], rows: NDArray[np.int64]
    ) -> float | None:
        """Mean accuracy inside the classes of these rows, with all known classes as candidates."""
        if not len(rows):
            return None
        guesses = np.concatenate([scores.argmax(axis=1) for _, scores in self.scores(X[rows])])
        accuracies = per_class_accuracy(places[rows], guesses, np.unique(places[rows]))
        return round(mean_accuracy(accuracies), 6)

    # -------------------------------------------------------------- scoring

    def scores(
        self, X: NDArray[Any], among: Tensor | None = None, zeros: list[int] | None = None
    ) -> Iterator[tuple[slice, NDArray[np.float32]]]:
        """Scores of blocks of rows against all classes, or those at the places ``among``.

        The numbers of all-zero rows are added to the list ``zeros``.
        """
        count = len(self.classes if among is None else among)
        score = self._scorer(among)
        size = max(1, _NUMBERS_AT_ONCE // max(self.features, count))
        for start in range(0, len(X), size):
            rows, empty = usable_rows(X[start : start + size], start)
            if zeros is not None:
                zeros.extend((start + empty).tolist())
            with torch.no_grad():
                block = score(_padded(rows)).cpu().numpy()
            yield slice(start, start + len(rows)), block[: len(rows), :count]

    def _scorer(self, among: Tensor | None) -> Scorer:
        key = None if among is None else tuple(among.tolist())
        scorer = self._scorers.get(key)
        if scorer is None:
            places = torch.arange(len(self.classes)) if among is None else among
            if self.method.classes_are_independent and len(places) < _FEWEST_CLASSES:
                filling = places[:1].expand(_FEWEST_CLASSES - len(places))
                places = torch.cat([places, filling])
            scorer = self.method.scorer(self.classes.select(places))
            while len(self._scorers) >= _SCORERS_KEPT:
                self._scorers.pop(next(iter(self._scorers)), None)
            self._scorers[key] = scorer
        return scorer


def padded_table(X: NDArray[Any]) -> NDArray[Any]:
    """A table of features that is wide enough for the method."""
    missing = max(0, NARROWEST - X.shape[1])
    return np.pad(X, ((0, 0), (0, missing))) if missing else X


def _padded(rows: NDArray[np.float32]) -> Tensor:
    missing = max(0, _FEWEST_ROWS - len(rows)), max(0, NARROWEST - rows.shape[1])
    if any(missing):
        rows = np.pad(rows, ((0, missing[0]), (0, missing[1])))
    return torch.from_numpy(rows if rows.flags.writeable else rows.copy())
