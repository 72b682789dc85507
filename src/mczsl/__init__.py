"""Continual generalized zero-shot learning: classify what was never seen, keep learning."""

from importlib import metadata

__version__ = metadata.version("mczsl")
