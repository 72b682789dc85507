"""Everything here talks to a real server on this machine, which also misbehaves for real."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mczsl.data import download
from mczsl.errors import ConfigError, DownloadError
from tests.data.file_server import CONTENT, SUM, Server, archive_bytes


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("no_proxy", "*")
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "new folder" / "xlsa17.zip"


def refused(server: Server, target: Path, message: str, **options: Any) -> str:
    with pytest.raises(DownloadError, match=message) as caught:
        download.get(server.url, target, **options)
    assert not target.exists()
    return str(caught.value)


# ---------------------------------------------------------------- when all is well


def test_download_is_recorded_and_not_repeated(server: Server, target: Path) -> None:
    steps: list[tuple[int, int | None]] = []
    path = download.get(server.url, target, progress=lambda *step: steps.append(step))
    assert path == target
    assert target.read_bytes() == CONTENT
    assert json.loads((target.parent / "xlsa17.zip.json").read_text())["sha256"] == SUM
    assert steps[0] == (0, len(CONTENT))
    assert steps[-1] == (len(CONTENT), len(CONTENT))
    assert [done for done, _ in steps] == sorted(done for done, _ in steps)
    download.get(server.url, target, sha256=SUM.upper())
    assert server.ranges == [None]
    assert {file.name for file in target.parent.iterdir()} == {
        "xlsa17.zip", "xlsa17.zip.json", "xlsa17.zip.lock",
    }  # fmt: skip


def test_file_put_there_by_hand_is_accepted(server: Server, target: Path) -> None:
    target.parent.mkdir()
    target.write_bytes(CONTENT)
    with pytest.raises(DownloadError, match="no checksum is recorded"):
        download.verify(target)
    download.get(server.url, target)
    assert server.ranges == []
    assert download.verify(target) == SUM


# ---------------------------------------------------------------- broken connections


@pytest.mark.parametrize("reset", [False, True])
def test_goes_on_where_the_connection_broke(server: Server, target: Path, reset: bool) -> None:
    server.break_after, server.reset = [100_000, 50_000], reset
    download.get(server.url, target)
    assert target.read_bytes() == CONTENT
    assert server.ranges[0] is None
    if not reset:  # a reset may also lose what is still on its way
        assert server.ranges[1:] == ["bytes=100000-", "bytes=150000-"]


def test_gives_up_but_keeps_what_arrived(server: Server, target: Path) -> None:
    server.break_after = [20_000] * 5
    message = refused(server, target, "broke 5 times")
    assert "the same command goes on from there" in message
    server.ranges.clear()
    download.get(server.url, target)
    assert server.ranges == ["bytes=100000-"]
    assert target.read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("heeds_if_range", "tags"),
    [
        (True, ('"first"', '"second"')),
        (False, ('"first"', '"second"')),  # sends the rest of another version all the same
        (True, ("", "")),  # does not tell one version from another
    ],
)
def test_changed_file_is_not_spliced(
    server: Server, target: Path, heeds_if_range: bool, tags: tuple[str, str]
) -> None:
    server.break_after, server.heeds_if_range, server.tag = [20_000] * 5, heeds_if_range, tags[0]
    refused(server, target, "broke")
    server.content, server.tag = archive_bytes(fill=1), tags[1]
    download.get(server.url, target)
    assert target.read_bytes() == server.content


@pytest.mark.parametrize(
    "defect", [{"knows_ranges": False}, {"tag": ""}, {"range_shift": 7}, {"range_shift": 10**9}]
)
def test_starts_over_where_going_on_is_unsafe(
    server: Server, target: Path, defect: dict[str, Any]
) -> None:
    for name, value in defect.items():
        setattr(server, name, value)
    server.break_after = [100_000]
    download.get(server.url, target)
    assert target.read_bytes() == CONTENT


def test_part_of_another_address_is_not_used(server: Server, target: Path) -> None:
    server.break_after = [20_000] * 5
    refused(server, target, "broke")
    server.ranges.clear()
    download.get(f"{server.url}?mirror", target)
    assert server.ranges == [None]


def test_whole_part_only_needs_its_name(server: Server, target: Path) -> None:
    """As if it was killed between the last byte and the new name."""
    server.break_after = [20_000] * 5
    refused(server, target, "broke")
    (target.parent / "xlsa17.zip.part").write_bytes(CONTENT)
    download.get(server.url, target)
    assert target.read_bytes() == CONTENT
    assert server.ranges[-1] == f"bytes={len(CONTENT)}-"


def test_killed_process_leaves_neither_a_lock_nor_waste(server: Server, target: Path) -> None:
    server.break_after = [150_000]
    code = (
        "import os, sys; from mczsl.data import download\n"
        "die = lambda done, total: os.kill(os.getpid(), 9) if done >= 150000 else None\n"
        "download.get(sys.argv[1], sys.argv[2], progress=die)"
    )
    process = subprocess.run([sys.executable, "-c", code, server.url, str(target)], check=False)
    assert process.returncode == -9
    assert not target.exists()
    arrived = (target.parent / "xlsa17.zip.part").stat().st_size
    assert arrived > 0
    download.get(server.url, target)
    assert server.ranges == [None, f"bytes={arrived}-"]
    assert target.read_bytes() == CONTENT


def test_two_at_once(server: Server, target: Path) -> None:
    complaints = []

    def try_again(done: int, total: int | None) -> None:
        with pytest.raises(DownloadError) as caught:
            download.get(server.url, target)
        complaints.append(str(caught.value))

    download.get(server.url, target, progress=try_again)
    assert f"process {os.getpid()} is at work on it; wait" in complaints[0]
    assert target.read_bytes() == CONTENT


# ---------------------------------------------------------------- not what was asked for


def test_web_page_instead_of_an_archive(server: Server, target: Path) -> None:
    server.break_after = [20_000] * 5
    refused(server, target, "broke")
    server.content, server.content_type, server.tag = b"<html>Log in</html>", "text/html", ""
    assert "browser" in refused(server, target, "a web page instead of an archive")
    part = target.parent / "xlsa17.zip.part"
    assert part.stat().st_size == 100_000  # the page did not cost what had arrived


def test_web_page_that_calls_itself_a_zip(server: Server, target: Path) -> None:
    server.content = b"\n <!DOCTYPE html><html>Moved</html>"
    refused(server, target, "is a web page, not a zip archive")
    server.content = CONTENT
    download.get(server.url, target)
    assert target.read_bytes() == CONTENT


def test_too_short_a_length(server: Server, target: Path) -> None:
    server.declared_length = 150_000
    refused(server, target, "not a whole zip archive")


def test_too_long_a_length(server: Server, target: Path) -> None:
    """The server then says itself, when asked for the rest, that there is none."""
    server.declared_length = len(CONTENT) + 5
    download.get(server.url, target)
    assert target.read_bytes() == CONTENT


def test_wrong_checksum(server: Server, target: Path) -> None:
    other = "0" * 64
    message = refused(server, target, "is not what was asked for", sha256=other)
    assert SUM in message
    assert other in message
    assert (target.parent / "xlsa17.zip.rejected").read_bytes() == CONTENT
    assert download.get(server.url, target, sha256=SUM).read_bytes() == CONTENT
    with pytest.raises(DownloadError, match=f"{SUM}, but {other} is demanded"):
        download.get(server.url, target, sha256=other)


@pytest.mark.parametrize("position", [0, 5000, -1])
def test_one_flipped_bit_is_noticed_later(server: Server, target: Path, position: int) -> None:
    download.get(server.url, target)
    damaged = bytearray(CONTENT)
    damaged[position] ^= 1
    target.write_bytes(damaged)
    for use in (
        lambda: download.verify(target),
        lambda: download.get(server.url, target),
        lambda: download.unpack(target, target.parent),
    ):
        with pytest.raises(DownloadError, match=f"has changed since .* recorded {SUM}"):
            use()


def test_damaged_record(server: Server, target: Path) -> None:
    download.get(server.url, target)
    (target.parent / "xlsa17.zip.json").write_text("[]")
    with pytest.raises(DownloadError, match=r"xlsa17\.zip\.json: is damaged"):
        download.verify(target)


# ---------------------------------------------------------------- hosts, addresses and disks


def test_dead_host(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "*")
    with socket.socket() as unused:  # bound, but nobody listens
        unused.bind(("127.0.0.1", 0))
        with pytest.raises(DownloadError, match=r"cannot be reached .*check the address"):
            download.get(f"http://127.0.0.1:{unused.getsockname()[1]}/a.zip", target)


def test_missing_file(server: Server, target: Path) -> None:
    server.status = 404
    refused(server, target, "the server answered 404 Not Found; check the address")


@pytest.mark.parametrize("url", ["http://[", "http://a b/c.zip", "http://127.0.0.1:port/"])
def test_malformed_address(url: str, target: Path) -> None:
    with pytest.raises(DownloadError, match="is not an address that can be used"):
        download.get(url, target)


@pytest.mark.parametrize("url", ["file:///etc/passwd", "xlsa17.zip", "ftp://host/a.zip"])
def test_other_kinds_of_address(url: str, target: Path) -> None:
    with pytest.raises(ConfigError, match="starts with http:// or https://"):
        download.get(url, target)


def test_demanded_checksum_must_be_one(server: Server, target: Path) -> None:
    with pytest.raises(ConfigError, match="64 digits"):
        download.get(server.url, target, sha256="abc")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs the device that is always full")
def test_full_disk(server: Server, target: Path) -> None:
    target.parent.mkdir()
    (target.parent / "xlsa17.zip.part").symlink_to("/dev/full")
    assert "MCZSL_DATA" in refused(server, target, "the disk is full; make room")


def test_too_large_for_the_disk(server: Server, target: Path) -> None:
    server.declared_length = 2**60
    refused(server, target, "do not fit on the disk")


def test_place_that_cannot_be_written(server: Server, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(DownloadError, match="cannot be read or written"):
        download.get(server.url, tmp_path / "file" / "xlsa17.zip")


# ---------------------------------------------------------------- unpacking and places


def test_get_and_unpack(server: Server, target: Path) -> None:
    archive = download.get(server.url, target)
    root = download.unpack(archive, target.parent / "data")
    assert root == target.parent / "data" / "xlsa17" / "data"
    assert (root / "CUB" / "res101.mat").read_bytes() == bytes(range(256)) * 800


def test_address_of_the_public_archive() -> None:
    assert download.DEFAULT_URL == "http://datasets.d2.mpi-inf.mpg.de/xian/xlsa17.zip"


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"MCZSL_DATA": "/data"}, "/data"),
        ({"XDG_DATA_HOME": "/shares"}, "/shares/mczsl"),
        ({"HOME": "/home/ada"}, "/home/ada/.local/share/mczsl"),
        ({"HOME": "/home/ada", "XDG_DATA_HOME": "not/absolute"}, "/home/ada/.local/share/mczsl"),
    ],
)
def test_default_root(
    environment: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("MCZSL_DATA", "XDG_DATA_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert download.default_root() == Path(expected)


def test_default_root_without_a_home(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    for name in ("MCZSL_DATA", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert download.default_root() == tmp_path / f"mczsl-{os.getuid()}"
    assert "set MCZSL_DATA to keep them elsewhere" in caplog.text
