"""Saving and loading a classifier: a folder of tensors and JSON, and a model card for people."""

from __future__ import annotations

import hashlib
import os
import re
import warnings
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import torch
from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, StrictStr
from torch import Tensor

import mczsl
from mczsl import storage
from mczsl.data.checks import check_attributes
from mczsl.errors import ConfigError, StorageError
from mczsl.estimator.card import CARD, write_card
from mczsl.estimator.classes import ClassTable
from mczsl.estimator.describe import Descriptions, SavedClasses, Semantics
from mczsl.estimator.labels import as_labels
from mczsl.estimator.lessons import Lesson
from mczsl.estimator.model import Model, Origin
from mczsl.estimator.parameters import available_device, memory_size
from mczsl.methods import get_method, make_config
from mczsl.methods.base import Setting, State
from mczsl.seeding import Seeds

if TYPE_CHECKING:
    from mczsl.estimator.classifier import ZeroShotClassifier

KIND = "classifier"
LICENSE = r"^[A-Za-z0-9.+-]+$"


class Parameters(BaseModel):
    """Those of the classifier's parameters that a file can hold."""

    model_config = ConfigDict(extra="forbid")

    method: str
    preset: str
    settings: dict[str, Any] | None
    text_encoder: str
    memory_size: int
    validation_fraction: float
    random_state: int


class Values(BaseModel):
    """What the manifest says of a classifier; the tensors hold the rest."""

    model_config = ConfigDict(extra="forbid")

    version: str
    license: str = Field(pattern=LICENSE)
    parameters: Parameters
    config: dict[str, Any]
    features: int = Field(ge=1)
    feature_names: list[str] | None
    labels: list[StrictStr] | list[StrictBool] | list[StrictInt]
    next_id: int
    source: Literal["attributes", "descriptions", "one-hot"]
    encoder: str | None
    columns: tuple[str, ...] | None
    lessons: list[Lesson]
    state: dict[str, Any]
    card: list[str | None]  # the checksum of the card, and of the one that it replaces


def save(model: Model, classifier: ZeroShotClassifier, folder: Path, license: str) -> None:
    """Write a classifier so that a reader finds all of the new one or all of the old one."""
    require_room(folder, license)
    state = model.method.state()
    values = _values(model, classifier, state, license)
    kept = {"memory": 0, "mean_memory": 0}
    for name, tensor in state.tensors.items():
        *_, part, what = ["", *name.split(".")]
        if part in kept and what == "labels":
            kept[part] += len(tensor)
    card = write_card(values, model.classes, kept["memory"], kept["mean_memory"])
    before = _content(folder / CARD)
    values.card = [_sha256(card.encode()), None if before is None else _sha256(before)]
    if before is not None and _is_edited(folder, before):
        _put_aside(folder, before)
    tensors = {f"method.{name}": tensor for name, tensor in state.tensors.items()}
    table = model.classes
    tensors |= {"ids": table.ids, "attributes": table.attributes, "seen": table.seen}
    storage.save(folder, KIND, storage.Stored(tensors, values.model_dump(mode="json")))
    storage.write_atomically(folder / CARD, card.encode())


def load(folder: Path, device: str) -> tuple[Model, dict[str, Any], dict[str, Any]]:
    """A saved model, the classifier's parameters, and what scikit-learn remembers of X."""
    stored = storage.load(folder, KIND)
    values = read_values(folder, stored.values)
    device = available_device(device)
    try:
        model = _restored(values, dict(stored.tensors), device)
    except Exception as problem:  # whatever a stranger's numbers lead to
        reason = str(problem).partition("\n")[0]
        raise StorageError(f"{folder}: is no sound classifier ({reason}); get it anew") from problem
    parameters = values.parameters.model_dump() | {"device": device}
    if values.source != "one-hot":
        rows = zip(model.classes.labels, model.classes.attributes.numpy(), strict=True)
        known = SavedClasses(dict(rows), model.semantics)
        model = replace(model, described=Descriptions(known).digests())
        parameters[f"class_{values.source}"] = known
    learned: dict[str, Any] = {"n_features_in_": values.features, "license_": values.license}
    if values.feature_names is not None:
        learned["feature_names_in_"] = np.array(values.feature_names, dtype=object)
    return model, parameters, learned


def read_values(folder: Path, values: Any) -> Values:
    """What a manifest says, if it is of a form that this version knows."""
    try:
        return Values.model_validate(values)
    except ValueError as problem:
        reason = str(problem).replace("\n", " ")[:200]
        raise StorageError(
            f"{folder}: is a classifier that this version cannot read ({reason}); upgrade "
            "mczsl, or save it again"
        ) from None


def require_room(folder: Path, license: Any = "unknown") -> None:
    """Refuse, before anything is trained or written, a place for anything but a classifier."""
    if not isinstance(license, str) or not re.fullmatch(LICENSE, license):
        raise ConfigError(f"license: {license!r} is no identifier such as 'apache-2.0' or 'mit'")
    try:
        place = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    except OSError as problem:  # too long a name
        raise StorageError(f"{folder}: cannot be a folder ({problem}); choose another") from None
    if not place.is_dir():
        raise StorageError(f"{folder}: cannot be a folder, as {place} is a file; choose another")
    if not os.access(place, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        raise StorageError(f"{folder}: the folder is read-only; choose another one")
    if (folder / storage.MANIFEST).exists():
        storage.read_manifest(folder, KIND)
    elif (folder / CARD).exists():
        raise StorageError(
            f"{folder}: has a {CARD} that belongs to something else; choose an empty folder"
        )


def _values(model: Model, classifier: ZeroShotClassifier, state: State, license: str) -> Values:
    encoder = classifier.text_encoder
    config = model.method.config.model_dump(mode="json")
    names = getattr(classifier, "feature_names_in_", None)
    return Values(
        version=mczsl.__version__,
        license=license,
        parameters=Parameters(
            method=model.name,
            preset=model.origin.preset,
            settings={key: config[key] for key in model.origin.settings or {}} or None,
            text_encoder=encoder if isinstance(encoder, str) else "minilm",
            memory_size=memory_size(classifier),
            validation_fraction=float(classifier.validation_fraction),
            random_state=model.origin.random_state,
        ),
        config=config,
        features=model.features,
        feature_names=None if names is None else names.tolist(),
        labels=list(model.classes.labels),
        next_id=model.classes.next_id,
        lessons=list(model.lessons),
        state=state.values,
        card=[],
        **asdict(model.semantics),
    )


def _restored(values: Values, tensors: dict[str, Tensor], device: str) -> Model:
    classes = _classes(values, tensors)
    made = values.parameters
    config = make_config(get_method(made.method), settings=values.config)
    seed = made.random_state
    setting = Setting(
        feature_dim=values.features,
        attribute_dim=classes.attribute_dim,
        memory_capacity=made.memory_size,
        seeds=Seeds(training=seed, memory=seed),
        device=device,
    )
    semantics = Semantics(values.source, values.encoder, values.columns)
    origin = Origin(made.method, made.preset, made.settings, seed)
    model = Model.new(origin, config, setting, classes, semantics)
    state = State(tensors, values.state).part("method").tensors
    broken = [name for name, tensor in state.items() if tensor.isnan().any()]
    if broken:
        raise ValueError(f"{broken[0]} is not finite")
    model.method.load_state(State(state, values.state))
    object.__setattr__(model, "lessons", tuple(values.lessons))
    return model


def _classes(values: Values, tensors: dict[str, Tensor]) -> ClassTable:
    """The table of classes, if all its parts fit together."""
    labels = as_labels(values.labels, "labels")
    ids, attributes, seen = (tensors[name] for name in ("ids", "attributes", "seen"))
    shapes_fit = ids.shape == seen.shape == (len(labels),) and attributes.dtype == torch.float32
    types_fit = ids.dtype == torch.int64 and seen.dtype == torch.bool
    distinct = len(ids.unique()) == len(ids) and sorted(set(labels)) == labels
    if not (shapes_fit and types_fit and distinct and ids.max() < values.next_id):
        raise ValueError("its table of classes contradicts itself")
    check_attributes(attributes.numpy(), [str(label) for label in labels])
    return ClassTable(tuple(labels), ids, attributes, seen, values.next_id)


def _is_edited(folder: Path, card: bytes) -> bool:
    """Whether somebody wrote into the card after it was saved."""
    written = storage.read_manifest(folder, KIND)["values"].get("card")
    return not isinstance(written, list) or _sha256(card) not in written


def _put_aside(folder: Path, card: bytes) -> None:
    """Keep an edited card under a name of its own, as its place is taken by a new one."""
    place = folder / f"README-{_sha256(card)[:8]}.md"
    storage.write_atomically(place, card)
    warnings.warn(
        f"{folder / CARD}: was edited since it was saved; the edited card is now {place.name}, "
        f"copy what you need from it into the new {CARD}",
        stacklevel=4,
    )


def _content(path: Path) -> bytes | None:
    """What is in a file; None if there is none."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as problem:
        raise StorageError(f"{path}: cannot be read: {problem.strerror}") from None


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
