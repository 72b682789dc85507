"""The contract of a method: learn a task, score samples against any described class."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, get_args

from pydantic import BaseModel, ConfigDict, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError
from torch import Tensor

from mczsl.protocols import ClassSet, Task
from mczsl.seeding import Seeds

Scorer = Callable[[Tensor], Tensor]
"""Features (n, D) -> scores (n, classes); the work that depends on the classes alone is done."""


@dataclass(frozen=True)
class Progress:
    """How far learning a task has come; ``loss`` is the newest value, or None."""

    epoch: int
    epochs: int
    loss: float | None = None


@dataclass(frozen=True)
class State:
    """Everything a method has learned: tensors by name, and plain JSON values."""

    tensors: dict[str, Tensor] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)

    def part(self, name: str) -> State:
        """The state that was stored under ``name`` by :meth:`with_part`."""
        prefix = f"{name}."
        return State(
            {k.removeprefix(prefix): v for k, v in self.tensors.items() if k.startswith(prefix)},
            self.values.get(name, {}),
        )

    def with_part(self, name: str, part: State) -> State:
        """This state with another one inside, under ``name``."""
        tensors = {f"{name}.{key}": tensor for key, tensor in part.tensors.items()}
        return State(self.tensors | tensors, self.values | {name: part.values})


@dataclass(frozen=True)
class Setting:
    """The world that a method is built for, apart from its own configuration."""

    feature_dim: int
    attribute_dim: int
    memory_capacity: int = 0
    seeds: Seeds = field(default_factory=Seeds)
    device: str = "cpu"


class MethodConfig(BaseModel):
    """The settings that all methods share. An unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    calibration: Literal["none", "auto"] = "none"

    @field_validator("*", mode="before")
    @classmethod
    def _a_truth_value_is_no_number(cls, value: Any, info: ValidationInfo) -> Any:
        """Without this, ``epochs=true`` would be one epoch."""
        annotation = cls.model_fields[info.field_name or ""].annotation
        kinds = {annotation, *get_args(annotation)}
        if isinstance(value, bool) and kinds & {int, float} and bool not in kinds:
            raise PydanticCustomError("number_type", "Input should be a number")
        return value


class Method(ABC):
    """A system that learns task by task and scores any class that has attributes.

    Subclasses declare ``Config`` (its defaults are the preset ``default``), further ``presets``,
    and what they need or promise. They own their training loop.
    """

    name: str
    Config: ClassVar[type[MethodConfig]]
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    uses_unseen_attributes: bool = False
    classes_are_independent: bool = True
    """Whether adding a candidate class leaves the scores of the others as they were."""

    def __init__(self, config: MethodConfig, setting: Setting):
        self.config, self.setting = config, setting

    @property
    def memory_capacity(self) -> int | None:
        """How many samples of the past may be kept; None if there is no limit."""
        return self.setting.memory_capacity

    @abstractmethod
    def learn(self, task: Task) -> Iterator[Progress]:
        """Learn one task, yielding now and then, so that anything can show or stop it."""

    @abstractmethod
    def scorer(self, classes: ClassSet) -> Scorer:
        """A function that scores features against these classes, seen or not."""

    @abstractmethod
    def state(self) -> State:
        """What has been learned; together with the config it restores the method."""

    @abstractmethod
    def load_state(self, state: State) -> None:
        """Take over a state that :meth:`state` gave."""

    def scores(self, features: Tensor, classes: ClassSet) -> Tensor:
        """Scores (n, len(classes)); the higher the likelier."""
        return self.scorer(classes)(features)
