"""Building a method as its configuration asks, with or without calibration of seen scores."""

from __future__ import annotations

from mczsl.methods import get_method
from mczsl.methods.base import Method, MethodConfig, Setting


def build_method(name: str, config: MethodConfig, setting: Setting) -> Method:
    """The method of this name."""
    return get_method(name)(config, setting)
