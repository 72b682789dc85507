"""Errors that a user can act on: what is wrong, where, and what to do about it.

Everything a user can get wrong ends in a subclass of :class:`MczslError`; the command line prints
its message without a stack trace. Any other exception is a defect of this package.
"""

import difflib
from collections.abc import Iterable


class MczslError(Exception):
    """Base of all errors that are the user's to mend."""


class DataError(MczslError, ValueError):
    """A dataset, a table or an array is not usable as it is."""


class ConfigError(MczslError, ValueError):
    """A setting is unknown, out of range, or contradicts another."""


class DownloadError(MczslError):
    """A file could not be fetched, or is not the file that was expected."""


class StorageError(MczslError):
    """A stored model or checkpoint is damaged, foreign, or cannot be written."""


class DivergedError(MczslError):
    """Training produced numbers that are not finite."""


def unknown_name(
    kind: str,
    name: str,
    known: Iterable[str],
    hint: str = "",
    error: type[MczslError] = ConfigError,
) -> MczslError:
    """An error for a name that does not exist, which suggests the nearest one that does.

    >>> print(unknown_name("method", "mczls", ["mczsl", "agem"]))
    unknown method 'mczls'; did you mean 'mczsl'? Known: agem, mczsl
    """
    names = sorted(known)
    lowered = {candidate.lower(): candidate for candidate in names}
    near = difflib.get_close_matches(name.lower(), lowered, n=1, cutoff=0.5)
    suggestion = f"; did you mean {lowered[near[0]]!r}?" if near else "."
    listing = f" Known: {', '.join(names)}" if names else ""
    return error(f"unknown {kind} {name!r}{suggestion}{listing}{f'. {hint}' if hint else ''}")


def printable(text: str) -> str:
    r"""Text from outside that is safe on a terminal: all but line breaks is spelled out.

    >>> printable("red \x1b[31mwolf")
    'red \\x1b[31mwolf'
    """
    return "".join(
        letter if letter.isprintable() or letter == "\n" else ascii(letter)[1:-1] for letter in text
    )
