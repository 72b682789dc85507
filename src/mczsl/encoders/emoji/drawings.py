"""Which icon of which set draws which emoji.

Three sets say the character of each icon. The others only have names, some of them old; so an icon
belongs to an emoji if it has its published name or else, if no other emoji has that name, the
character's Unicode name or its name in one of the three.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mczsl.encoders.emoji.packages import Package
from mczsl.errors import DataError


@dataclass(frozen=True)
class Emoji:
    """One emoji as published: its name, keywords, character and kind (0 faces ... 9 flags)."""

    name: str
    keywords: tuple[str, ...]
    character: str
    group: int


@dataclass(frozen=True)
class Drawing:
    """One artist's picture of one emoji."""

    emoji: Emoji
    icon_set: str
    artist: str
    svg: str


def read_emoji(names: Package, folder: Path) -> list[Emoji]:
    """All published emoji in their order, without skin tones and parts of flags."""
    return [
        Emoji(entry["label"], tuple(entry.get("tags", ())), entry["emoji"], entry["group"])
        for entry in names.read_json(folder, "en/data.json")
        if "group" in entry  # the letters that only make up flags have none
    ]


def read_drawings(
    emoji: Sequence[Emoji], icon_sets: Sequence[Package], folder: Path
) -> list[Drawing]:
    """Every drawing of every emoji, set by set."""
    sets = {package: _IconSet(package, folder) for package in icon_sets}
    by_character = [icons.by_character for icons in sets.values()]
    other_names = {each: sorted(_other_names(each, by_character)) for each in emoji}
    return [
        Drawing(each, package.short_name, package.artist, icons.svg(icon))
        for package, icons in sets.items()
        for each, icon in icons.assign(other_names).items()
    ]


class _IconSet:
    """One set's icons by character and by name. An alias may be a mirror image."""

    def __init__(self, package: Package, folder: Path) -> None:
        self._set = package.read_json(folder, "icons.json")
        self._aliases: Mapping[str, Mapping[str, Any]] = self._set.get("aliases", {})
        self.by_character = {
            _significant(code): icon
            for code, icon in package.read_json(folder, "chars.json").items()
        }
        self._by_name = {_plain(name): name for name in (*self._aliases, *self._set["icons"])}

    def assign(self, other_names: Mapping[Emoji, Sequence[str]]) -> dict[Emoji, str]:
        """The icon that draws each emoji; what is surer takes an icon before what is less sure."""
        found: dict[Emoji, str] = {}
        guesses: tuple[Callable[[Emoji], str | None], ...] = (
            lambda each: self.by_character.get(_code(each.character)),
            lambda each: self._by_name.get(_plain(each.name)),
            lambda each: next(filter(None, map(self._by_name.get, other_names[each])), None),
        )
        for guess in guesses:
            taken = {self._original(icon) for icon in found.values()}
            for each in other_names:
                icon = guess(each)
                if each not in found and icon is not None and self._original(icon) not in taken:
                    found[each] = icon
        return {each: found[each] for each in other_names if each in found}

    def svg(self, name: str) -> str:
        """The icon as an SVG file."""
        name, mirrored = self._original(name)
        icon = self._set["icons"][name]
        left, top, width, height = (
            icon.get(key, self._set.get(key, default))
            for key, default in (("left", 0), ("top", 0), ("width", 16), ("height", 16))
        )
        body = icon["body"]
        if mirrored:
            body = f'<g transform="translate({2 * left + width} 0) scale(-1 1)">{body}</g>'
        return (
            '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
            f'viewBox="{left} {top} {width} {height}" width="{width}" height="{height}">'
            f"{body}</svg>"
        )

    def _original(self, name: str) -> tuple[str, bool]:
        """The icon behind an alias, and whether it is mirrored."""
        mirrored = False
        while name in self._aliases:
            alias = self._aliases[name]
            if alias.keys() - {"parent", "hFlip"}:
                raise DataError(f"icon {name!r}: cannot apply {sorted(alias)}")
            mirrored ^= bool(alias.get("hFlip"))
            name = alias["parent"]
        return name, mirrored


def _other_names(emoji: Emoji, by_character: Sequence[Mapping[str, str]]) -> Iterator[str]:
    """Under which plain names an icon may go, besides the published one."""
    code = _code(emoji.character)
    if "-" not in code:
        yield _plain(unicodedata.name(chr(int(code, 16)), ""))
    yield from (_plain(names[code]) for names in by_character if code in names)


def _code(character: str) -> str:
    return _significant("-".join(f"{ord(part):04X}" for part in character))


def _significant(code: str) -> str:
    """A character's code without the marks that some sets write and others leave out.

    >>> _significant("1f3f3-fe0f-200d-1f308")
    '1F3F3-1F308'
    """
    return "-".join(part for part in code.upper().split("-") if part not in ("FE0F", "200D"))


def _plain(name: str) -> str:
    """A name's letters and digits.

    >>> _plain("Piñata")
    'pinata'
    """
    return re.sub(r"[^a-z0-9]", "", unicodedata.normalize("NFKD", name).lower())
