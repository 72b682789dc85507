"""A small world of animals: what they look like follows from how they are described."""

import numpy as np
from numpy.typing import NDArray

from mczsl import ZeroShotClassifier

FEATURES, ATTRIBUTES = 40, 12
NAMES = [f"animal {number:02d}" for number in range(20)]
_generator = np.random.default_rng(0)
TABLE = _generator.normal(size=(len(NAMES), ATTRIBUTES)).astype(np.float32)
_LOOKS = _generator.normal(size=(ATTRIBUTES, FEATURES)).astype(np.float32)
DESCRIBED = dict(zip(NAMES, TABLE, strict=True))
# Learned in a moment: a narrow net, and a high rate in return for few samples.
QUICK = {"hidden": 64, "epochs": 20, "rate": 0.005}


def seen_of(
    numbers: range | list[int], each: int = 10, seed: int = 0, noise: float = 0.5
) -> tuple[NDArray[np.float32], NDArray[np.str_]]:
    """So many samples of each of these animals, and their names."""
    generator = np.random.default_rng([seed, 1])
    which = np.repeat(list(numbers), each)
    looks = TABLE[which] @ _LOOKS + noise * generator.normal(size=(len(which), FEATURES))
    return looks.astype(np.float32), np.array(NAMES)[which]


def quick(known: int = 20, **parameters: object) -> ZeroShotClassifier:
    """A classifier that learns in a moment and knows the first animals."""
    described = {name: DESCRIBED[name] for name in NAMES[:known]}
    return ZeroShotClassifier(**{"settings": QUICK, "class_attributes": described, **parameters})
