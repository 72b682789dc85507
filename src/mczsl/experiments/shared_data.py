"""A dataset as plain files that many processes open as one memory map."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from pathlib import Path

import numpy as np

from mczsl import storage
from mczsl.data import FeatureDataset, Splits
from mczsl.data.splits import SETS
from mczsl.errors import StorageError

_META = "dataset.json"


def data_id(dataset: FeatureDataset) -> str:
    """Names the data and what the protocols read from its names; equal for equal runs."""
    told = [dataset.name, *map(dataset.provenance.get, ("features", "semantics", "tasks"))]
    return f"{dataset.fingerprint}-{hashlib.sha256(json.dumps(told).encode()).hexdigest()[:8]}"


def share_dataset(dataset: FeatureDataset, folder: Path) -> None:
    """Write the dataset into the folder, unless it is there; a reader never sees half of it."""
    if (folder / _META).exists():
        return
    meta = {
        "name": dataset.name,
        "fingerprint": dataset.fingerprint,
        "class_names": dataset.class_names,
        "provenance": dict(dataset.provenance),
        "validation_classes": dataset.splits.validation_classes,
    }
    arrays = {
        "features": dataset.features,
        "labels": dataset.labels,
        "attributes": dataset.attributes,
        **dataset.splits.sets(),
    }
    partial = None
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(".partial", f".{folder.name}.", folder.parent))
        for name, array in arrays.items():
            np.save(partial / f"{name}.npy", array, allow_pickle=False)
        (partial / _META).write_text(json.dumps(meta), encoding="utf-8")
        os.chmod(partial, 0o755)
        shutil.rmtree(folder, ignore_errors=True)
        partial.rename(folder)
    except OSError as error:
        if partial is not None:
            shutil.rmtree(partial, ignore_errors=True)
        if not (folder / _META).exists():  # else another process was faster
            raise StorageError(
                f"{folder}: cannot be written: {storage.why_not_written(error)}"
            ) from error


def open_shared(folder: Path) -> FeatureDataset:
    """The dataset in the folder; its features stay on disk until they are used."""
    try:
        meta = json.loads((folder / _META).read_bytes())
        features = np.load(folder / "features.npy", mmap_mode="r", allow_pickle=False)
        arrays = {
            name: np.load(folder / f"{name}.npy", allow_pickle=False)
            for name in ("labels", "attributes", *SETS)
        }
        validation = tuple(tuple(classes) for classes in meta["validation_classes"])
        dataset = FeatureDataset(
            name=meta["name"],
            features=features,
            labels=arrays["labels"],
            class_names=tuple(meta["class_names"]),
            attributes=arrays["attributes"],
            splits=Splits(**{name: arrays[name] for name in SETS}, validation_classes=validation),
            provenance=meta["provenance"],
        )
        sound = dataset.fingerprint == meta["fingerprint"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StorageError(f"{folder}: cannot be read ({error}); delete it and try again") from None
    if not sound:
        raise StorageError(f"{folder}: is damaged (its checksum differs); delete it and try again")
    return dataset
