"""The npm packages that the emoji dataset is made from: pinned, fetched once, read in place."""

from __future__ import annotations

import json
import subprocess
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mczsl.data.files import reading
from mczsl.encoders.hashing import file_sha256
from mczsl.errors import DownloadError


@dataclass(frozen=True)
class Package:
    """One version of an npm package. ``artist`` is who drew it; sets by one artist look alike."""

    name: str
    version: str
    sha256: str
    artist: str = ""

    @property
    def short_name(self) -> str:
        """The name without the part that all icon sets share."""
        return self.name.rpartition("/")[2]

    def fetch(self, folder: Path) -> None:
        """Put the package's archive into ``folder``, unless it is there already."""
        path = self._path(folder)
        if not path.is_file():
            folder.mkdir(parents=True, exist_ok=True)
            command = ["npm", "pack", "--silent", f"{self.name}@{self.version}"]
            try:
                subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
            except FileNotFoundError as problem:
                raise DownloadError(
                    "the program npm is needed to fetch the drawings; install Node.js"
                ) from problem
            except subprocess.CalledProcessError as problem:
                raise DownloadError(
                    f"npm could not fetch {self.name}: {problem.stderr.strip()[-300:]}; "
                    "check the network and npm's settings, then run again"
                ) from problem
        if file_sha256(path) != self.sha256:
            raise DownloadError(f"{path}: is not what was published; delete it and run again")

    def read_text(self, folder: Path, member: str) -> str:
        """A file inside the package."""
        path = self._path(folder)
        with reading(path, "delete it and run again"), tarfile.open(path) as archive:
            file = archive.extractfile(f"package/{member}")
            assert file is not None
            return file.read().decode()

    def read_json(self, folder: Path, member: str) -> Any:
        """A JSON file inside the package."""
        return json.loads(self.read_text(folder, member))

    def _path(self, folder: Path) -> Path:
        """Where ``npm pack`` puts it."""
        plain = self.name.removeprefix("@").replace("/", "-")
        return folder / f"{plain}-{self.version}.tgz"


NAMES = Package(
    "emojibase-data",
    "17.0.0",
    "d01d0e2ca4e22cb402679532155342c71e2e871f25c32223c013b8b166ebdf5a",
)

# Two sets by one artist count as one artist: the coloured "fluent" emoji are the flat ones with
# gradients, and "noto" grew out of "noto-v1".
ICON_SETS = (
    Package(
        "@iconify-json/noto",
        "1.2.9",
        "3e918d88fc945c0bb3d468dbace6f88caef67f01c9f0e7bcae0915a042e8f1ad",
        "Google",
    ),
    Package(
        "@iconify-json/noto-v1",
        "1.2.5",
        "2bf62c26c2c2884aa99e90aec942cdaee17a5921f05690694f4978ad4b017c37",
        "Google",
    ),
    Package(
        "@iconify-json/emojione",
        "1.2.3",
        "26a14f44284407e8bcde91799388dca2bfd91dbcd55a97f425524a1c5b73610e",
        "EmojiOne",
    ),
    Package(
        "@iconify-json/fluent-emoji-flat",
        "1.2.6",
        "7d064769dee690815f823bc5bcc511d957198caf9f5edd8dd9c1aa48a6aeb175",
        "Microsoft",
    ),
    Package(
        "@iconify-json/fluent-emoji",
        "1.2.7",
        "8044210dbf11e016d4de85f15d01a243423bd832457e7e2491df1b751c0e272b",
        "Microsoft",
    ),
    Package(
        "@iconify-json/twemoji",
        "1.2.5",
        "19046dff7d8707ce96212ec86468b36ac5f8e60409629dd13f809265c6d0ebb7",
        "Twitter",
    ),
    Package(
        "@iconify-json/fxemoji",
        "1.2.2",
        "f3e72b3c59d05e1db03b7e308d55c0d05bd7ba3f625a90da1b79313c12858eef",
        "Mozilla",
    ),
)
