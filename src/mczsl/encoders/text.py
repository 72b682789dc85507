"""Sentences become attribute vectors.

A class that is described by a sentence can be compared only with classes that the same encoder has
described. So every encoder has an ``identity``, which is stored with whatever it described.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mczsl.data.checks import check_features
from mczsl.data.convert import as_matrix
from mczsl.errors import ConfigError, DataError, unknown_name

LONGEST_TEXT = 100_000  # characters; more than any description, less than a file read by mistake
DEFAULT = "minilm"


class TextEncoder(Protocol):
    """Anything that turns texts into vectors of one length."""

    @property
    def identity(self) -> str:
        """Name and weights; equal identities promise equal vectors."""

    @property
    def dim(self) -> int:
        """How many numbers describe a text."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row for each text, of shape (n, dim)."""


class CallableEncoder:
    """Any function from a list of texts to a table of numbers, under an identity of your choice.

    >>> lengths = CallableEncoder(lambda texts: [[len(text), 1] for text in texts], "lengths-1")
    >>> lengths.encode(["a red fruit"])
    array([[11.,  1.]], dtype=float32)
    """

    def __init__(self, function: Callable[[list[str]], ArrayLike], identity: str) -> None:
        if not identity.strip():
            raise ConfigError("a text encoder needs an identity, such as 'my-encoder-1'")
        self.function = function
        self.identity = identity
        self._dim: int | None = None

    @property
    def dim(self) -> int:
        """How many numbers describe a text; found out by encoding one."""
        return self._dim or self.encode(["a text"]).shape[1]

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One checked row for each text."""
        texts = check_texts(texts)
        what = f"text encoder {self.identity!r}"
        vectors = as_matrix(self.function(texts), what)
        check_features(vectors, what)
        if len(vectors) != len(texts) or vectors.shape[1] != (self._dim or vectors.shape[1]):
            expected = (len(texts), self._dim or vectors.shape[1])
            raise DataError(f"{what}: returned shape {vectors.shape}, expected {expected}")
        self._dim = vectors.shape[1]
        return vectors


def load_encoder(name: str = DEFAULT) -> TextEncoder:
    """The text encoder of that name."""
    if name != DEFAULT:
        raise unknown_name("text encoder", name, [DEFAULT])
    from mczsl.encoders.minilm import MiniLM

    return MiniLM()


def check_texts(texts: Sequence[str]) -> list[str]:
    """Non-empty texts of sane length that can be written as UTF-8; surrounding blanks are cut."""
    if isinstance(texts, str):
        raise DataError("descriptions: expected a list of texts, not one text")
    cleaned = []
    for number, text in enumerate(texts):
        if not isinstance(text, str):
            raise DataError(f"description {number} is {type(text).__name__}, not a text")
        if not text.strip():
            raise DataError(f"description {number} is empty; say what the class looks like")
        if len(text) > LONGEST_TEXT:
            raise DataError(
                f"description {number} has {len(text)} characters, more than {LONGEST_TEXT}; "
                "a sentence is enough"
            )
        try:
            text.encode()
        except UnicodeEncodeError as problem:
            raise DataError(f"description {number} is no valid Unicode text: {problem}") from None
        cleaned.append(text.strip())
    if not cleaned:
        raise DataError("there are no descriptions")
    return cleaned


def require_same_encoder(encoder: TextEncoder, identity: str) -> None:
    """Refuse to describe new classes by another encoder than the one of the known classes."""
    if encoder.identity != identity:
        raise ConfigError(
            f"the known classes were described by {identity!r}, so {encoder.identity!r} cannot "
            "describe a new one: their numbers mean different things. Use the first, or describe "
            "all classes anew"
        )
