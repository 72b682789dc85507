"""A picture for people: things the model never saw, each with its best guesses."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_RIGHT, _OTHER = "#0072B2", "#BBBBBB"


class Named(NamedTuple):
    """A small picture (h, w, 3) and what it shows."""

    picture: NDArray[np.uint8]
    name: str


@dataclass(frozen=True)
class Question:
    """What the model was shown, and its guesses, the best first."""

    shown: Named
    guesses: tuple[Named, ...]


def guesses_picture(questions: Sequence[Question], title: str, columns: int = 2) -> Figure:
    """Each question with its guesses; the right one has a thick frame and a tick at its name."""
    from matplotlib.figure import Figure

    rows = -(-len(questions) // columns)
    width = 2 + len(questions[0].guesses)  # the question, a gap for the arrow, the guesses
    figure = Figure(figsize=(1.02 * width * columns, 1.12 * rows + 0.55), layout="constrained")
    figure.suptitle(title, fontsize=11)
    ratios = [1, 0.3, *[1] * (width - 2)] * columns
    axes = figure.subplots(rows, width * columns, squeeze=False, width_ratios=ratios)
    for axis in axes.flat:
        axis.set_axis_off()
    for number, question in enumerate(questions):
        first = width * (number % columns)
        cells = axes[number // columns, first : first + width]
        _show(cells[0], question.shown, frame=None)
        cells[1].text(0.5, 0.5, "\N{RIGHTWARDS ARROW}", ha="center", va="center", fontsize=16)
        for cell, guess in zip(cells[2:], question.guesses, strict=True):
            _show(cell, guess, frame=guess.name == question.shown.name)
    return figure


def _show(axis: Axes, named: Named, frame: bool | None) -> None:
    """A picture with its name below, framed thickly (right), thinly (wrong) or not at all."""
    axis.set_axis_on()
    axis.set(xticks=[], yticks=[])
    axis.imshow(named.picture, interpolation="bilinear")
    tick = "\N{CHECK MARK} " if frame else ""
    axis.set_xlabel(tick + _wrapped(named.name), fontsize=7, weight="bold" if frame else "normal")
    for spine in axis.spines.values():
        spine.set(visible=frame is not None, color=_RIGHT if frame else _OTHER)
        spine.set_linewidth(3 if frame else 0.8)


def _wrapped(name: str) -> str:
    r"""At most two short lines.

    >>> _wrapped("woman in motorized wheelchair facing right")
    'woman in motorized\nwheelchair facing…'
    """
    return "\n".join(textwrap.wrap(name, 18, max_lines=2, placeholder="…"))
