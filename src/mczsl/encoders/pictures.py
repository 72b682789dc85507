"""One picture file, whatever its format, as the square of 8-bit RGB that a network looks at.

What is done with the odd ones: of an animation the first frame counts; a camera's rotation mark is
obeyed; 16-bit grey is scaled to 8 bits; CMYK and palettes become RGB; transparency shows white.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from mczsl.errors import ConfigError, DataError

try:
    from PIL import Image, ImageOps, UnidentifiedImageError
except (ImportError, RuntimeError) as problem:  # a broken install raises the latter
    raise ConfigError(
        f"pictures need the extra 'images' ({problem}): pip install 'mczsl[images]'"
    ) from problem

_FORMATS = "avif bmp gif jfif jp2 jpeg jpg pgm png ppm tif tiff webp"
SUFFIXES = frozenset(f".{name}" for name in _FORMATS.split())
MOST_PIXELS = 89_000_000  # where Pillow, too, suspects an attack: it unpacks to 270 MB


def square_picture(data: bytes, size: int, crop: float) -> NDArray[np.uint8]:
    """The central square of a picture file's contents, (size, size, 3).

    ``crop`` is the square's side as a share of the picture's shorter side. Anything unreadable
    raises :class:`~mczsl.errors.DataError` with the reason.
    """
    if not data:
        raise DataError("is empty (0 bytes)")
    try:
        with Image.open(io.BytesIO(data)) as opened:
            if opened.width * opened.height > MOST_PIXELS:
                raise Image.DecompressionBombError
            opened.seek(0)
            picture = _as_rgb(ImageOps.exif_transpose(opened))
    except DataError:
        raise
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise DataError(f"has more than {MOST_PIXELS // 10**6} million pixels") from None
    except UnidentifiedImageError:
        raise DataError("is not a picture of a known format") from None
    except Exception as problem:  # damaged files make the decoders raise nearly anything
        reason = str(problem).splitlines()[0][:200] if str(problem) else type(problem).__name__
        raise DataError(f"is damaged ({reason})") from problem
    side = max(1, round(crop * min(picture.size)))
    left, top = ((length - side) // 2 for length in picture.size)
    square = picture.resize(
        (size, size), Image.Resampling.BICUBIC, box=(left, top, left + side, top + side)
    )
    return np.asarray(square)


@contextmanager
def bombs_are_errors() -> Iterator[None]:
    """Pillow only warns of a picture that is somewhat too large; here that is an error, too."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        yield


def _as_rgb(picture: Image.Image) -> Image.Image:
    if picture.mode == "F":
        raise DataError("has floating-point pixels, of which none is known to be white")
    if picture.mode.startswith("I"):
        values = np.asarray(picture)
        if values.min() < 0 or values.max() > 0xFFFF:
            raise DataError("has pixels of more than 16 bits")
        picture = Image.fromarray((values // 257).astype(np.uint8))
    if picture.has_transparency_data:
        picture = picture.convert("RGBA")
        picture = Image.alpha_composite(Image.new("RGBA", picture.size, "white"), picture)
    return picture.convert("RGB")
