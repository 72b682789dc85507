"""A hash of the code that can change a result: a comment does not, another method does not.

Of a method in a user's own file it also covers the files beside it that it imports.
"""

from __future__ import annotations

import ast
import hashlib
from functools import cache
from pathlib import Path

import mczsl
from mczsl.errors import ConfigError, unknown_name
from mczsl.methods import available_methods

_PACKAGE = Path(mczsl.__file__).parent
# What these do to a result is in the data's fingerprint, or is nothing.
_WITHOUT_EFFECT = (
    "mczsl.data",
    "mczsl.encoders",
    "mczsl.errors",
    "mczsl.storage",
    "mczsl.runs.code_version",
)


@cache
def code_version(method: str) -> str:
    """The package's version and a hash of what a run of this method executes."""
    methods = available_methods()
    if method not in methods:
        raise unknown_name("method", method, methods)
    info = methods[method]
    start = {"mczsl.runs.loop", info.module}
    helpers: dict[str, ast.Module] = {}
    if not info.module.startswith("mczsl."):
        helpers = _helpers(info.path)
        start |= {name for tree in helpers.values() for name in _of_package(_names(tree))}
    digest = hashlib.sha256()
    for module in sorted(_reached(start)):
        digest.update(f"{module} {_meaning(module)}\n".encode())
    for file in sorted(helpers):
        digest.update(f"{file} {_hash_of(helpers[file])}\n".encode())
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
    return _of_package(_names(_tree(module)))


def _of_package(names: list[str]) -> tuple[str, ...]:
    return tuple(name for name in names if name.startswith("mczsl.") and _file(name) is not None)


def _names(tree: ast.Module, package: tuple[str, ...] = ()) -> list[str]:
    """What is imported; relative imports count if the package that they are in is given."""
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and (node.module or (node.level and package)):
            above = package[: len(package) + 1 - node.level] if node.level else ()
            base = ".".join([*above, *filter(None, [node.module])])
            names += [base, *(f"{base}.{alias.name}" for alias in node.names)]
    return names


def _helpers(own: Path) -> dict[str, ast.Module]:
    """The files in the folder of a user's own file that it imports, directly or not."""
    folder, found = own.parent, {own: _parsed(own)}
    waiting = [own]
    while waiting:
        path = waiting.pop()
        package = path.relative_to(folder).parts[:-1]
        for name in _names(found[path], package):
            for file in _files_beside(folder, name):
                if file not in found:
                    found[file] = _parsed(file)
                    waiting.append(file)
    del found[own]
    return {path.relative_to(folder).as_posix(): tree for path, tree in found.items()}


def _files_beside(folder: Path, name: str) -> list[Path]:
    """What importing this name runs in the folder: the packages on its way, and the module."""
    if f"{name}.".startswith("mczsl."):
        return []
    parts = name.split(".")
    ways = [folder.joinpath(*parts[: end + 1]) for end in range(len(parts))]
    files = [file for way in ways for file in (way / "__init__.py", way.with_suffix(".py"))]
    return [file for file in files if file.is_file()]


@cache
def _meaning(module: str) -> str:
    return _hash_of(_tree(module))


def _hash_of(tree: ast.Module) -> str:
    """A hash of the code without comments, docstrings and layout."""
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
    return _parsed(path)


def _parsed(path: Path) -> ast.Module:
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, SyntaxError) as error:
        raise ConfigError(f"{path}: cannot be read as Python: {error}") from None


def _file(module: str) -> Path | None:
    if not f"{module}.".startswith("mczsl."):  # a user's own file
        return next(info.path for info in available_methods().values() if info.module == module)
    path = _PACKAGE.joinpath(*module.split(".")[1:])
    for candidate in (path.with_suffix(".py"), path / "__init__.py"):
        if candidate.is_file():
            return candidate
    return None
