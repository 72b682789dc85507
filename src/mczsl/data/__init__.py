"""Datasets and their readers. ``load_dataset`` finds any of them by name."""

from mczsl.data.catalog import load_dataset
from mczsl.data.dataset import FeatureDataset, Splits

__all__ = ["FeatureDataset", "Splits", "load_dataset"]
