"""The arrays in an ``.npz`` file, each read when it is asked for; Python objects are refused."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mczsl.data.files import reading, refuse_bomb

_NO_PICKLE = (
    "save it again with numpy.savez, as plain numbers or texts: an array of Python objects is "
    "never loaded"
)


def members(path: Path) -> dict[str, Callable[[], NDArray[Any]]]:
    """The arrays by name, as functions that read them: a fault costs only its own array."""
    with reading(path, "save it with numpy.savez"), zipfile.ZipFile(path) as archive:
        found = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
    return {name: partial(_read, path, info) for name, info in found.items()}


def _read(path: Path, info: zipfile.ZipInfo) -> NDArray[Any]:
    refuse_bomb(path, info.filename, info.compress_size, info.file_size)
    with reading(path, _NO_PICKLE), zipfile.ZipFile(path) as archive, archive.open(info) as file:
        array: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
        return array
