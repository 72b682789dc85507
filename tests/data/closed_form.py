"""The simplest learner that can recognise what it never saw: a ridge map in closed form."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mczsl.data.dataset import FeatureDataset


def zero_shot_accuracy(
    dataset: FeatureDataset, attributes: NDArray[np.floating] | None = None
) -> float:
    """Mean accuracy of the unseen classes among themselves, from a map learned on the seen ones.

    ESZSL: ``V = (X'X + g I)^-1 X'Y S (S'S + l I)^-1``, the best class has the largest ``x V s``.
    """
    seen, unseen = dataset.seen_classes, dataset.unseen_classes
    semantics = _unit_rows(dataset.attributes if attributes is None else attributes)
    train, test = dataset.splits.trainval, dataset.splits.test_unseen
    features = _unit_rows(dataset.features)
    features -= features[train].mean(axis=0)
    X, S = features[train], semantics[seen]
    Y = dataset.labels[train][:, None] == seen
    V = np.linalg.solve(X.T @ X + np.eye(X.shape[1]), X.T @ Y @ S)
    V = V @ np.linalg.inv(S.T @ S + np.eye(S.shape[1]))
    predicted = unseen[np.argmax(features[test] @ V @ semantics[unseen].T, axis=1)]
    correct = predicted == dataset.labels[test]
    return float(np.mean([correct[dataset.labels[test] == label].mean() for label in unseen]))


def _unit_rows(values: NDArray[np.floating]) -> NDArray[np.float64]:
    rows = values.astype(np.float64)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)
