"""Continual generalized zero-shot learning: classify what was never seen, keep learning."""

from importlib import metadata
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mczsl.estimator.classifier import ZeroShotClassifier

__all__ = ["ZeroShotClassifier", "__version__"]
__version__ = metadata.version("mczsl")


def __getattr__(name: str) -> Any:
    """``mczsl.ZeroShotClassifier`` needs torch and scikit-learn: loaded when it is asked for."""
    if name != "ZeroShotClassifier":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from mczsl.estimator.classifier import ZeroShotClassifier

    return ZeroShotClassifier
