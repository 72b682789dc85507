"""Every reader of pictures meets every odd or broken file: none stops it, each has its reason."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mczsl.encoders.images import EncodedPictures, as_pictures, encode_images
from tests.encoders.test_images import MeanColour
from tests.encoders.test_pictures import BLUE, RED, as_file, flipped, png_header, truncated

BROKEN = {
    "corrupt.png": (flipped, "is damaged"),
    "half.jpg": (truncated, "is damaged"),
    "zero.png": (lambda: b"", "is empty (0 bytes)"),
    "bomb.png": (lambda: png_header(50_000, 50_000), "more than 89 million pixels"),
    "page.jpg": (lambda: b"<html>404</html>", "is not a picture of a known format"),
}


def animated() -> bytes:
    rest = [Image.new("RGB", (32, 32), BLUE)]
    return as_file(Image.new("RGB", (32, 32), RED), "GIF", save_all=True, append_images=rest)


def rotated() -> bytes:
    """A wide picture whose middle is red, which the camera's mark turns upright."""
    picture = Image.new("RGB", (96, 32), BLUE)
    picture.paste(RED, (32, 0, 64, 32))
    mark = Image.Exif()
    mark[0x0112] = 6
    return as_file(picture, "JPEG", exif=mark, quality=95, subsampling=0)


ODD: dict[str, tuple[Callable[[], bytes], tuple[float, ...]]] = {
    "cmyk.jpg": (lambda: as_file(Image.new("CMYK", (32, 32), (0, 255, 255, 0)), "JPEG"), RED),
    "deep.png": (
        lambda: as_file(Image.fromarray(np.full((32, 32), 0x8000, np.uint16)), "PNG"),
        (127, 127, 127),
    ),
    "animated.gif": (animated, RED),
    "rotated.jpg": (rotated, RED),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A class of odd pictures, a class with only broken ones, and a class with none."""
    for name, files in (("odd", ODD), ("broken", BROKEN), ("empty", {})):
        (tmp_path / "all" / name).mkdir(parents=True)
        for file, (make, _) in files.items():
            (tmp_path / "all" / name / file).write_bytes(make())
    return tmp_path / "all"


def from_folder(folder: Path) -> EncodedPictures:
    return encode_images(folder, MeanColour())


def from_table(folder: Path) -> EncodedPictures:
    table = folder.parent / "table.csv"
    with table.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["path", "label"])
        writer.writerows([path, path.parent.name] for path in sorted(folder.glob("*/*")))
    return encode_images(table, MeanColour())


def from_list(folder: Path) -> EncodedPictures:
    paths = sorted(folder.glob("*/*"))
    return encode_images(as_pictures(paths, [path.parent.name for path in paths]), MeanColour())


@pytest.mark.parametrize("read", [from_folder, from_table, from_list])
def test_every_reader_uses_the_odd_and_lists_the_broken(
    folder: Path, read: Callable[[Path], EncodedPictures]
) -> None:
    encoded = read(folder)
    colours = {
        path.name: 255 * feature[:3]
        for path, feature in zip(encoded.pictures.paths, encoded.features, strict=True)
    }
    assert colours.keys() == ODD.keys()
    for name, (_, colour) in ODD.items():
        np.testing.assert_allclose(colours[name], colour, atol=40, err_msg=name)
    reasons = {problem.path.name: problem.reason for problem in encoded.pictures.problems}
    for name, (_, reason) in BROKEN.items():
        assert reason in reasons.pop(name)
    assert "has none left" in reasons.pop("broken")
    if read is from_folder:
        assert reasons.pop("empty") == "the class has no pictures"
    assert not reasons
