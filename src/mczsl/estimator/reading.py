"""What reads descriptions: an encoder by name, or any function, which is known by its answers."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from mczsl.encoders.text import CallableEncoder, load_encoder, require_same_encoder
from mczsl.errors import ConfigError

if TYPE_CHECKING:
    from mczsl.encoders.text import TextEncoder

_PROBE = "a small animal with black and white stripes, or a round red fruit"
_MARK = "; probe "


def as_encoder(encoder: Any) -> TextEncoder:
    """A text encoder from its name, an encoder itself, or any function from texts to numbers."""
    if isinstance(encoder, str):
        return load_encoder(encoder)
    if hasattr(encoder, "encode") and hasattr(encoder, "identity"):
        return encoder  # type: ignore[no-any-return]
    if callable(encoder):
        name = getattr(encoder, "__qualname__", type(encoder).__qualname__)
        return CallableEncoder(encoder, f"{encoder.__module__}.{name}{_answer(encoder)}")
    raise ConfigError(
        f"text_encoder: {encoder!r} is neither the name of an encoder nor a function from texts "
        "to numbers"
    )


def require_reader(encoder: TextEncoder, identity: str) -> None:
    """Refuse another encoder than the one that described the known classes."""
    if identity != encoder.identity.partition(_MARK)[0]:  # all that models were saved with once
        require_same_encoder(encoder, identity)


def _answer(function: Callable[[list[str]], Any]) -> str:
    """What tells a function from others of its name: many a lambda or method shares one.

    Rounded coarsely, as other machines and batches give slightly other numbers.
    """
    try:
        [values] = np.asarray(function([_PROBE]), dtype=np.float64)
        largest = float(np.abs(values).max())
        rounded = np.round(values / (largest or 1.0), 1) + 0.0  # there is no -0.0
    except Exception:  # it may be a table of texts that does not hold this one
        return ""
    said = f"{largest:.1e} {rounded.tolist()}"
    return f"{_MARK}{hashlib.sha256(said.encode()).hexdigest()[:8]}"
