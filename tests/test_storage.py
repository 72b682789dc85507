import hashlib
import json
import os
import random
import shutil
import signal
import struct
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mczsl import storage
from mczsl.errors import StorageError
from mczsl.storage import Stored, load, save
from tests.forked import start, wait_until
from tests.saving import numbered, read_only, save_for_ever, save_with_little_room

TENSORS = {
    "weights": torch.arange(12.0).reshape(3, 4),
    "scalar": torch.tensor(0.1),
    "labels": torch.tensor([3, -1]),
    "mask": torch.tensor([True, False]),
    "nothing": torch.empty(0, 5),
    "double": torch.tensor([1e-300, torch.nan], dtype=torch.float64),
}
VALUES = {"text": "naïve ☃ \x1b[31m", "float": 0.1 + 0.2, "list": [1, None, True], "map": {"a": {}}}


def content(stored: Stored) -> Any:
    """All that is stored, bit for bit."""
    tensors = {
        name: (tensor.dtype, tensor.shape, tensor.numpy().tobytes())
        for name, tensor in sorted(stored.tensors.items())
    }
    return tensors, stored.values


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save(tmp_path / "model", "model", Stored(TENSORS, VALUES))
    return tmp_path / "model"


def test_what_is_saved_is_loaded(folder: Path) -> None:
    assert content(load(folder, "model")) == content(Stored(TENSORS, VALUES))


def test_tensors_that_share_memory_or_are_views(tmp_path: Path) -> None:
    base = torch.arange(6.0).reshape(2, 3)
    tensors = {"one": base, "same": base, "part": base[1:], "turned": base.T}
    save(tmp_path, "model", Stored(tensors, {}))
    loaded = load(tmp_path, "model").tensors
    assert all(torch.equal(loaded[name], tensor) for name, tensor in tensors.items())


def test_a_new_save_replaces_the_old_and_leaves_nothing_behind(folder: Path) -> None:
    (folder / f".weights-{'0' * 16}.safetensors.x.partial").write_bytes(b"a save that was killed")
    (folder / "notes.txt").write_text("the user's own")
    new = Stored({"x": torch.ones(2)}, {"n": 1})
    save(folder, "model", new)
    save(folder, "model", new)
    assert content(load(folder, "model")) == content(new)
    assert sorted(path.name.partition("-")[0] for path in folder.iterdir()) == [
        "manifest.json",
        "notes.txt",
        "weights",
    ]


def test_what_the_user_keeps_beside_it_stays(folder: Path) -> None:
    own = {"weights-best.safetensors", ".mine.partial", "README.md"}
    for name in own:
        (folder / name).write_bytes(b"the user's own")
    save(folder, "model", Stored({"x": torch.ones(2)}, {}))
    assert own <= {path.name for path in folder.iterdir()}


def test_saves_at_the_same_time_leave_one_of_them_whole(tmp_path: Path) -> None:
    """Each would take the other's new weights for old ones."""

    def save_often(number: int) -> None:
        for turn in range(20):
            numbers = torch.full((50,), float(10 * turn + number))
            save(tmp_path, "model", Stored({"x": numbers}, {"x": 10 * turn + number}))
            stored = load(tmp_path, "model")  # while the others save
            assert (stored.tensors["x"] == stored.values["x"]).all()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(save_often, range(4)))
    assert len(list(tmp_path.iterdir())) == 2


def test_a_lock_keeps_other_threads_out_and_may_be_nested(tmp_path: Path) -> None:
    waited, order = threading.Event(), []

    def second() -> None:
        with storage.locked(tmp_path, waited.set):
            order.append("second")

    with storage.locked(tmp_path), storage.locked(tmp_path / "."):
        other = threading.Thread(target=second)
        other.start()
        assert waited.wait(60)
        order.append("first")
    other.join()
    assert order == ["first", "second"]


def test_new_files_have_the_usual_permissions_and_old_ones_keep_theirs(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        storage.write_atomically(tmp_path / "new", b"")
        (tmp_path / "old").touch()
        (tmp_path / "old").chmod(0o604)
        storage.write_atomically(tmp_path / "old", b"changed")
    finally:
        os.umask(before)
    modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    assert modes == {"new": 0o640, "old": 0o604}


def test_output_goes_where_a_link_leads_and_into_a_pipe(tmp_path: Path) -> None:
    link, real, pipe = tmp_path / "link", tmp_path / "real", tmp_path / "pipe"
    link.symlink_to(real)
    storage.write_output(link, b"behind the link")
    assert link.is_symlink()
    assert real.read_bytes() == b"behind the link"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as pool:
        read = pool.submit(pipe.read_bytes)
        storage.write_output(pipe, b"through the pipe")
        assert read.result() == b"through the pipe"
    assert pipe.is_fifo()


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of a saved folder."""
    folder = tmp_path_factory.mktemp("pristine")
    save(folder, "model", Stored(TENSORS, VALUES))
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def load_files(files: dict[str, bytes]) -> Stored:
    with tempfile.TemporaryDirectory() as name:
        for file, written in files.items():
            (Path(name) / file).write_bytes(written)
        return load(Path(name), "model")


@settings(max_examples=300)
@given(data=st.data())
def test_no_flipped_bit_passes(pristine: dict[str, bytes], data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(list(pristine)))
    damaged = bytearray(pristine[name])
    damaged[data.draw(st.integers(0, len(damaged) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    try:
        found = load_files(pristine | {name: bytes(damaged)})
    except StorageError:
        return
    # Some flips change nothing, such as a space that becomes another blank.
    assert content(found) == content(Stored(TENSORS, VALUES))


@given(data=st.data())
def test_no_truncated_file_passes(pristine: dict[str, bytes], data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(list(pristine)))
    size = data.draw(st.integers(0, len(pristine[name]) - 1))
    with pytest.raises(StorageError, match=name):
        load_files(pristine | {name: pristine[name][:size]})


@given(st.binary(max_size=200))
def test_foreign_manifests_are_refused(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / storage.MANIFEST).write_bytes(content)
        with pytest.raises(StorageError, match=storage.MANIFEST):
            load(Path(name), "model")


@pytest.mark.parametrize(
    "text", ["[]", "{}", "null", '{"format": "pt"}', "[" * 100_000, '{"format": "mczsl"}']
)
def test_json_that_is_no_manifest(tmp_path: Path, text: str) -> None:
    (tmp_path / storage.MANIFEST).write_text(text)
    with pytest.raises(StorageError, match=storage.MANIFEST):
        load(tmp_path, "model")


def test_missing_parts_are_named(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="not a saved model"):
        load(tmp_path / "nowhere", "model")
    with pytest.raises(StorageError, match="is a saved model, not a checkpoint"):
        load(folder, "checkpoint")
    next(folder.glob("weights-*")).unlink()
    with pytest.raises(StorageError, match=r"weights-\w+.safetensors: cannot be read"):
        load(folder, "model")


def forge(folder: Path, **changes: Any) -> None:
    """Change a manifest the way an attacker does: with a checksum that fits."""
    path = folder / storage.MANIFEST
    manifest = json.loads(path.read_bytes()) | changes
    manifest = {key: value for key, value in manifest.items() if value is not ...}
    manifest.pop("sha256")
    digest = hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()
    path.write_text(json.dumps(manifest | {"sha256": digest}))


def test_forgery_without_a_change_is_valid(folder: Path) -> None:
    """Otherwise the tests below would be refused for the wrong reason."""
    forge(folder)
    assert content(load(folder, "model")) == content(Stored(TENSORS, VALUES))


def test_a_newer_format_asks_for_an_upgrade(folder: Path) -> None:
    forge(folder, format_version=storage.FORMAT_VERSION + 1)
    with pytest.raises(StorageError, match="upgrade mczsl"):
        load(folder, "model")


@pytest.mark.parametrize(
    "name", ["../secret", "/etc/hostname", "sub/x", "..", ".", "", "a\0b", "\x1b[2J", "a\nb", "~"]
)
def test_a_manifest_cannot_name_a_file_elsewhere(folder: Path, name: str) -> None:
    secret = b"secret"
    (folder.parent / "secret").write_bytes(secret)
    forge(folder, weights={"name": name, "sha256": hashlib.sha256(secret).hexdigest()})
    with pytest.raises(StorageError, match="leads elsewhere") as caught:
        load(folder, "model")
    assert "\x1b" not in str(caught.value)


def test_a_link_out_of_the_folder_is_not_followed(folder: Path) -> None:
    weights = next(folder.glob("weights-*"))
    outside = weights.rename(folder.parent / "outside")
    weights.symlink_to(outside)
    with pytest.raises(StorageError, match="leads elsewhere"):
        load(folder, "model")


@pytest.mark.parametrize(
    "changes",
    [
        {"weights": ...},
        {"weights": []},
        {"weights": {"name": "x"}},
        {"weights": {"name": 3, "sha256": "0"}},
        {"weights": {"name": "x", "sha256": None}},
        {"values": ...},
        {"values": [1]},
        {"kind": ...},
        {"kind": ["model"]},
        {"format_version": "1"},
        {"format_version": None},
    ],
    ids=str,
)
def test_a_forged_manifest_gives_a_named_error(folder: Path, changes: dict[str, Any]) -> None:
    forge(folder, **changes)
    with pytest.raises(StorageError, match=str(folder)):
        load(folder, "model")


def tensors_file(header: Any, body: bytes = b"") -> bytes:
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


@pytest.mark.parametrize(
    "blob",
    [
        b"",
        b"\x80\x04\x95pickle",
        tensors_file({"a": {"dtype": "F4", "shape": [2], "data_offsets": [0, 1]}}, b"x"),
        tensors_file({"a": {"dtype": "F32", "shape": [2**62, 4], "data_offsets": [0, 1]}}, b"x"),
        tensors_file({"a": {"dtype": "F32", "shape": [0, 2**63], "data_offsets": [0, 0]}}),
    ],
)
def test_forged_tensors_give_a_named_error(folder: Path, blob: bytes) -> None:
    (folder / "weights-forged.safetensors").write_bytes(blob)
    digest = hashlib.sha256(blob).hexdigest()
    forge(folder, weights={"name": "weights-forged.safetensors", "sha256": digest})
    with pytest.raises(StorageError, match=r"weights-forged\.safetensors: holds no tensors"):
        load(folder, "model")


# ---------------------------------------------------------------- faults of the machine


def loaded_number(folder: Path) -> int:
    stored = load(folder, "model")
    number = stored.values["number"]
    assert content(stored) == content(numbered(number))
    return int(number)


def manifest_number(folder: Path) -> int:
    return int(storage.read_manifest(folder, "model")["values"]["number"])


def test_killed_at_any_moment_the_folder_holds_old_or_new(tmp_path: Path) -> None:
    chance = random.Random(0)
    number = 0
    save(tmp_path, "model", numbered(number))
    for _ in range(10):
        saver = start(save_for_ever, tmp_path, number)
        wait_until(lambda before=number: manifest_number(tmp_path) > before, saver)
        time.sleep(chance.random() * 0.01)  # any moment will do
        saver.kill()
        saver.join()
        assert saver.exitcode == -signal.SIGKILL
        now = loaded_number(tmp_path)
        assert now > number
        number = now
    save(tmp_path, "model", numbered(-1))
    assert len(list(tmp_path.iterdir())) == 2, "a killed save left something for good"


@pytest.mark.parametrize("limit", [0, 1, 4096])
def test_a_file_that_cannot_grow_leaves_the_old_content(tmp_path: Path, limit: int) -> None:
    save(tmp_path, "model", numbered(0))
    names = sorted(os.listdir(tmp_path))
    saver = start(save_with_little_room, tmp_path, limit)
    saver.join()
    assert saver.exitcode == 0
    assert sorted(os.listdir(tmp_path)) == names
    assert loaded_number(tmp_path) == 0


@pytest.fixture
def tiny_disk() -> Iterator[Path]:
    """A disk of 64 KB."""
    folder = Path(tempfile.mkdtemp())
    mounted = (
        shutil.which("mount")
        and not subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], capture_output=True
        ).returncode
    )
    try:
        if not mounted:
            pytest.skip("mounting a small disk is not allowed here")
        yield folder
    finally:
        if mounted:
            subprocess.run(["umount", folder], check=True)
        folder.rmdir()


def test_a_full_disk_is_named_and_leaves_the_old_content(tiny_disk: Path) -> None:
    save(tiny_disk / "model", "model", numbered(0))
    disk = os.statvfs(tiny_disk)
    (tiny_disk / "filler").write_bytes(bytes((disk.f_bavail - 1) * disk.f_frsize))
    with pytest.raises(StorageError, match="the disk is full; free some space"):
        save(tiny_disk / "model", "model", numbered(1))
    assert loaded_number(tiny_disk / "model") == 0
    assert len(os.listdir(tiny_disk / "model")) == 2, "the failed save takes up room"
    (tiny_disk / "filler").unlink()
    save(tiny_disk / "model", "model", numbered(1))
    assert loaded_number(tiny_disk / "model") == 1


@pytest.fixture
def read_only_folder() -> Iterator[Path]:
    """A folder that this process may read only."""
    folder = Path(tempfile.mkdtemp())
    save(folder, "model", numbered(0))
    with read_only(folder):
        yield folder
    shutil.rmtree(folder)


def test_a_read_only_folder_is_named(read_only_folder: Path) -> None:
    with pytest.raises(StorageError, match="read-only; choose another one") as caught:
        save(read_only_folder, "model", numbered(1))
    assert str(read_only_folder) in str(caught.value)
    assert loaded_number(read_only_folder) == 0
    with pytest.raises(StorageError, match="read-only"):
        save(read_only_folder / "new", "model", numbered(1))


@pytest.mark.parametrize("place", ["file", "file/sub"])
def test_a_file_where_the_folder_should_be(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("the user's own")
    with pytest.raises(StorageError, match="cannot be written"):
        save(tmp_path / place, "model", numbered(1))
    assert (tmp_path / "file").read_text() == "the user's own"


def test_written_files_are_readable_by_others(folder: Path) -> None:
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o644}
