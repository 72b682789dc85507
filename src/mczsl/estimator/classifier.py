"""The scikit-learn face of every method: a classifier for people with their own data."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data
from torch import Tensor

from mczsl.errors import ConfigError, DataError, MczslError
from mczsl.estimator import files
from mczsl.estimator.describe import Descriptions, add_described, add_new, add_unknown
from mczsl.estimator.inputs import (
    as_features,
    as_names,
    as_targets,
    named_errors,
    warn_of_zeros,
)
from mczsl.estimator.labels import as_array, factorise
from mczsl.estimator.model import Model
from mczsl.estimator.parameters import (
    adapted,
    new_model,
    share,
    whole_number,
    with_memory_size,
)
from mczsl.estimator.showing import Brief
from mczsl.estimator.teaching import teach
from mczsl.methods.base import Progress

_ABOUT_X = {"n_features_in_", "feature_names_in_"}  # what scikit-learn remembers of X


class NotFitted(MczslError, NotFittedError):  # type: ignore[misc]
    """A model is asked for something before it has learned anything."""


class ZeroShotClassifier(Brief, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that keeps learning, and knows classes it has never seen an example of.

    Args:
        method: any of ``mczsl methods``.
        preset: ``default``, or another preset of the method, such as ``paper``.
        settings: settings of the method that differ from the preset.
        class_attributes: the classes' attributes, as a mapping from label to numbers or a data
            frame with a row for each class. Classes in it that have no samples are *unseen*: they
            are recognised all the same. Without any description (see also the next argument) a
            random code stands for each class, and only classes with samples can be recognised.
        class_descriptions: instead, a mapping from label to a text about the class, or a pandas
            series or data frame of one column with the labels as its index.
        text_encoder: what reads such texts: the name of an encoder, or a function from a list of
            texts to a table of numbers.
        memory_size: how many samples the model keeps, to be reminded of them in later lessons.
            Another number on a model that has learned counts from the next ``partial_fit`` or
            ``save`` on.
        validation_fraction: share of each class's new samples that is held back from training, to
            measure the model; 0 trains on everything.
        random_state: seed; equal seeds and data give equal models.
        device: where to compute.

    The learned state: ``classes_`` (sorted), ``seen_classes_`` and ``unseen_classes_`` with and
    without samples so far, ``history_`` with a record of every lesson, ``n_features_in_``.

    >>> import numpy as np
    >>> animals = {"horse": [0, 1], "tiger": [1, 0], "zebra": [1, 1]}  # stripes, hooves
    >>> X, y = np.array([[0.1, 1, 1], [1, 0.1, 0.2]] * 20), ["horse", "tiger"] * 20
    >>> model = ZeroShotClassifier(class_attributes=animals, settings={"hidden": 32}).fit(X, y)
    >>> model.classes_, model.unseen_classes_
    (array(['horse', 'tiger', 'zebra'], dtype='<U5'), array(['zebra'], dtype='<U5'))
    """

    model_: Model

    def __init__(
        self,
        method: str = "mczsl",
        *,
        preset: str = "default",
        settings: Any = None,
        class_attributes: Any = None,
        class_descriptions: Any = None,
        text_encoder: Any = "minilm",
        memory_size: int = 5000,
        validation_fraction: float = 0.1,
        random_state: int = 0,
        device: str = "cpu",
    ):
        self.method = method
        self.preset = preset
        self.settings = settings
        self.class_attributes = class_attributes
        self.class_descriptions = class_descriptions
        self.text_encoder = text_encoder
        self.memory_size = memory_size
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.device = device

    # -------------------------------------------------------------- learning

    def fit(self, X: Any, y: Any) -> ZeroShotClassifier:
        """Learn from the beginning, forgetting everything before."""
        for _ in self._learning(X, y, fresh=True):
            pass
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> ZeroShotClassifier:
        """Learn more, from samples of old or of new classes; no earlier sample is needed again.

        ``classes`` is accepted because scikit-learn passes it; new classes may come at any time.
        """
        for _ in self.learning(X, y):
            pass
        return self

    def learning(self, X: Any, y: Any) -> Iterator[Progress]:
        """``partial_fit`` step by step. If it is left before the end, nothing has changed."""
        yield from self._learning(X, y, fresh=not self.__sklearn_is_fitted__())

    def _learning(self, X: Any, y: Any, fresh: bool) -> Iterator[Progress]:
        """All that is learned is written at the end, so what fails or is left changes nothing."""
        begun_with = getattr(self, "model_", None)
        learner = copy(self)  # scikit-learn notes on it what X looks like
        X, y = learner._training_data(X, y, fresh)
        labels, inverse = factorise(y, None if fresh else self.model_.classes.kind)
        said = Descriptions(self.class_attributes, self.class_descriptions, self.text_encoder)
        if fresh:
            model = new_model(self, said, labels, X.shape[1])
        else:
            known = adapted(self.model_, self)
            classes = known.classes
            if known.described is not None:  # it is None of a pickle from before
                classes = add_new(classes, known.semantics, said, known.described)
            classes = add_unknown(classes, known.semantics, said, labels)
            model = known.with_classes(classes)
        model = replace(model, described=said.digests())
        places = model.classes.find(labels).numpy()[inverse]
        fraction = share("validation_fraction", self.validation_fraction)
        model = yield from teach(model, X, places, fraction)
        if getattr(self, "model_", None) is not begun_with:
            raise ConfigError(
                "the model was changed while it was learning (by add_classes, remove_classes or "
                "another lesson); that change stays and this lesson is lost: call partial_fit again"
            )
        noted = {name: value for name, value in vars(learner).items() if name in _ABOUT_X}
        for name in _ABOUT_X - set(noted):  # columns had names before and have none now
            self.__dict__.pop(name, None)
        self.__dict__.update(noted, model_=model)

    # -------------------------------------------------------------- classes

    def add_classes(
        self, names: Any, *, attributes: Any = None, descriptions: Any = None
    ) -> ZeroShotClassifier:
        """Make classes known that have no sample yet; no other class's score changes.

        Args:
            names: their labels.
            attributes: numbers for each, as a table in the order of the names, a mapping or a data
                frame.
            descriptions: instead, a text for each, as a list in that order or a mapping; only if
                all classes are described by texts.
        """
        model = self.fitted_model("add classes to")
        labels = as_names(names, "names", model.classes.kind)
        for label in labels:
            if label in model.classes.places:
                raise DataError(
                    f"names: class {label!r} is known already; remove_classes makes room for "
                    "another description of it"
                )
        said = Descriptions(attributes, descriptions, self.text_encoder)
        source, known = said.semantics().source, model.semantics.source
        if source == "one-hot":
            raise DataError(
                "a class without samples needs a description: give attributes or descriptions"
            )
        if source != known:
            raise DataError(
                f"the known classes have {known.replace('one-hot', 'no attributes')}, so a class "
                f"with {source} cannot be compared with them; fit with class_{source} to use these"
            )
        rows = said.rows(labels, model.semantics)
        self.model_ = model.with_classes(add_described(model.classes, labels, rows))
        return self

    def remove_classes(self, names: Any) -> ZeroShotClassifier:
        """Forget classes: they are no candidates any more, and the memory drops their samples."""
        model = self.fitted_model("remove classes from")
        labels = as_names(names, "names", model.classes.kind)
        places = model.classes.find(labels)
        if len(labels) == len(model.classes):
            raise DataError("names: these are all classes; a model needs at least one")
        emptied = model.without_samples(places) if model.classes.seen[places].any() else model
        self.model_ = emptied.with_classes(model.classes.without_classes(labels))
        return self

    @property
    def classes_(self) -> NDArray[Any]:
        """All known classes, sorted."""
        return as_array(self._learned("classes_").classes.labels)

    @property
    def seen_classes_(self) -> NDArray[Any]:
        """The classes with samples so far, sorted."""
        return self._classes_that_are("seen_classes_", True)

    @property
    def unseen_classes_(self) -> NDArray[Any]:
        """The classes that are known by description alone, sorted."""
        return self._classes_that_are("unseen_classes_", False)

    @property
    def history_(self) -> list[dict[str, Any]]:
        """What each lesson taught; see :class:`~mczsl.estimator.lessons.Lesson`."""
        return [asdict(lesson) for lesson in self._learned("history_").lessons]

    # -------------------------------------------------------------- prediction

    def predict(self, X: Any, among: Any = None) -> NDArray[Any]:
        """The likeliest class of each row, of all classes or ``among`` some."""
        model, X, places, names = self._question(X, among)
        best = np.empty(len(X), dtype=np.int64)
        for rows, scores in self._blocks(model, X, places):
            best[rows] = scores.argmax(axis=1)
        return names[best]

    def scores(self, X: Any, among: Any = None) -> NDArray[np.float32]:
        """The method's own scores, a column for each class, in the order of ``classes_``."""
        model, X, places, names = self._question(X, among)
        found = np.empty((len(X), len(names)), dtype=np.float32)
        for rows, scores in self._blocks(model, X, places):
            found[rows] = scores
        return found

    def predict_proba(self, X: Any, among: Any = None) -> NDArray[np.float32]:
        """The softmax of the scores: a share for each class, in the order of ``classes_``."""
        found = self.scores(X, among)
        found -= found.max(axis=1, keepdims=True)
        np.exp(found, out=found)
        found /= found.sum(axis=1, keepdims=True)
        return found

    def top_k(
        self, X: Any, k: int | None = None, among: Any = None
    ) -> tuple[NDArray[Any], NDArray[np.float32]]:
        """The k likeliest classes of each row and their probabilities, the likeliest first.

        Without a k: five, or as many as there are.
        """
        model, X, places, names = self._question(X, among)
        k = min(5, len(names)) if k is None else whole_number("k", k, len(names), least=1)
        best = np.empty((len(X), k), dtype=np.int64)
        shares = np.empty((len(X), k), dtype=np.float32)
        for rows, scores in self._blocks(model, X, places):
            nearest = np.argpartition(-scores, k - 1, axis=1)[:, :k]
            order = np.argsort(-np.take_along_axis(scores, nearest, axis=1), axis=1, kind="stable")
            best[rows] = np.take_along_axis(nearest, order, axis=1)
            top = np.take_along_axis(scores, best[rows], axis=1)
            total = np.exp(scores - top[:, :1]).sum(axis=1, keepdims=True)
            shares[rows] = np.exp(top - top[:, :1]) / total
        return names[best], shares

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows that are given their own class, of all known classes."""
        with named_errors():
            return float(super().score(X, y, sample_weight))

    # -------------------------------------------------------------- files

    def save(self, path: str | Path, license: str | None = None) -> None:
        """Write the model with its memory and a model card into a folder, in place of any before.

        ``license`` is what the card names as the model's license; by default what it named before.
        """
        license = license if license is not None else getattr(self, "license_", "unknown")
        model = with_memory_size(self.fitted_model("save"), self)
        files.save(model, self, Path(path), license)
        self.model_, self.license_ = model, license  # what is in the folder

    @classmethod
    def load(cls, path: str | Path, device: str = "cpu") -> ZeroShotClassifier:
        """The classifier in a folder that :meth:`save` wrote."""
        model, parameters, learned = files.load(Path(path), device)
        classifier = cls(**parameters)
        classifier.__dict__.update(learned, model_=model)
        return classifier

    # -------------------------------------------------------------- inside

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def fitted_model(self, wish: str) -> Model:
        """The learned model, for code that does something with it (``wish``: a verb)."""
        if not self.__sklearn_is_fitted__():
            raise NotFitted(f"there is nothing to {wish} yet: call fit or partial_fit first")
        return self.model_

    def _learned(self, attribute: str) -> Model:
        if not self.__sklearn_is_fitted__():
            raise AttributeError(f"{attribute} exists after fit or partial_fit")
        return self.model_

    def _classes_that_are(self, attribute: str, seen: bool) -> NDArray[Any]:
        table = self._learned(attribute).classes
        pairs = zip(table.labels, table.seen.tolist(), strict=True)
        return as_array([label for label, is_seen in pairs if is_seen == seen])

    def _training_data(self, X: Any, y: Any, fresh: bool) -> tuple[NDArray[Any], NDArray[Any]]:
        with named_errors():
            X, y = as_features(X), as_targets(y)
            X, y = validate_data(self, X, y, reset=fresh, ensure_all_finite=False)
            if y.dtype != object:
                check_classification_targets(y)
        return X, y

    def _question(
        self, X: Any, among: Any
    ) -> tuple[Model, NDArray[Any], Tensor | None, NDArray[Any]]:
        """The model, the checked rows, and the candidates: their places and names."""
        model = self.fitted_model("predict with")
        with named_errors():
            X = validate_data(self, as_features(X), reset=False, ensure_all_finite=False)
        if among is None:
            return model, X, None, as_array(model.classes.labels)
        labels = as_names(among, "among", model.classes.kind)
        return model, X, model.classes.find(labels), as_array(labels)

    def _blocks(
        self, model: Model, X: NDArray[Any], places: Tensor | None
    ) -> Iterator[tuple[slice, NDArray[np.float32]]]:
        zeros: list[int] = []
        yield from model.scores(X, places, zeros)
        warn_of_zeros(zeros, "it resembles no class, so its answer says nothing")
