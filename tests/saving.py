"""What the tests of stored folders do in processes of their own (imports little: starts fast)."""

import os
import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch

from mczsl.errors import StorageError
from mczsl.storage import Stored, save


def numbered(number: int) -> Stored:
    return Stored({"x": torch.full((1000,), number, dtype=torch.int64)}, {"number": number})


def save_for_ever(folder: Path, number: int) -> None:
    while True:
        number += 1
        save(folder, "model", numbered(number))


def save_with_little_room(folder: Path, limit: int) -> None:
    """No file may grow beyond the limit: what a quota does."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    try:
        save(folder, "model", numbered(1))
    except StorageError as error:
        sys.exit(0 if "weights" in str(error) and "cannot be written" in str(error) else 1)
    sys.exit(2)


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """A folder that this process may read only; root gives up being root for it."""
    folder.chmod(0o555)
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(user)
        folder.chmod(0o755)
