"""Finding methods by name. A method is one file in this folder with ``@register_method("name")``.

Names are read from the source text, so that listing them imports nothing heavy.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from mczsl.errors import ConfigError, unknown_name

if TYPE_CHECKING:
    from mczsl.methods.base import Method, MethodConfig

_FOLDER = Path(__file__).parent
_registered: dict[str, type[Method]] = {}
_T = TypeVar("_T", bound="type[Method]")


@dataclass(frozen=True)
class MethodInfo:
    """What is known of a method without importing it."""

    name: str
    module: str
    summary: str


def register_method(name: str) -> Callable[[_T], _T]:
    """Class decorator that makes a method known by ``name``; a name can be taken once."""

    def register(method: _T) -> _T:
        known = _registered.setdefault(name, method)
        if (known.__module__, known.__qualname__) != (method.__module__, method.__qualname__):
            raise ConfigError(f"the method name {name!r} is already taken by {known.__module__}")
        method.name = name
        _registered[name] = method
        return method

    return register


@cache
def available_methods() -> Mapping[str, MethodInfo]:
    """Every method in this package, by name, with the first line of its docstring."""
    found = {}
    for path in sorted(_FOLDER.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and (name := _registered_name(node)):
                summary = (ast.get_docstring(node) or "").partition("\n")[0]
                found[name] = MethodInfo(name, f"{__package__}.{path.stem}", summary)
    return dict(sorted(found.items()))


def get_method(name: str) -> type[Method]:
    """The method of this name."""
    if name not in _registered:
        if name not in available_methods():
            raise unknown_name("method", name, {*available_methods(), *_registered})
        importlib.import_module(available_methods()[name].module)
    return _registered[name]


def make_config(
    method: type[Method], preset: str = "default", settings: Mapping[str, Any] | None = None
) -> MethodConfig:
    """A method's configuration: a preset, changed by some settings."""
    from pydantic import ValidationError

    if preset != "default" and preset not in method.presets:
        raise unknown_name("preset", preset, {"default", *method.presets})
    values = {**method.presets.get(preset, {}), **(settings or {})}
    for key in values:
        if key not in method.Config.model_fields:
            raise unknown_name(f"setting of {method.name}", key, method.Config.model_fields)
    try:
        return method.Config.model_validate(values)
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, item['loc'])) or 'settings'}: {item['msg']}"
            + (f" (got {item['input']!r})" if item["loc"] else "")
            for item in error.errors()
        )
        raise ConfigError(f"settings of {method.name}: {problems}") from None


def _registered_name(node: ast.ClassDef) -> str | None:
    for decorator in node.decorator_list:
        match decorator:
            case ast.Call(func=ast.Name(id="register_method"), args=[ast.Constant(str(name))]):
                return name
    return None
