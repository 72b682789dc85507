"""Tensors and JSON on disk: never half-written, never silently damaged, never executable.

A stored folder is a ``manifest.json`` that names the file of tensors with its SHA-256 (safetensors
itself would load a flipped bit without a word). New tensors get a new file and the manifest is
replaced last, in one step: at any instant it names a complete file.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mczsl.errors import StorageError

if TYPE_CHECKING:
    from torch import Tensor

FORMAT_VERSION = 1
MANIFEST = "manifest.json"
_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


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
    write_atomically(folder / weights, blob)
    write_atomically(folder / MANIFEST, json.dumps(manifest, indent=1, allow_nan=False).encode())
    # What earlier saves left: their weights, and half a file if one of them was killed.
    for stale in (*folder.glob("weights-*.safetensors"), *folder.glob(".*.partial")):
        if stale.name != weights:
            stale.unlink(missing_ok=True)


def load(folder: Path, kind: str) -> Stored:
    """Read a folder that :func:`save` wrote, and verify every byte of it."""
    from safetensors.torch import load as tensors_from_bytes

    manifest = read_manifest(folder, kind)
    weights = manifest["weights"]
    blob = _verified(folder, weights["name"], weights["sha256"])
    try:
        return Stored(tensors_from_bytes(blob), manifest["values"])
    except Exception as error:  # whatever a stranger's bytes make the parser raise
        raise StorageError(f"{folder / weights['name']}: holds no tensors ({error})") from None


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
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(".partial", f".{path.name}.", path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
        folder = os.open(path.parent, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)
    except OSError as error:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
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
