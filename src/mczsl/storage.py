"""Tensors and JSON on disk: never half-written, never silently damaged, never executable.

A stored folder is a ``manifest.json`` that names the file of tensors with its SHA-256 (safetensors
itself would load a flipped bit without a word). New tensors get a new file and the manifest is
replaced last, in one step: at any instant it names a complete file.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import re
import secrets
import stat
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mczsl.errors import StorageError

if TYPE_CHECKING:
    from torch import Tensor

FORMAT_VERSION = 1
MANIFEST = "manifest.json"
_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_WEIGHTS = r"weights-[0-9a-f]{16}\.safetensors"
# What earlier saves left: their weights, and half a file if one of them was killed.
_LEFT_BEHIND = re.compile(rf"{_WEIGHTS}|\.({_WEIGHTS}|manifest\.json|README\.md)\..+\.partial")
_TRIES = 5  # to read a folder that others write to
_held = threading.local()


@dataclass(frozen=True)
class Stored:
    """What a stored folder holds: tensors by name, and plain JSON values."""

    tensors: Mapping[str, Tensor]
    values: Mapping[str, Any]


def save(folder: Path, kind: str, stored: Stored) -> None:
    """Write a folder so that a reader finds either all of the new content or all of the old."""
    from safetensors.torch import save as tensors_to_bytes

    # Copies, as safetensors refuses tensors that share their memory.
    tensors = {name: tensor.cpu().clone().contiguous() for name, tensor in stored.tensors.items()}
    blob = tensors_to_bytes(tensors)
    digest = hashlib.sha256(blob).hexdigest()
    weights = f"weights-{digest[:16]}.safetensors"
    manifest: dict[str, Any] = {
        "format": "mczsl",
        "format_version": FORMAT_VERSION,
        "kind": kind,
        "weights": {"name": weights, "sha256": digest},
        "values": stored.values,
    }
    manifest["sha256"] = _own_digest(manifest)
    content = json.dumps(manifest, indent=1, allow_nan=False).encode()
    _make_folder_of(folder / MANIFEST)
    with locked(folder):  # or another save would take the new weights for old ones
        write_atomically(folder / weights, blob)
        write_atomically(folder / MANIFEST, content)
        for path in folder.iterdir():
            if _LEFT_BEHIND.fullmatch(path.name) and path.name != weights:
                path.unlink(missing_ok=True)


@contextmanager
def locked(folder: Path, waiting: Callable[[], None] | None = None) -> Iterator[None]:
    """Be the only thread of all processes that changes a folder; ``waiting`` is told of others.

    May be nested. Reading needs no lock.
    """
    mine: set[str] = _held.__dict__.setdefault("folders", set())
    place = os.path.realpath(folder)
    if place in mine or not folder.is_dir():
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        _lock(handle, waiting)
        mine.add(place)
        yield
    finally:
        mine.discard(place)
        os.close(handle)


def _lock(handle: int, waiting: Callable[[], None] | None) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        if waiting is not None:
            waiting()
        fcntl.flock(handle, fcntl.LOCK_EX)
    except OSError:
        pass  # a file system without locks: a single writer is safe there


def load(folder: Path, kind: str) -> Stored:
    """Read a folder that :func:`save` wrote, and verify every byte of it."""
    from safetensors.torch import load as tensors_from_bytes

    manifest, blob = _read(folder, kind)
    weights = manifest["weights"]
    try:
        return Stored(tensors_from_bytes(blob), manifest["values"])
    except Exception as error:  # whatever a stranger's bytes make the parser raise
        raise StorageError(f"{folder / weights['name']}: holds no tensors ({error})") from None


def _read(folder: Path, kind: str) -> tuple[dict[str, Any], bytes]:
    """A manifest and the bytes that it names, even while others save into the folder."""
    manifest = read_manifest(folder, kind)
    for _ in range(_TRIES):
        weights = manifest["weights"]
        try:
            return manifest, _verified(folder, weights["name"], weights["sha256"])
        except StorageError:
            before, manifest = manifest, read_manifest(folder, kind)
            if manifest == before:
                raise
    raise StorageError(f"{folder}: is saved all the time; try again")


def read_manifest(folder: Path, kind: str) -> dict[str, Any]:
    """The verified manifest of a stored folder, without its tensors."""
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        raise StorageError(f"{folder}: no {MANIFEST} here, so this is not a saved {kind}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise StorageError(f"{path}: cannot be read ({error}); restore it from a copy") from None
    if not isinstance(manifest, dict) or manifest.get("format") != "mczsl":
        raise StorageError(f"{path}: was not written by mczsl")
    version = manifest.get("format_version")
    if not isinstance(version, int) or version > FORMAT_VERSION:
        raise StorageError(
            f"{path}: has format {version!r}, and this version reads up to {FORMAT_VERSION}; "
            "upgrade mczsl"
        )
    if manifest.get("sha256") != _own_digest(manifest):
        raise StorageError(f"{path}: is damaged (its checksum differs); restore it from a copy")
    match manifest:
        case {"kind": str(found), "weights": {"name": str(), "sha256": str()}, "values": dict()}:
            if found != kind:
                raise StorageError(f"{folder}: is a saved {found}, not a {kind}")
            return manifest
    raise StorageError(f"{path}: lacks parts that every saved {kind} has; get it anew")


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that it is whole or not there, even if power fails in the middle."""
    _make_folder_of(path)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.partial")
    try:
        # With the permissions that any new file gets here, or with those of the old one.
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        with os.fdopen(handle, "wb") as file:
            if path.is_file():
                os.fchmod(handle, stat.S_IMODE(path.stat().st_mode))
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
        folder = os.open(path.parent, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink()
        raise StorageError(f"{path}: cannot be written: {why_not_written(error)}") from error


def write_output(path: Path, content: bytes) -> None:
    """Write what a user wants to have at ``path``: behind a link, or into a pipe or device."""
    if not path.exists() or path.is_file() or path.is_dir():
        write_atomically(Path(os.path.realpath(path)), content)
        return
    try:
        with path.open("wb") as file:
            file.write(content)
    except OSError as error:
        raise StorageError(f"{path}: cannot be written: {why_not_written(error)}") from error


def _make_folder_of(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"{path}: cannot be written: {why_not_written(error)}") from error


def why_not_written(error: OSError) -> str:
    """What went wrong with a file, and what to do about it."""
    if error.errno == errno.ENOSPC:
        return "the disk is full; free some space and try again. What was there before is intact"
    if error.errno in (errno.EACCES, errno.EROFS, errno.EPERM):
        return "the folder is read-only; choose another one with --out, or change its permissions"
    return error.strerror or str(error)


def _own_digest(manifest: Mapping[str, Any]) -> str:
    rest = {key: value for key, value in manifest.items() if key != "sha256"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def _verified(folder: Path, name: str, digest: str) -> bytes:
    """The bytes of a file beside the manifest, if they are those that were written."""
    path = folder / name
    if not _PLAIN_NAME.fullmatch(name) or path.is_symlink():
        raise StorageError(f"{folder}: refuses the file name {name!r}, which leads elsewhere")
    try:
        content = path.read_bytes()
    except OSError as error:
        raise StorageError(f"{path}: cannot be read: {error.strerror}") from None
    if hashlib.sha256(content).hexdigest() != digest:
        raise StorageError(f"{path}: is damaged (its checksum differs); restore it from a copy")
    return content
