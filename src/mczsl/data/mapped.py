"""Memory-mapped tables: reading them must not fill the memory."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np


def release_pages(table: np.memmap[Any, Any]) -> None:
    """Let go of the pages that were read; the system keeps them cached while it has room.

    Without this a process that samples a large file at random ends up with all of it resident.
    """
    mapping = getattr(table, "_mmap", None)
    if mapping is not None and hasattr(mmap, "MADV_DONTNEED") and table.mode == "r":
        mapping.madvise(mmap.MADV_DONTNEED)
