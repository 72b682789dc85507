from __future__ import annotations

import os
import shutil
import stat
import struct
import zipfile
from pathlib import Path

import pytest

from mczsl.data import archive as archive_module
from mczsl.data.archive import extract
from mczsl.errors import DownloadError

GOOD = {
    "xlsa17/": b"",
    "xlsa17/README.txt": b"read me",
    "xlsa17/data/CUB/att_splits.mat": b"splits" * 50,
    "xlsa17/data/CUB/res101.mat": b"features",
    "xlsa17/data/AWA1/att_splits.mat": b"more splits",
}
JUNK = {
    "__MACOSX/xlsa17/._README.txt": b"junk",
    "xlsa17/data/.DS_Store": b"junk",
}


def zipped(path: Path, entries: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return path


@pytest.fixture
def target(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    return folder


def test_everything_but_the_junk_arrives(tmp_path: Path, target: Path) -> None:
    root = extract(zipped(tmp_path / "a.zip", GOOD | JUNK), target)
    assert root == target / "xlsa17" / "data"
    found = {str(path.relative_to(target)) for path in target.rglob("*") if path.is_file()}
    assert found == {name for name in GOOD if not name.endswith("/")}
    assert (root / "CUB" / "att_splits.mat").read_bytes() == b"splits" * 50


def test_several_folders_at_the_top_get_one_of_their_own(tmp_path: Path, target: Path) -> None:
    entries = {"CUB/att_splits.mat": b"1", "SUN/att_splits.mat": b"2"}
    root = extract(zipped(tmp_path / "mine.zip", entries), target)
    assert root == target / "mine"
    assert sorted(path.name for path in root.iterdir()) == ["CUB", "SUN"]


def test_unpacking_again_keeps_what_the_user_added(tmp_path: Path, target: Path) -> None:
    archive = zipped(tmp_path / "a.zip", GOOD)
    own = extract(archive, target) / "CUB" / "effnetlite0.mat"
    own.write_bytes(b"mine")
    assert extract(archive, target) == target / "xlsa17" / "data"
    assert own.read_bytes() == b"mine"


def test_another_folder_of_that_name_is_left_alone(tmp_path: Path, target: Path) -> None:
    (target / "xlsa17").mkdir()
    with pytest.raises(DownloadError, match=r"without .*README\.txt .* move .* away"):
        extract(zipped(tmp_path / "a.zip", GOOD), target)
    assert list((target / "xlsa17").iterdir()) == []


def test_remains_of_a_killed_process_are_cleared(tmp_path: Path, target: Path) -> None:
    half = target / ".a.zip.unpacking" / "xlsa17" / "data" / "CUB"
    half.mkdir(parents=True)
    (half / "half.mat").write_bytes(b"half")
    root = extract(zipped(tmp_path / "a.zip", GOOD), target)
    assert not (root / "CUB" / "half.mat").exists()
    assert os.listdir(target) == ["xlsa17"]


@pytest.mark.parametrize(
    "name",
    ["../evil", "xlsa17/../../evil", "/etc/evil", "..\\evil", "C:/evil", "xlsa17/data/../../../e"],
)
def test_entries_that_lead_outside(tmp_path: Path, target: Path, name: str) -> None:
    with pytest.raises(DownloadError, match="leads out of the folder"):
        extract(zipped(tmp_path / "a.zip", GOOD | {name: b"evil"}), target)
    assert list(target.iterdir()) == []
    assert not list(tmp_path.rglob("*evil*"))


def test_links_are_refused(tmp_path: Path, target: Path) -> None:
    link = zipfile.ZipInfo("xlsa17/data/CUB/link")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    path = zipped(tmp_path / "a.zip", GOOD)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(link, "/etc")
    with pytest.raises(DownloadError, match="'xlsa17/data/CUB/link' is a link"):
        extract(path, target)
    assert list(target.iterdir()) == []


def test_decompression_bomb(tmp_path: Path, target: Path) -> None:
    path = zipped(tmp_path / "a.zip", GOOD | {"xlsa17/data/CUB/bomb": bytes(2_000_000)})
    with pytest.raises(DownloadError, match="bomb"):
        extract(path, target)
    assert list(target.iterdir()) == []


def test_more_than_the_disk_has_room_for(tmp_path: Path, target: Path) -> None:
    member = zipfile.ZipInfo("xlsa17/data/CUB/res101.mat")
    member.file_size = shutil.disk_usage(target).free * 2
    path = tmp_path / "a.zip"
    path.touch()
    os.truncate(path, member.file_size // 100)  # takes no room: it is all hole
    with pytest.raises(DownloadError, match=r"has only .* left; make room"):
        archive_module._refuse_too_large(path, [member], target)


def test_damaged_content_leaves_nothing_behind(tmp_path: Path, target: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("xlsa17/data/CUB/att_splits.mat", b"good")
        archive.writestr("xlsa17/data/CUB/res101.mat", b"features")
    path.write_bytes(path.read_bytes().replace(b"features", b"feathers"))
    with pytest.raises(DownloadError, match=r"is damaged .*res101\.mat.* again"):
        extract(path, target)
    assert list(target.iterdir()) == []


def test_size_that_is_a_lie_does_not_unpack_more(tmp_path: Path, target: Path) -> None:
    """A bomb that declares four bytes: it is stopped after four, and found to be damaged."""
    path = zipped(tmp_path / "a.zip", {"xlsa17/data/CUB/att_splits.mat": bytes(100_000)})
    content = path.read_bytes()
    true_size, lie = struct.pack("<I", 100_000), struct.pack("<I", 4)
    path.write_bytes(content.replace(true_size, lie))
    with pytest.raises(DownloadError, match="is damaged"):
        extract(path, target)
    assert list(target.iterdir()) == []


def test_encrypted_archive(tmp_path: Path, target: Path) -> None:
    path = zipped(tmp_path / "a.zip", GOOD)
    content = bytearray(path.read_bytes())
    entry = content.rindex(b"PK\x01\x02")
    content[entry + 8] |= 1  # the flag of encryption in the directory of the archive
    path.write_bytes(content)
    with pytest.raises(DownloadError, match="is encrypted"):
        extract(path, target)


def test_truncated_archive(tmp_path: Path, target: Path) -> None:
    path = zipped(tmp_path / "a.zip", GOOD)
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(DownloadError, match="is damaged"):
        extract(path, target)


def test_archive_without_a_dataset(tmp_path: Path, target: Path) -> None:
    with pytest.raises(DownloadError, match="holds no dataset"):
        extract(zipped(tmp_path / "a.zip", {"photos/bird.jpg": b"bird"}), target)
    with pytest.raises(DownloadError, match="holds no dataset"):
        extract(zipped(tmp_path / "b.zip", {}), target)
