"""Unpacking a zip archive from elsewhere: nothing outside its folder, no bomb, all or nothing."""

from __future__ import annotations

import shutil
import stat
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from mczsl.errors import DownloadError

# Features shrink by a factor of about two, a decompression bomb by a thousand and more.
_MOST_SHRUNK = 200
_SPLITS = "*_splits.mat"  # the file that makes a folder a dataset


def extract(archive: Path, target: Path) -> Path:
    """Unpack into a folder of its own in ``target``; returns the one that contains the datasets.

    An archive that was unpacked before is left as it is, with everything a user has added.
    """
    try:
        with zipfile.ZipFile(archive) as content:
            members = [member for member in content.infolist() if not _is_junk(member)]
            for member in members:
                _refuse_unsafe(archive, member)
            _refuse_too_large(archive, members, target)
            return _extract_once(content, members, archive, target)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise DownloadError(
            f"{archive}: is damaged ({error}); delete it and run `mczsl data get` again"
        ) from None


def _extract_once(
    content: zipfile.ZipFile, members: Sequence[zipfile.ZipInfo], archive: Path, target: Path
) -> Path:
    paths = [PurePosixPath(member.filename) for member in members]
    splits = [path for path in paths if path.match(f"*/{_SPLITS}")]
    if not splits:
        raise DownloadError(
            f"{archive}: holds no dataset (a folder with {_SPLITS}); is it the right archive?"
        )
    tops = {path.parts[0] for path in paths}
    own = "" if len(tops) == 1 else archive.stem  # several things at the top get a folder
    place = target / (own or tops.pop())
    root = target / own / min(splits, key=lambda path: len(path.parts)).parent.parent
    if place.exists():
        for member in members:
            path = target / own / member.filename
            if not path.exists() or (path.is_file() and path.stat().st_size != member.file_size):
                raise DownloadError(
                    f"{place}: is there already, but without {path.relative_to(place)} as the "
                    f"archive has it; move {place} away and unpack again"
                )
        return root
    workshop = target / f".{archive.name}.unpacking"  # also what a killed process left
    shutil.rmtree(workshop, ignore_errors=True)
    try:
        for member in members:
            content.extract(member, workshop / own)
        (workshop / place.name).rename(place)
    finally:
        shutil.rmtree(workshop, ignore_errors=True)
    return root


def _is_junk(member: zipfile.ZipInfo) -> bool:
    """What a Mac adds to archives, and the entry for the folder itself."""
    path = PurePosixPath(member.filename)
    return path.parts[:1] in ((), ("__MACOSX",)) or path.name == ".DS_Store"


def _refuse_unsafe(archive: Path, member: zipfile.ZipInfo) -> None:
    name, path = member.filename, PurePosixPath(member.filename)
    reason = ""
    if path.is_absolute() or ".." in path.parts or "\\" in name or ":" in path.parts[0]:
        reason = "leads out of the folder"
    elif stat.S_ISLNK(member.external_attr >> 16):
        reason = "is a link"
    elif member.flag_bits & 1:
        reason = "is encrypted"
    if reason:
        raise DownloadError(
            f"{archive}: its entry {name!r} {reason}; nothing was unpacked. Do not use this archive"
        )


def _refuse_too_large(archive: Path, members: Sequence[zipfile.ZipInfo], target: Path) -> None:
    unpacked, stored = sum(member.file_size for member in members), archive.stat().st_size
    if unpacked > _MOST_SHRUNK * stored:
        raise DownloadError(
            f"{archive}: would unpack from {stored} to {unpacked} bytes, as only a decompression "
            "bomb does; nothing was unpacked. Do not use this archive"
        )
    free = shutil.disk_usage(target).free
    if unpacked > free:
        raise DownloadError(
            f"{archive}: unpacks to {unpacked} bytes, but {target} has only {free} left; make room"
        )
