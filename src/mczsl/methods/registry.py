"""Finding methods by name. A method is one file in this folder with ``@register_method("name")``.

Names are read from the source text, so that listing them imports nothing heavy. Files elsewhere are
known if the environment variable ``MCZSL_METHODS`` lists them. A name from a stored model or from
the network can therefore never make a file run that the user did not name.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from mczsl.errors import ConfigError, MczslError, unknown_name

if TYPE_CHECKING:
    from mczsl.methods.base import Method, MethodConfig

OWN_FILES = "MCZSL_METHODS"
_FOLDER = Path(__file__).parent
_registered: dict[str, type[Method]] = {}
_T = TypeVar("_T", bound="type[Method]")


@dataclass(frozen=True)
class MethodInfo:
    """What is known of a method without importing it."""

    name: str
    module: str
    summary: str
    path: Path


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


def available_methods() -> Mapping[str, MethodInfo]:
    """Every method by name, the package's and those in ``MCZSL_METHODS``."""
    return _find_methods(os.environ.get(OWN_FILES, ""))


def get_method(name: str) -> type[Method]:
    """The method of this name."""
    if name not in _registered:
        if name not in available_methods():
            hint = "A method in a file of your own: --method FILE.py"
            raise unknown_name("method", name, {*available_methods(), *_registered}, hint)
        info = available_methods()[name]
        _load(info)
        if name not in _registered:
            raise ConfigError(f"{info.path}: importing it does not register {name!r}")
    return _registered[name]


def use_method(text: str) -> str:
    """The name of the method that a user means by a name, by ``FILE.py`` or by ``FILE.py:name``.

    The methods of a file are known from then on, here and in processes that are started from here.
    """
    file, colon, name = text.partition(".py:")
    if not colon and not text.endswith(".py"):
        return text
    path = Path(file + ".py" if colon else text).resolve()
    listed = os.environ.get(OWN_FILES, "").split(os.pathsep)
    if str(path) not in listed:
        _names_in(path)  # a file that cannot be read must not get into the list
        os.environ[OWN_FILES] = os.pathsep.join(filter(None, [*listed, str(path)]))
    names = [info.name for info in available_methods().values() if info.path == path]
    if not colon and len(names) == 1:
        return names[0]
    if not names:
        raise ConfigError(
            f'{path}: registers no method; put @register_method("name") above a class, with '
            "`from mczsl.methods import register_method`"
        )
    if name not in names:
        raise unknown_name(f"method in {path.name}", name, names, f"Write {path.name}:NAME")
    return name


@cache
def _find_methods(own_files: str) -> Mapping[str, MethodInfo]:
    found: dict[str, MethodInfo] = {}
    own = [Path(file).resolve() for file in own_files.split(os.pathsep) if file]
    for path in [*sorted(_FOLDER.glob("*.py")), *own]:
        if path in own:
            module = f"mczsl_own_{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}"
        else:
            module = f"{__package__}.{path.stem}"
        for name, summary in _names_in(path).items():
            if name in found:
                raise ConfigError(f"{path}: the name {name!r} is taken by {found[name].path}")
            found[name] = MethodInfo(name, module, summary, path)
    return dict(sorted(found.items()))


def _names_in(path: Path) -> dict[str, str]:
    """The names that a file registers, with the first line of each docstring."""
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, SyntaxError) as error:
        raise ConfigError(f"{path}: cannot be read as a file of methods: {error}") from None
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    named = ((_registered_name(node), ast.get_docstring(node) or "") for node in classes)
    return {name: text.partition("\n")[0] for name, text in named if name}


def _load(info: MethodInfo) -> None:
    """Import the module of a method, which registers it."""
    if info.path.parent == _FOLDER:
        importlib.import_module(info.module)
        return
    spec = importlib.util.spec_from_file_location(info.module, info.path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[info.module] = importlib.util.module_from_spec(spec)
    beside = str(info.path.parent)
    if beside not in sys.path:
        sys.path.append(beside)  # the file may import others beside it, as a script may
    try:
        spec.loader.exec_module(module)
    except MczslError:
        raise
    except Exception as error:
        del sys.modules[info.module]
        raise ConfigError(f"{info.path}: {type(error).__name__}: {error}") from error


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
