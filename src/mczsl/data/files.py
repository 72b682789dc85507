"""Reading files of unknown origin: whatever is wrong with one becomes an error that names it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from mczsl.errors import DataError, MczslError

# Compressed numbers shrink by a factor below ten, a decompression bomb by about a thousand.
_MOST_SHRUNK = 200
_HARMLESS_BYTES = 256 * 2**20


@contextmanager
def reading(path: Path, mend: str = "write it again, or fetch a fresh copy") -> Iterator[None]:
    """Turn any failure to read ``path`` into a :class:`~mczsl.errors.DataError`."""
    try:
        yield
    except MczslError:
        raise
    except FileNotFoundError as problem:
        raise DataError(f"{path}: there is no such file") from problem
    except MemoryError as problem:
        raise DataError(f"{path}: claims to hold more than fits in memory; {mend}") from problem
    except Exception as problem:  # damaged files make the parsers raise nearly anything
        reason = f"{type(problem).__name__}: {problem}".splitlines()[0][:200]
        raise DataError(f"{path}: cannot be read ({reason}); {mend}") from problem


def refuse_bomb(path: Path, what: str, stored_bytes: int, unpacked_bytes: int) -> None:
    """Refuse contents that would unpack to absurdly more than is stored."""
    if unpacked_bytes > max(_HARMLESS_BYTES, _MOST_SHRUNK * stored_bytes):
        raise DataError(
            f"{path}: {what} would unpack from {stored_bytes} to {unpacked_bytes} bytes, which "
            "real features never do; if they are yours and right, store them uncompressed"
        )


def same_name(name: str, known: Iterable[str]) -> str | None:
    """The known name that is spelled alike, or else alike but for upper and lower case.

    >>> same_name("cub", ["AWA1", "CUB"])
    'CUB'
    """
    names = list(known)
    if name in names:
        return name
    return next((each for each in names if each.lower() == name.lower()), None)
