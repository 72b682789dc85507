"""Independent random streams, each named by what it is for.

A stream is derived from a seed and a path of names, never from how many numbers were drawn before.
So a run that resumes at task 7 draws the same numbers as one that never stopped.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

if TYPE_CHECKING:
    import torch

Seed = Field(default=0, ge=0, lt=2**32)


class Seeds(BaseModel):
    """The four seeds of a run. ``class_order=None`` keeps the published order of the classes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    training: int = Seed
    memory: int = Seed
    image_split: int = Seed
    class_order: int | None = Field(default=None, ge=0, lt=2**32)


def derive(seed: int, *path: str | int) -> int:
    """A 63-bit seed for the stream named by ``path``.

    >>> derive(0, "memory") == derive(0, "memory")
    True
    >>> derive(0, "memory") == derive(0, "training")
    False
    """
    text = "/".join(str(part) for part in (seed, *path))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


def numpy_generator(seed: int, *path: str | int) -> np.random.Generator:
    """A NumPy generator for the stream named by ``path``."""
    return np.random.default_rng(derive(seed, *path))


def torch_generator(seed: int, *path: str | int) -> torch.Generator:
    """A PyTorch generator for the stream named by ``path``."""
    import torch

    return torch.Generator().manual_seed(derive(seed, *path))
