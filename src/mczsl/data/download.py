"""Fetching the public archive: resumable, one process at a time, and never a wrong file.

While a file arrives it is ``NAME.part``, with ``NAME.part.json`` to know it again; when it is whole
and right it becomes ``NAME``, and ``NAME.json`` keeps its sha256 for every later use.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import logging
import os
import re
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPException, HTTPResponse, InvalidURL
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from mczsl.data.archive import extract
from mczsl.errors import ConfigError, DownloadError, MczslError
from mczsl.storage import write_atomically

DEFAULT_URL = "http://datasets.d2.mpi-inf.mpg.de/xian/xlsa17.zip"
Progress = Callable[[int, int | None], None]

_TIMEOUT = 60  # seconds without a single byte
_ATTEMPTS = 5  # a connection that breaks this often is left to the user
_CHUNK = 2**20
_KEPT = "What has arrived is kept: the same command goes on from there"
_ELSEWHERE = "choose another place with --data-root or MCZSL_DATA"


class _Broken(Exception):
    """The connection ended before the file did."""


def default_root() -> Path:
    """Where datasets are kept: ``MCZSL_DATA``, or else a place of this user's own."""
    named = os.environ.get("MCZSL_DATA")
    if named:
        return Path(named).absolute()
    base = os.environ.get("XDG_DATA_HOME", "")
    if not os.path.isabs(base) and os.environ.get("HOME") != "":
        base = os.path.expanduser("~/.local/share")
    if os.path.isabs(base):
        return Path(base) / "mczsl"
    place = Path(tempfile.gettempdir()) / f"mczsl-{os.getuid()}"
    logging.getLogger(__name__).warning(
        "This user has no home folder, so datasets are kept in %s, which may be emptied; "
        "set MCZSL_DATA to keep them elsewhere.",
        place,
    )
    return place


def get(
    url: str, target: Path | str, *, sha256: str | None = None, progress: Progress | None = None
) -> Path:
    """Download a zip archive to the file ``target``, or go on where an earlier try broke off.

    A file that is already there is verified and not fetched again. ``progress`` is told how many
    bytes there are so far and, where the server says so, how many there will be. With ``sha256``
    only a file of that checksum is accepted.
    """
    target = Path(target)
    if sha256 is not None and not re.fullmatch("[0-9a-fA-F]{64}", sha256):
        raise ConfigError(f"sha256 {sha256!r} is not a checksum: those have 64 digits, 0 to f")
    if not url.startswith(("http://", "https://")):
        raise ConfigError(f"{url!r} is not an address that starts with http:// or https://")
    with _explained(url, target), _lock(target):
        if not target.exists():
            _download(url, target, sha256, progress or (lambda done, total: None))
        elif _beside(target, ".json").exists():
            verify(target, sha256)
        else:  # put there by hand
            _keep_record(target, url, _checked(target, sha256))
    return target


def verify(path: Path | str, sha256: str | None = None) -> str:
    """The checksum of a downloaded file: the recorded one, and ``sha256`` if given, or an error."""
    path = Path(path)
    record = _beside(path, ".json")
    try:
        recorded = json.loads(record.read_bytes())["sha256"]
    except FileNotFoundError:
        raise DownloadError(
            f"{path}: no checksum is recorded for it; `mczsl data get` records it"
        ) from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DownloadError(
            f"{record}: is damaged ({error!r}); delete it, and also {path} unless you trust that"
        ) from None
    digest = _digest(path)
    if digest != recorded:
        raise DownloadError(
            f"{path}: has changed since it was downloaded (sha256 {digest}, recorded {recorded}); "
            "delete it and run `mczsl data get` again"
        )
    _demand(path, digest, sha256)
    return digest


def unpack(archive: Path | str, target: Path | str) -> Path:
    """Unpack a downloaded archive into a folder; returns the one that contains the datasets."""
    archive, target = Path(archive), Path(target)
    with _explained(str(archive), target / archive.name), _lock(target / archive.name):
        if _beside(archive, ".json").exists():
            verify(archive)
        return extract(archive, target)


def _download(url: str, target: Path, sha256: str | None, progress: Progress) -> None:
    part = _beside(target, ".part")
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            _continue(url, part, progress)
            break
        except (_Broken, HTTPException, ConnectionError, TimeoutError) as error:
            if attempt == _ATTEMPTS:
                raise DownloadError(
                    f"{url}: the connection broke {attempt} times, at last with {error!r}. {_KEPT}"
                ) from None
    try:
        digest = _checked(part, sha256)
    except DownloadError as error:
        rejected = part.replace(_beside(target, ".rejected"))
        raise DownloadError(
            f"{url} is not what was asked for. {error}. It is kept as {rejected}"
        ) from None
    _keep_record(target, url, digest)
    part.replace(target)
    _beside(part, ".json").unlink()


def _continue(url: str, part: Path, progress: Progress) -> None:
    """One connection: ask for what is missing, and append it or start over as the server says."""
    offset, version = _resume_point(url, part)
    headers = {"User-Agent": "mczsl", "Accept-Encoding": "identity"}
    if offset:
        headers |= {"Range": f"bytes={offset}-", "If-Range": version}
    try:
        response: HTTPResponse = urlopen(Request(url, headers=headers), timeout=_TIMEOUT)
    except HTTPError as error:
        if error.code != 416 or not offset:
            raise
        error.close()
        if error.headers.get("Content-Range") == f"bytes */{offset}":
            return  # nothing is missing
        part.unlink()
        raise _Broken("the server has no such part of the file") from None
    except (ValueError, InvalidURL) as error:
        raise DownloadError(f"{url!r} is not an address that can be used ({error})") from None
    with response:
        if response.headers.get_content_type() == "text/html":
            raise DownloadError(
                f"{url}: sent a web page instead of an archive; check the address, or open it in a "
                f"browser and save the archive as {part.with_suffix('')}"
            )
        if response.status != 206:
            offset = 0
        elif _version(response) != version or not response.headers.get(
            "Content-Range", ""
        ).startswith(f"bytes {offset}-"):
            part.unlink()
            raise _Broken("the server sent another part or version than was asked for")
        _receive(response, url, part, offset, progress)


def _receive(response: HTTPResponse, url: str, part: Path, offset: int, progress: Progress) -> None:
    total = offset + response.length if response.length is not None else None
    free = shutil.disk_usage(part.parent).free
    if total is not None and total - offset > free:
        raise DownloadError(
            f"{url}: {total - offset} more bytes do not fit on the disk of {part.parent}, which "
            f"has {free} left; make room, or {_ELSEWHERE}"
        )
    done = offset
    with part.open("ab" if offset else "wb") as file:
        if not offset:  # the old content is gone by now, so it cannot pass for the new version
            known = {"url": url, "version": _version(response)}
            write_atomically(_beside(part, ".json"), json.dumps(known).encode())
        progress(done, total)
        while chunk := response.read1(_CHUNK):
            file.write(chunk)
            done += len(chunk)
            progress(done, total)
    if total is not None and done != total:
        raise _Broken(f"the end after {done} of {total} bytes")


def _version(response: HTTPResponse) -> str:
    """What the server calls this version of the file; empty if it does not tell."""
    tag: str = response.headers.get("ETag", "")
    return tag if tag.startswith('"') else response.headers.get("Last-Modified", "")


def _resume_point(url: str, part: Path) -> tuple[int, str]:
    """How much is there already and of which version; 0 if that cannot be known."""
    try:
        known = json.loads(_beside(part, ".json").read_bytes())
        if known["url"] == url and known["version"]:
            return part.stat().st_size, str(known["version"])
    except (OSError, ValueError, KeyError, TypeError):
        pass  # no earlier try, or one that left nothing of use
    return 0, ""


def _checked(path: Path, sha256: str | None) -> str:
    """The checksum of a file that is a zip archive and, if one is demanded, has the right one."""
    if not zipfile.is_zipfile(path):
        with path.open("rb") as file:
            is_page = file.read(1024).lstrip().startswith(b"<")
        what = "a web page, not a zip archive" if is_page else "not a whole zip archive"
        raise DownloadError(f"{path} is {what}; check the address it came from")
    digest = _digest(path)
    _demand(path, digest, sha256)
    return digest


def _demand(path: Path, digest: str, sha256: str | None) -> None:
    if sha256 is not None and digest != sha256.lower():
        raise DownloadError(
            f"{path} has sha256 {digest}, but {sha256.lower()} is demanded; check the address and "
            "the checksum"
        )


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _keep_record(target: Path, url: str, digest: str) -> None:
    record = json.dumps({"url": url, "sha256": digest}, indent=1)
    write_atomically(_beside(target, ".json"), record.encode())


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


@contextmanager
def _lock(target: Path) -> Iterator[None]:
    """Only one process at a time; the system itself frees the lock of one that died."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with _beside(target, ".lock").open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise DownloadError(
                f"{target}: process {file.read()} is at work on it; wait until that is done"
            ) from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield


@contextmanager
def _explained(source: str, target: Path) -> Iterator[None]:
    """Turn what the network and the disk can do into errors that say what to do."""
    try:
        yield
    except MczslError:
        raise
    except HTTPError as error:
        error.close()
        raise DownloadError(
            f"{source}: the server answered {error.code} {error.reason}; check the address"
        ) from None
    except URLError as error:
        raise DownloadError(
            f"{source}: cannot be reached ({error.reason}); check the address and the network. "
            f"{_KEPT}"
        ) from None
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            message = f"{target.parent}: the disk is full; make room, or {_ELSEWHERE}. {_KEPT}"
        else:
            message = f"{target}: cannot be read or written ({error}); mend that, or {_ELSEWHERE}"
        raise DownloadError(message) from None
