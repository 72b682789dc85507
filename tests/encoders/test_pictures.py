"""Every odd or broken picture file that people have, made here for real."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable

import numpy as np
import pytest
from PIL import Image

from mczsl.encoders import pictures
from mczsl.encoders.pictures import bombs_are_errors, square_picture
from mczsl.errors import DataError

RED, GREEN, BLUE, WHITE = (255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255)


def as_file(picture: Image.Image, kind: str, **options: object) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, kind, **options)
    return buffer.getvalue()


def centre(data: bytes) -> tuple[int, ...]:
    return tuple(square_picture(data, 8, 0.875)[4, 4].tolist())


def png_header(width: int, height: int) -> bytes:
    """A tiny PNG that claims a size."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return (
            struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        )

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0" * 99)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


def test_a_plain_picture_is_cropped_to_its_central_square() -> None:
    wide = Image.new("RGB", (300, 100), BLUE)
    wide.paste(RED, (100, 0, 200, 100))
    square = square_picture(as_file(wide, "PNG"), 32, 0.875)
    assert square.shape == (32, 32, 3)
    assert square.dtype == np.uint8
    assert (square == RED).all()


@pytest.mark.parametrize("size", [(1, 1), (1, 400), (3, 2)])
def test_the_smallest_pictures_work(size: tuple[int, int]) -> None:
    assert (square_picture(as_file(Image.new("RGB", size, GREEN), "PNG"), 8, 0.875) == GREEN).all()


def test_cmyk_becomes_rgb() -> None:
    data = as_file(Image.new("CMYK", (64, 64), (0, 255, 255, 0)), "JPEG", quality=95)
    np.testing.assert_allclose(centre(data), RED, atol=40)


@pytest.mark.parametrize("kind", ["PNG", "TIFF"])
def test_16_bit_grey_is_scaled_and_not_clipped(kind: str) -> None:
    values = np.full((40, 40), 0x8000, dtype=np.uint16)
    assert centre(as_file(Image.fromarray(values), kind)) == (127, 127, 127)


def test_wider_and_floating_pixels_are_refused_with_the_reason() -> None:
    wide = Image.fromarray(np.full((8, 8), 70_000, dtype=np.int32))
    with pytest.raises(DataError, match="more than 16 bits"):
        square_picture(as_file(wide, "TIFF"), 8, 1.0)
    floating = Image.fromarray(np.full((8, 8), 0.5, dtype=np.float32))
    with pytest.raises(DataError, match="floating-point pixels"):
        square_picture(as_file(floating, "TIFF"), 8, 1.0)


@pytest.mark.parametrize("kind", ["GIF", "PNG", "WEBP", "TIFF"])
def test_of_an_animation_the_first_frame_counts(kind: str) -> None:
    frames = [Image.new("RGB", (32, 32), colour) for colour in (RED, GREEN, BLUE)]
    options = {"lossless": True} if kind == "WEBP" else {}
    data = as_file(frames[0], kind, save_all=True, append_images=frames[1:], **options)
    with Image.open(io.BytesIO(data)) as opened:
        assert getattr(opened, "n_frames", 1) == 3
    assert centre(data) == RED


def test_a_cameras_rotation_mark_is_obeyed() -> None:
    picture = Image.new("RGB", (64, 64), BLUE)
    picture.paste(RED, (0, 0, 64, 32))  # red above blue
    mark = Image.Exif()
    mark[0x0112] = 6  # the camera was turned: show it rotated by 90 degrees clockwise
    square = square_picture(as_file(picture, "PNG", exif=mark), 8, 1.0)
    assert tuple(square[4, 7]) == RED
    assert tuple(square[4, 0]) == BLUE


@pytest.mark.parametrize("mode", ["RGBA", "LA", "P"])
def test_transparency_shows_white(mode: str) -> None:
    clear = Image.new("RGBA", (32, 32), (0, 0, 0, 0)).convert(mode)
    options = {"transparency": 0} if mode == "P" else {}
    assert centre(as_file(clear, "PNG", **options)) == WHITE


@pytest.mark.parametrize("mode", ["1", "L", "P", "YCbCr", "LAB"])
def test_every_common_kind_of_pixel_is_read(mode: str) -> None:
    source = Image.new("RGB", (32, 32), WHITE)
    picture = Image.new("LAB", (32, 32), (255, 128, 128)) if mode == "LAB" else source.convert(mode)
    assert min(centre(as_file(picture, "TIFF"))) > 250


def truncated() -> bytes:
    noise = np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    data = as_file(Image.fromarray(noise), "JPEG")
    return data[: len(data) // 2]


def flipped() -> bytes:
    data = bytearray(as_file(Image.new("RGB", (64, 64), RED), "PNG"))
    data[data.index(b"IDAT") + 8] ^= 0xFF
    return bytes(data)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: b"", "is empty"),
        (lambda: b"<html>not found</html>", "not a picture of a known format"),
        (lambda: b"\x89PNG\r\n\x1a\n", "is damaged|known format"),
        (truncated, "is damaged"),
        (flipped, "is damaged"),
        (lambda: png_header(0, 0), "is damaged|known format"),
    ],
)
def test_a_broken_file_is_refused_with_the_reason(make: Callable[[], bytes], reason: str) -> None:
    with pytest.raises(DataError, match=reason):
        square_picture(make(), 8, 0.875)


@pytest.mark.parametrize("side", [9_600, 10_100, 50_000])
def test_a_decompression_bomb_is_refused_before_it_unpacks(side: int) -> None:
    """Below Pillow's warning, between its warning and its error, and beyond its error."""
    with bombs_are_errors(), pytest.raises(DataError, match="more than 89 million pixels"):
        square_picture(png_header(side, side), 8, 0.875)


def test_our_limit_on_pixels_holds_where_pillow_would_still_accept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pictures, "MOST_PIXELS", 100)
    with pytest.raises(DataError, match="million pixels"):
        square_picture(as_file(Image.new("RGB", (11, 11)), "PNG"), 8, 0.875)
