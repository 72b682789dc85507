"""Features that were computed once are kept, so that an interrupted run goes on where it stopped.

A feature is filed under the sha256 of its picture's bytes, in a folder for each backbone. Chunks
are written aside and moved into place, so a chunk is whole or absent; one that was damaged later
is dropped and its features are computed again.
"""

from __future__ import annotations

import hashlib
import io
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mczsl.storage import write_atomically

_CHUNK = 256  # features; at most so many are lost when the power fails

Vector = NDArray[np.float32]


class FeatureCache:
    """Feature vectors by content hash; without a folder they live only as long as the object."""

    def __init__(self, folder: Path | None, identity: str) -> None:
        self._known: dict[str, Vector] = {}
        self._unsaved: list[str] = []
        self._folder = None
        if folder is not None:
            self._folder = folder / hashlib.sha256(identity.encode()).hexdigest()[:16]
            self._load()

    def __enter__(self) -> FeatureCache:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.flush()  # also when interrupted: what is done is done

    def __contains__(self, key: str) -> bool:
        return key in self._known

    def __getitem__(self, key: str) -> Vector:
        return self._known[key]

    def __setitem__(self, key: str, feature: Vector) -> None:
        self._known[key] = feature
        self._unsaved.append(key)
        if len(self._unsaved) >= _CHUNK:
            self.flush()

    def flush(self) -> None:
        """Write what is not on disk yet."""
        keys, self._unsaved = self._unsaved, []
        if self._folder is None or not keys:
            return
        name = hashlib.sha256("".join(keys).encode()).hexdigest()[:16]
        features = np.stack([self._known[key] for key in keys])
        write_atomically(
            self._folder / f"{name}.npz", npz_bytes(keys=np.array(keys), features=features)
        )

    def _load(self) -> None:
        assert self._folder is not None
        for path in sorted(self._folder.glob("*.npz")):
            try:
                with np.load(path, allow_pickle=False) as chunk:
                    self._known.update(zip(chunk["keys"].tolist(), chunk["features"], strict=True))
            except Exception:  # a damaged file makes numpy raise nearly anything
                path.unlink(missing_ok=True)


def npz_bytes(**arrays: NDArray[Any]) -> bytes:
    """The contents of an ``.npz`` file."""
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()
