"""Parts of an experiment, chosen by name."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from mczsl.errors import ConfigError, unknown_name
from mczsl.experiments.experiment import DatasetChoice, Experiment, Variant
from mczsl.methods import available_methods, get_method


def select(
    experiment: Experiment,
    *,
    datasets: Sequence[str] = (),
    methods: Sequence[str] = (),
    seeds: Sequence[int] = (),
    features: Sequence[str] = (),
    semantics: Sequence[str] = (),
    settings: Mapping[str, Any] | None = None,
) -> Experiment:
    """The experiment with only these datasets, methods and seeds, and with changed settings."""
    variants = _variants(experiment, methods)
    if seeds:
        variants = tuple(variant.model_copy(update={"seeds": None}) for variant in variants)
    chosen: dict[str, Any] = {
        "datasets": _datasets(experiment, datasets, features, semantics),
        "variants": _with_settings(variants, settings or {}),
        "seeds": tuple(seeds) or experiment.seeds,
    }
    return experiment.model_copy(update=chosen)


def split_names(text: str) -> list[str]:
    """Names between commas; the commas inside of a generated dataset's name do not count.

    >>> split_names("CUB, synthetic:classes=30,unseen=6,digits")
    ['CUB', 'synthetic:classes=30,unseen=6', 'digits']
    """
    names: list[str] = []
    for part in filter(None, map(str.strip, text.split(","))):
        if names and "=" in part and not part.startswith("synthetic"):
            names[-1] += f",{part}"
        else:
            names.append(part)
    return names


def _datasets(
    experiment: Experiment,
    names: Sequence[str],
    features: Sequence[str],
    semantics: Sequence[str],
) -> tuple[DatasetChoice, ...]:
    chosen: Sequence[DatasetChoice] = experiment.datasets
    other_features: Sequence[str | None] = features or [None]
    other_semantics: Sequence[str | None] = semantics or [None]
    if names:
        chosen = [
            choice
            for name in names
            for choice in [each for each in experiment.datasets if _same(each.name, name)]
            or [DatasetChoice(name=name)]
        ]
    varied = [
        DatasetChoice(
            name=choice.name,
            features=choice.features if feature is None else feature,
            semantics=choice.semantics if description is None else description,
        )
        for choice in chosen
        for feature in other_features
        for description in other_semantics
    ]
    return tuple(dict.fromkeys(varied))


def _variants(experiment: Experiment, names: Sequence[str]) -> tuple[Variant, ...]:
    if not names:
        return experiment.variants
    chosen: list[Variant] = []
    for name in names:
        found = [v for v in experiment.variants if v.label == name] or [
            v for v in experiment.variants if _same(v.label, name) or _same(v.method, name)
        ]
        if not found:
            added = Variant(method=name)
            if added.method not in available_methods():
                labels = (variant.name for variant in experiment.variants)
                raise unknown_name("method", name, {*available_methods(), *labels})
            found = [added]
        chosen += [variant for variant in found if variant not in chosen]
    return tuple(chosen)


def _with_settings(variants: Sequence[Variant], settings: Mapping[str, Any]) -> tuple[Variant, ...]:
    """``key`` changes every variant that has it, ``method.key`` those of one method."""
    if not settings:
        return tuple(variants)
    methods = {variant.method for variant in variants}
    for key in settings:
        method, dot, _ = key.partition(".")
        if dot and method not in methods:
            hint = f"In --set {key}=..."
            raise unknown_name("method", method, methods, hint, error=ConfigError)
    known = {key for method in methods for key in _settings_of(method)}
    return tuple(
        variant.model_copy(
            update={"settings": variant.settings | _meant_for(variant, settings, known)}
        )
        for variant in variants
    )


def _meant_for(
    variant: Variant, settings: Mapping[str, Any], known: Collection[str]
) -> dict[str, Any]:
    """What no method knows is kept, for an error that suggests the nearest."""
    own, elsewhere = f"{variant.method}.", set(known) - _settings_of(variant.method)
    common = {k: value for k, value in settings.items() if "." not in k and k not in elsewhere}
    return common | {k.removeprefix(own): v for k, v in settings.items() if k.startswith(own)}


def _settings_of(method: str) -> set[str]:
    return set(get_method(method).Config.model_fields) if method in available_methods() else set()


def _same(one: str, other: str) -> bool:
    return one.lower() == other.lower()
