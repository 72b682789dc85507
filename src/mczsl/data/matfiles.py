"""MATLAB files of unknown origin, read with an error that names whatever is wrong with them."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mczsl.data.convert import as_integers, as_matrix
from mczsl.data.files import reading, refuse_bomb
from mczsl.errors import DataError

_HDF5 = b"\x89HDF\r\n\x1a\n"
_CONVERT = (
    "was saved as MAT v7.3 (HDF5), which needs converting once: in MATLAB load it and "
    "save(..., '-v7'); in Python read it with h5py and write it with scipy.io.savemat"
)


class MatFile:
    """The wanted variables of one ``.mat`` file; asking for an absent one is an error."""

    def __init__(self, path: Path, wanted: Sequence[str]) -> None:
        from scipy.io import loadmat, whosmat

        self.path = path
        with reading(path, "it seems truncated or damaged: fetch a fresh copy"):
            with path.open("rb") as file:
                start = file.read(520)
            if start.startswith(_HDF5) or start[512:] == _HDF5 or start.startswith(b"MATLAB 7.3"):
                raise DataError(f"{path}: {_CONVERT}")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what matters of them becomes an error below
                listing = whosmat(path)
                stored = path.stat().st_size
                for name, shape, _ in listing:
                    if name in wanted:
                        refuse_bomb(path, name, stored, 8 * math.prod(shape))
                self._values = loadmat(path, variable_names=list(wanted))
        self.names = [name for name, _, _ in listing]

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def columns(self, name: str) -> NDArray[np.float32]:
        """A table of numbers with one row for each column that is stored.

        MATLAB stores by columns and keeps samples there, so this needs no copy.
        """
        value = self._value(name)
        dense = np.asarray(value.toarray() if hasattr(value, "toarray") else value)
        if dense.ndim != 2:
            raise DataError(f"{self.path.name}: {name} must be a table, not {dense.ndim}-d")
        return as_matrix(dense.T, f"{self.path.name}: {name}")

    def integers(self, name: str) -> NDArray[np.int64]:
        """A variable as a list of whole numbers."""
        return as_integers(self._value(name), f"{self.path.name}: {name}")

    def texts(self, name: str) -> list[str]:
        """A variable as a list of texts, however deep the cells are nested."""
        with reading(self.path):
            return _texts(self._value(name))

    def _value(self, name: str) -> Any:
        if name not in self._values:
            raise DataError(
                f"{self.path}: the variable {name!r} is missing (there are: "
                f"{', '.join(self.names) or 'none'}); save it under that name"
            )
        return self._values[name]


def _texts(value: Any) -> list[str]:
    array = np.asarray(value)
    if array.dtype.kind == "O":
        return [text for item in array.ravel() for text in _texts(item)]
    return [str(item).strip() for item in array.ravel()]
