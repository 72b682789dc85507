"""Datasets on disk for many processes: the same data, mapped, and never silently damaged."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mczsl.data import load_dataset
from mczsl.errors import StorageError
from mczsl.experiments.shared_data import data_id, open_shared, share_dataset
from tests.worlds import SMALL


def test_what_is_opened_is_what_was_shared(tmp_path: Path) -> None:
    dataset = load_dataset("digits")
    share_dataset(dataset, tmp_path / "data")
    opened = open_shared(tmp_path / "data")
    assert isinstance(opened.features, np.memmap)
    assert not opened.features.flags.writeable
    assert opened.fingerprint == dataset.fingerprint
    assert data_id(opened) == data_id(dataset)
    assert (opened.name, opened.provenance) == (dataset.name, dataset.provenance)
    assert opened.splits.validation_classes == dataset.splits.validation_classes


def test_it_is_written_once(tmp_path: Path) -> None:
    share_dataset(load_dataset(SMALL), tmp_path / "data")
    before = (tmp_path / "data" / "features.npy").stat()
    share_dataset(load_dataset(SMALL), tmp_path / "data")
    assert (tmp_path / "data" / "features.npy").stat().st_mtime_ns == before.st_mtime_ns
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_half_of_an_earlier_try_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "features.npy").write_bytes(b"half")
    share_dataset(load_dataset(SMALL), tmp_path / "data")
    assert open_shared(tmp_path / "data").fingerprint == load_dataset(SMALL).fingerprint


@pytest.mark.parametrize("name", ["features.npy", "labels.npy", "dataset.json"])
@pytest.mark.parametrize("how", ["cut", "flip", "gone"])
def test_damage_is_noticed(tmp_path: Path, name: str, how: str) -> None:
    share_dataset(load_dataset(SMALL), tmp_path / "data")
    path = tmp_path / "data" / name
    content = bytearray(path.read_bytes())
    if how == "gone":
        path.unlink()
    else:
        content[-3] ^= 1
        path.write_bytes(content[: len(content) // 2] if how == "cut" else content)
    with pytest.raises(StorageError, match="delete it and try again"):
        open_shared(tmp_path / "data")


def test_the_id_tells_data_and_what_protocols_read_of_names() -> None:
    dataset = load_dataset(SMALL)
    named = replace(dataset, name="cub")  # has the paper's number of tasks
    hinted = replace(dataset, provenance={**dataset.provenance, "tasks": "3"})
    noted = replace(dataset, provenance={**dataset.provenance, "notes": "seen"})
    other = load_dataset(f"{SMALL},seed=1")
    assert len({data_id(each) for each in (dataset, named, hinted, other)}) == 4
    assert data_id(noted) == data_id(dataset)


def test_an_unwritable_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="cannot be written"):
        share_dataset(load_dataset(SMALL), tmp_path / "file" / "data")
