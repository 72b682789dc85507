"""A hash of the code that can change a result: a comment does not, another method does not."""

from __future__ import annotations

import ast
import hashlib
from functools import cache
from pathlib import Path

import mczsl
from mczsl.errors import unknown_name
from mczsl.methods import available_methods

_PACKAGE = Path(mczsl.__file__).parent
# What these do to a result is in the data's fingerprint, or is nothing.
_WITHOUT_EFFECT = ("mczsl.data", "mczsl.encoders", "mczsl.errors", "mczsl.storage")


@cache
def code_version(method: str) -> str:
    """The package's version and a hash of what a run of this method executes."""
    methods = available_methods()
    if method not in methods:
        raise unknown_name("method", method, methods)
    digest = hashlib.sha256()
    for module in sorted(_reached({"mczsl.runs.loop", methods[method].module})):
        digest.update(f"{module} {_meaning(module)}\n".encode())
    return f"{mczsl.__version__}+{digest.hexdigest()[:12]}"


def code_if_known(method: str) -> str | None:
    """The same; None for a method that is in no file."""
    return code_version(method) if method in available_methods() else None


def _reached(modules: set[str]) -> set[str]:
    """These modules and all of the package that they import, directly or not."""
    found: set[str] = set()
    waiting = list(modules)
    while waiting:
        module = waiting.pop()
        if module not in found and not module.startswith(_WITHOUT_EFFECT):
            found.add(module)
            waiting += _imports(module)
    return found


@cache
def _imports(module: str) -> tuple[str, ...]:
    names: list[str] = []
    for node in ast.walk(_tree(module)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return tuple(name for name in names if name.startswith("mczsl.") and _file(name) is not None)


@cache
def _meaning(module: str) -> str:
    """A hash of the code without comments, docstrings and layout."""
    tree = _tree(module)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
            value = body[0].value
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                body[0] = ast.Pass(lineno=0, col_offset=0)
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()


def _tree(module: str) -> ast.Module:
    path = _file(module)
    assert path is not None
    return ast.parse(path.read_text(encoding="utf-8"))


def _file(module: str) -> Path | None:
    if not f"{module}.".startswith("mczsl."):  # a user's own file
        return next(info.path for info in available_methods().values() if info.module == module)
    path = _PACKAGE.joinpath(*module.split(".")[1:])
    for candidate in (path.with_suffix(".py"), path / "__init__.py"):
        if candidate.is_file():
            return candidate
    return None
