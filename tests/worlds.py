"""Small datasets and streams for tests."""

import numpy as np

from mczsl.data import FeatureDataset, Splits

# Learned in a moment, but still with every part that the real ones have.
SMALL = "synthetic:classes=12,unseen=4,samples=10,features=12,attributes=6"
# Learned in seconds, and well enough to tell methods apart.
EASY = "synthetic:classes=24,unseen=6,samples=20,features=32,attributes=16,difficulty=0.1,noise=0.5"


def dataset_of(
    counts: list[int], unseen: list[int], name: str = "own", seed: int = 0
) -> FeatureDataset:
    """A dataset with this many images in each class, rows in random order.

    Of a seen class the first image is ``test_seen`` if there is another one to train on.
    """
    generator = np.random.default_rng(seed)
    labels = generator.permutation(np.repeat(np.arange(len(counts)), counts))
    first = np.zeros(len(labels), dtype=bool)
    present, rows = np.unique(labels, return_index=True)
    first[rows[np.asarray(counts)[present] > 1]] = True
    is_unseen = np.isin(labels, unseen)
    return FeatureDataset(
        name=name,
        features=generator.random((len(labels), 3)).astype(np.float32) + 0.1,
        labels=labels,
        class_names=tuple(f"class {number}" for number in range(len(counts))),
        attributes=generator.random((len(counts), 4)).astype(np.float32) + 0.1,
        splits=Splits(
            trainval=np.flatnonzero(~is_unseen & ~first),
            test_seen=np.flatnonzero(~is_unseen & first),
            test_unseen=np.flatnonzero(is_unseen),
        ),
        provenance={"features": "random", "semantics": "random"},
    )
