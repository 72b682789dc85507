"""An experiment is data: datasets x protocols x variants of methods x seeds."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
)

from mczsl.errors import ConfigError, unknown_name
from mczsl.evaluation.stage import Candidates
from mczsl.experiments import paper
from mczsl.methods import use_method
from mczsl.runs.config import RunConfig

_RECIPE = ("method", "preset", "settings")
_Model = TypeVar("_Model", bound=BaseModel)


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class DatasetChoice(_Part):
    """A dataset, and which of its features and descriptions to use."""

    name: str
    features: str | None = None
    semantics: str | None = None


class Variant(_Part):
    """One row of a table: a method with its settings, under a name of its own."""

    method: str
    label: str = ""
    preset: str = "default"
    settings: dict[str, Any] = Field(default_factory=dict)
    memory_per_class: int | None = Field(None, ge=0)
    candidates: Candidates = "joint"
    seeds: tuple[int, ...] | None = Field(
        None, description="of the seeds only these: for slow rows"
    )
    reported: str = Field("", description="this row in the paper's table; by default the label")
    note: str = Field("", description="what the table says about this row")

    @field_validator("method")
    @classmethod
    def _own_files_become_known(cls, method: str) -> str:
        return use_method(method)

    @property
    def name(self) -> str:
        """What the row is called."""
        return self.label or self.method


class Planned(NamedTuple):
    """One run of an experiment, and the variant it belongs to."""

    variant: Variant
    config: RunConfig


class Experiment(_Part):
    """A grid of runs, and how its results are shown."""

    title: str
    show: Literal["methods", "tasks", "memory", "ablation"] = "methods"
    reported: str | None = Field(None, description="the paper's table to show beside the results")
    datasets: tuple[DatasetChoice, ...]
    protocols: tuple[Literal["gzsl", "fixed", "dynamic"], ...]
    variants: tuple[Variant, ...]
    seeds: tuple[int, ...] = (0,)
    memory_per_class: tuple[int | None, ...] = (None,)
    tasks: int | None = Field(None, ge=1)
    split_seed: int = Field(0, ge=0, description="seed of the image split (fixed)")
    order_seed: int | None = Field(None, ge=0, description="shuffles the classes")

    @field_validator("datasets", "variants", mode="before")
    @classmethod
    def _name_is_enough(cls, values: object, info: Any) -> object:
        """``datasets = ["CUB"]`` says the same as ``datasets = [{name = "CUB"}]``."""
        key = "name" if info.field_name == "datasets" else "method"
        if not isinstance(values, Sequence) or isinstance(values, str):
            return values
        return [{key: value} if isinstance(value, str) else value for value in values]

    @field_validator("variants")
    @classmethod
    def _one_name_one_recipe(cls, variants: tuple[Variant, ...]) -> tuple[Variant, ...]:
        """Tables say candidates and memory, but not what else a method was told."""
        known: dict[str, Variant] = {}
        for variant in variants:
            first = known.setdefault(variant.name, variant)
            if any(getattr(first, key) != getattr(variant, key) for key in _RECIPE):
                raise ValueError(
                    f"two variants with different {', '.join(_RECIPE[:-1])} or {_RECIPE[-1]} are "
                    f"both called {variant.name!r}; give each a label of its own"
                )
        return variants

    @field_validator("memory_per_class")
    @classmethod
    def _sizes_are_given_once(
        cls, sizes: tuple[int | None, ...], info: ValidationInfo
    ) -> tuple[int | None, ...]:
        own = [v for v in info.data.get("variants", ()) if v.memory_per_class is not None]
        if own and any(size is not None for size in sizes):
            raise ValueError(
                f"all variants go through these sizes, but {own[0].name!r} has a memory_per_class "
                f"of its own ({own[0].memory_per_class}); leave out one of the two"
            )
        return sizes

    def runs(self, data_root: Path | None = None) -> Iterator[Planned]:
        """Every run of the grid, once."""
        planned = [
            Planned(variant, self._config(dataset, protocol, variant, memory, seed, data_root))
            for seed in self.seeds  # first, so that all methods have a figure early
            for dataset in self.datasets
            for protocol in self.protocols
            for memory in self.memory_per_class
            for variant in self.variants
            if variant.seeds is None or seed in variant.seeds
        ]
        found = {(plan.variant.name, plan.config.model_dump_json()): plan for plan in planned}
        return iter(found.values())

    def _config(
        self,
        dataset: DatasetChoice,
        protocol: str,
        variant: Variant,
        memory: int | None,
        seed: int,
        data_root: Path | None,
    ) -> RunConfig:
        return validated(
            RunConfig,
            {
                "dataset": dataset.name,
                "features": dataset.features,
                "semantics": dataset.semantics,
                "data_root": data_root,
                "protocol": protocol,
                "tasks": None if protocol == "gzsl" else self.tasks,
                "memory_per_class": memory if memory is not None else variant.memory_per_class,
                "candidates": variant.candidates,
                "method": variant.method,
                "preset": variant.preset,
                "settings": variant.settings,
                "seeds": {
                    "training": seed,
                    "memory": seed,
                    "image_split": self.split_seed,
                    "class_order": self.order_seed,
                },
                "threads": 1,
            },
            "run",
        )


def load_experiment(name: str) -> Experiment:
    """An experiment of the paper by name, or one of the user's own from a TOML file."""
    path = Path(name)
    if path.suffix != ".toml":
        known = paper.experiments()
        if name not in known:
            raise unknown_name("experiment", name, known, "Or give a .toml file")
        path = known[name]
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise ConfigError(f"{path}: is not TOML: {error}") from None
    return validated(Experiment, values, str(path))


def validated(model: type[_Model], values: Any, where: str) -> _Model:
    """A checked object; every problem is named with its place, an unknown key with the nearest."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise ConfigError(
            "; ".join(_problem(model, where, dict(item)) for item in error.errors())
        ) from None


def _problem(model: type[BaseModel], where: str, item: dict[str, Any]) -> str:
    place = ".".join(map(str, item["loc"]))
    if item["type"] == "extra_forbidden":
        parts: dict[str, type[BaseModel]] = {"datasets": DatasetChoice, "variants": Variant}
        known = parts.get(str(item["loc"][0]), model).model_fields
        return f"{where}: {unknown_name('key', place.rpartition('.')[2], known)}"
    if item["type"] == "value_error":  # ours, which says it all
        return f"{where}: {place}: {item['ctx']['error']}"
    return f"{where}: {place}: {item['msg']} (got {item['input']!r})"
