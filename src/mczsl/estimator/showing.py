"""How a classifier shows itself: with the number of its classes instead of all their attributes."""

from __future__ import annotations

from collections.abc import Sized
from copy import copy
from typing import Any

_LONG = ("class_attributes", "class_descriptions")


class Count:
    """Stands for a description of many classes where it is shown.

    >>> Count(20_000)
    <20000 classes>
    """

    def __init__(self, classes: int):
        self.classes = classes

    def __repr__(self) -> str:
        return f"<{self.classes} classes>"


class Brief:
    """To be inherited before scikit-learn's ``BaseEstimator``, which prints every attribute."""

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:  # the name is scikit-learn's
        return str(super(Brief, _counted(self)).__repr__(N_CHAR_MAX))  # type: ignore[call-arg]

    def _get_params_html(self, *args: Any, **options: Any) -> Any:
        """The table in a notebook."""
        return super(Brief, _counted(self))._get_params_html(*args, **options)  # type: ignore[misc]


def _counted(estimator: Brief) -> Brief:
    """The same estimator, but with counts for its descriptions."""
    shown = copy(estimator)
    for name in _LONG:
        value = getattr(estimator, name)
        if isinstance(value, Sized) and not isinstance(value, str):
            setattr(shown, name, Count(len(value)))
    return shown
