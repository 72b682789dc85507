"""What the tests of the commands for models share."""

import csv
import io
from collections.abc import Callable

import numpy as np
import pandas as pd

from mczsl import ZeroShotClassifier
from tests.estimator.animals import QUICK

Run = Callable[..., tuple[int, str, str]]
SETTINGS = [part for key, value in QUICK.items() for part in ("--set", f"{key}={value}")]


def named_for(model: ZeroShotClassifier, X: np.ndarray) -> np.ndarray | pd.DataFrame:
    """X with the names that the model knows its columns by, if it does."""
    names = getattr(model, "feature_names_in_", None)
    return X if names is None else pd.DataFrame(X, columns=names)


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))
