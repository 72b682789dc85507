"""Checks that every method must pass, those of this package and anybody's own.

A method passes if a stream of tasks cannot tell it from a sound one: its results depend on its
seeds alone, not on interruptions, on class numbers, on who looks on, or on the future.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import torch

from mczsl.testing.checks import CHECKS
from mczsl.testing.subject import CheckError, Subject

__all__ = ["CheckError", "check_method"]


def check_method(name: str, **settings: Any) -> None:
    """Run every check on the registered method of this name.

    ``settings`` change its configuration; choose small ones, as it learns dozens of tiny tasks.
    Raises :class:`CheckError` with what is broken.

    >>> check_method("sequential", epochs=2, hidden=16)
    """
    subject = Subject(name, settings)
    state = torch.random.get_rng_state(), np.random.get_state(), random.getstate()
    try:
        subject.build()  # an unknown name or setting is the caller's mistake, not the method's
        for check in CHECKS:
            try:
                check(subject)
            except CheckError:
                raise
            except Exception as error:
                what = (check.__doc__ or "").partition("\n")[0].rstrip(".")
                raise CheckError(
                    f"{name}: fails with {type(error).__name__}: {error} ({what})"
                ) from error
    finally:
        torch.random.set_rng_state(state[0])
        np.random.set_state(state[1])
        random.setstate(state[2])
