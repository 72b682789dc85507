"""Choosing settings on validation classes alone, with Optuna."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mczsl import storage
from mczsl.data import FeatureDataset, load_dataset
from mczsl.data.validation import number_of_folds, validation_dataset
from mczsl.errors import ConfigError, DivergedError, StorageError, unknown_name
from mczsl.methods import get_method, make_config
from mczsl.protocols.fixed import split_images
from mczsl.runs.code_version import code_if_known
from mczsl.runs.config import RunConfig
from mczsl.runs.interrupts import catch_signals
from mczsl.runs.loop import Run

if TYPE_CHECKING:
    import optuna

Space = Mapping[str, "list[Any] | tuple[float, float]"]
"""For each setting its choices, or the two ends of a range (searched on a log scale)."""

Trial = dict[str, Any]
"""``settings``, and ``mH``: the figure of each validation fold."""

_RANGE = re.compile(r"(\S+)\.\.(\S+)")


def parse_space(specifications: Sequence[str]) -> Space:
    """Settings to search: ``key=a,b,c`` for choices, ``key=low..high`` for a range.

    >>> parse_space(["hidden=512,1024", "rate=1e-4..1e-2"])
    {'hidden': [512, 1024], 'rate': (0.0001, 0.01)}
    """
    space: dict[str, list[Any] | tuple[float, float]] = {}
    for specification in specifications:
        key, equals, text = specification.partition("=")
        if not key or not equals or not text:
            raise ConfigError(f"--search {specification!r}: write key=a,b,c or key=low..high")
        ends = _RANGE.fullmatch(text)
        space[key] = _ends(key, *ends.groups()) if ends else [_value(v) for v in text.split(",")]
    if not space:
        raise ConfigError("nothing to search; name settings with --search key=a,b,c")
    return space


def tune(
    config: RunConfig,
    space: Space,
    trials: int,
    out: Path,
    listener: Callable[[Trial], None] | None = None,
) -> Trial:
    """Try settings and write ``tune.json``: everything that was tried, and what won.

    A trial's figure is the mean over the validation folds of mH. Test images take no part: they are
    not in the validation data, and what was loaded of them is overwritten with NaN where it can be.
    A search that was stopped goes on: what ``tune.json`` holds is not tried again.
    """
    try:
        import optuna
    except (ImportError, RuntimeError) as problem:
        raise ConfigError(f"cannot search ({problem}); pip install 'mczsl[tune]'") from None

    whole = whole_numbers(config, space)
    folds = validation_folds(config)
    for fold in folds:
        Run(config, fold)  # what cannot be run is told before anything is tried
    notebook = _Notebook(out / "tune.json", config, space, folds)
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(direction="maximize", sampler=_sampler(space, config))

    def objective(trial: optuna.Trial) -> float:
        settings = {
            key: _suggest(trial, key, choices, key in whole) for key, choices in space.items()
        }
        figures = notebook.figures(settings) or _mean_harmonic(config, settings, folds)
        told: Trial = {"settings": settings, "mH": figures}
        notebook.add(told)
        if listener is not None:
            listener(told)
        return mean_harmonic(told)

    # The sampler's seed is fixed, so a search that goes on asks for the same trials first.
    with catch_signals() as stop:  # between two runs, which catch their own
        study.optimize(objective, n_trials=trials, callbacks=[lambda *_: stop.check()])
    return notebook.best()


def mean_harmonic(trial: Trial) -> float:
    """A trial's figure: the mean over the folds."""
    return float(np.mean(trial["mH"]))


class _Notebook:
    """What was searched and tried, on disk."""

    def __init__(
        self, path: Path, config: RunConfig, space: Space, folds: Sequence[FeatureDataset]
    ):
        asked = {
            "config": config.model_dump(mode="json", exclude={"data_root"}),
            "space": space,
            "data": [fold.fingerprint for fold in folds],
            "code": code_if_known(config.method),
        }
        self._path, self._asked = path, json.loads(json.dumps(asked))
        self._tried: list[Trial] = []
        self._before = self._read() if path.exists() else []

    def figures(self, settings: Mapping[str, Any]) -> list[float] | None:
        """What these settings gave before."""
        found = (trial["mH"] for trial in self._before if trial["settings"] == settings)
        return next(found, None)

    def add(self, trial: Trial) -> None:
        """Write a trial down; what an earlier search left stays behind it until it comes up."""
        self._tried.append(trial)
        waiting = [old for old in self._before if old not in self._tried]
        told = {**self._asked, "tried": [*self._tried, *waiting], "best": self.best()}
        storage.write_atomically(self._path, json.dumps(told, indent=1).encode())

    def best(self) -> Trial:
        """The trial with the best figure."""
        return max(self._tried, key=mean_harmonic)

    def _read(self) -> list[Trial]:
        try:
            before = json.loads(self._path.read_bytes())
            same = all(before.get(key) == value for key, value in self._asked.items())
            tried: list[Trial] = before["tried"] if same else []
        except (OSError, ValueError, AttributeError, KeyError) as error:
            raise StorageError(
                f"{self._path}: cannot be continued ({error!r}); choose another folder with --out"
            ) from None
        if not same:
            raise ConfigError(
                f"{self._path.parent}: holds another search (other settings, data or code); "
                "choose another folder with --out"
            )
        return tried


def whole_numbers(config: RunConfig, space: Space) -> set[str]:
    """Those of the settings that are whole numbers; a wrong name or value is told here."""
    method = get_method(config.method)
    fields = method.Config.model_fields
    if unknown := [key for key in space if key not in fields]:
        raise unknown_name(f"setting of {config.method}", unknown[0], fields)
    whole = {key for key in space if fields[key].annotation in (int, int | None)}
    for key, values in space.items():
        if isinstance(values, tuple) and key in whole:
            low, high = math.ceil(values[0]), math.floor(values[1])
            if low > high:
                raise ConfigError(f"--search {key}: no whole number in {values[0]}..{values[1]}")
            values = (low, high)
        for value in values:
            make_config(method, config.preset, {**config.settings, key: value})
    return whole


def number_of_trials(space: Space, most: int) -> int:
    """How many will be tried: no combination of choices twice."""
    choices = [values for values in space.values() if isinstance(values, list)]
    return min(most, math.prod(map(len, choices))) if len(choices) == len(space) else most


def validation_folds(config: RunConfig) -> list[FeatureDataset]:
    """The validation data of every fold, after which the test images are gone from memory.

    The fixed protocol tests on a split of its own, and makes every class an unseen one for a while:
    there is one fold, of the published training images that this split trains on.
    """
    dataset = load_dataset(
        config.dataset, features=config.features, semantics=config.semantics, root=config.data_root
    )
    if config.protocol == "fixed":
        _, test = split_images(dataset.labels, config.seeds.image_split)
        folds = [validation_dataset(dataset, without=test.tolist())]
    else:
        test = np.empty(0, dtype=np.int64)
        folds = [validation_dataset(dataset, fold) for fold in range(number_of_folds(dataset))]
    poison_test_images(dataset, test)
    return folds


def poison_test_images(dataset: FeatureDataset, also: NDArray[np.int64]) -> None:
    """Overwrite every image outside the training set, so that no use of one can go unnoticed.

    A file that is mapped into memory cannot be written to; the folds are copies without them.
    """
    train = np.setdiff1d(dataset.splits.trainval, also)
    test = np.setdiff1d(np.arange(len(dataset.labels)), train)
    if dataset.features.flags.writeable:
        dataset.features[test] = np.nan


def _sampler(space: Space, config: RunConfig) -> optuna.samplers.BaseSampler:
    """Every combination once where all have choices; else Optuna's usual guesses."""
    from optuna.samplers import GridSampler, TPESampler

    grid = {key: choices for key, choices in space.items() if isinstance(choices, list)}
    seed = config.seeds.training
    return GridSampler(grid, seed=seed) if len(grid) == len(space) else TPESampler(seed=seed)


def _mean_harmonic(
    config: RunConfig, settings: Mapping[str, Any], folds: Sequence[FeatureDataset]
) -> list[float]:
    changed = config.model_copy(update={"settings": {**config.settings, **settings}})
    figures = []
    for fold in folds:
        try:
            figures.append(float(Run(changed, fold).finish()["mH"]))
        except DivergedError:
            figures.append(0.0)  # worse than anything that learns
    return figures


def _suggest(
    trial: optuna.Trial, key: str, choices: list[Any] | tuple[float, float], whole: bool
) -> Any:
    if isinstance(choices, list):
        return trial.suggest_categorical(key, choices)
    low, high = choices
    if whole:
        return trial.suggest_int(key, math.ceil(low), math.floor(high), log=True)
    return trial.suggest_float(key, low, high, log=True)


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _ends(key: str, low: str, high: str) -> tuple[float, float]:
    try:
        ends = float(low), float(high)
    except ValueError:
        raise ConfigError(f"--search {key}: {low}..{high} is not a range of numbers") from None
    if not 0 < ends[0] < ends[1]:
        raise ConfigError(f"--search {key}: a range needs 0 < low < high, not {low}..{high}")
    return ends
