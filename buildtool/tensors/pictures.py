"""Pictures as arrays of height, width and channels, and back. Pillow reads and writes the files."""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from buildtool.errors import RunError, ToolchainError, Where
from buildtool.tensors.recipe import Array, Recipe
from buildtool.wording import near_files

if TYPE_CHECKING:
    from PIL import Image

SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp")
_FORMATS = ("PNG", "JPEG", "BMP")


def picture(file: Path, recipe: Recipe) -> Array:
    """The picture of a file in the channels and the size of the recipe: 64-bit numbers from 0 to 255."""
    return pixels(file, recipe).astype(np.float64)


def pixels(file: Path, recipe: Recipe) -> Array:
    """The same in bytes."""
    image = _read(file, "L" if recipe.channels == "grey" else "RGB")
    planes = 1 if recipe.channels == "grey" else 3
    height, width = recipe.crop or recipe.resize or (image.height, image.width)
    recipe.refuse_many(height * width * planes, file, "make it smaller with --resize or --crop")
    if recipe.resize is not None:
        image = image.resize(recipe.resize[::-1], _method(recipe.method))
    if recipe.crop is not None:
        image = _cropped(image, recipe.crop, file)
    values = np.asarray(image)
    if values.ndim == 2:
        return values[:, :, np.newaxis]
    return values[:, :, ::-1] if recipe.channels == "BGR" else values


def encoded(values: Array, recipe: Recipe, source: Path, suffix: str) -> bytes:
    """The bytes of a picture file of an array, rounded and held inside of 0 to 255."""
    planes = _planes(values, recipe, source)
    if planes.shape[2] == 3 and recipe.channels == "BGR":
        planes = planes[:, :, ::-1]
    whole = np.clip(np.rint(np.nan_to_num(planes)), 0, 255).astype(np.uint8)
    image = _pillow().fromarray(whole[:, :, 0] if whole.shape[2] == 1 else np.ascontiguousarray(whole))
    stream = io.BytesIO()
    image.save(stream, {".png": "PNG", ".bmp": "BMP"}.get(suffix.lower(), "JPEG"))
    return stream.getvalue()


def _planes(values: Array, recipe: Recipe, source: Path) -> Array:
    """The one picture in a tensor, as height, width, channels."""
    where, shape = Where(file=str(source)), list(values.shape)
    if values.dtype.kind not in "fiub" or not values.size:
        raise RunError(f"{values.dtype}{shape} is not an image", where=where)
    if values.ndim == 4 and values.shape[0] != 1:
        raise RunError(
            f"this tensor of shape {shape} contains {shape[0]} images",
            where=where,
            rule="only one image can be written",
        )
    if values.ndim == 4:
        values = values[0]
    if values.ndim == 2:
        values = values[:, :, np.newaxis]
    elif values.ndim == 3 and recipe.layout == "NCHW":
        values = values.transpose(1, 2, 0)
    if values.ndim != 3 or values.shape[2] not in (1, 3):
        raise RunError(
            f"shape {shape} is not an image in {recipe.layout}",
            where=where,
            rule="an image has 1 or 3 channels",
            remedy="give the position of the channels with --layout",
        )
    return recipe.restored(values.astype(np.float64), source)


def size(file: Path) -> tuple[int, int]:
    """Height and width of the picture of a file."""
    with _opened(file) as image:
        return image.height, image.width


def _read(file: Path, mode: str) -> Image.Image:
    with _opened(file) as image:
        if image.mode.startswith("I"):  # Pillow would cut 16 bits off at 255
            image = _pillow().fromarray(_in_bytes(np.asarray(image)))
        return image.convert(mode)


@contextlib.contextmanager
def _opened(file: Path) -> Iterator[Image.Image]:
    """The picture of a file. What goes wrong while it is read becomes one error."""
    pillow, where = _pillow(), Where(file=str(file))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of metadata; what is too large is refused below
            warnings.simplefilter("error", pillow.DecompressionBombWarning)
            with pillow.open(file, formats=_FORMATS) as image:
                yield image
    except FileNotFoundError as problem:
        raise RunError(
            "this file does not exist", where=where, remedy=near_files(file) or "correct the path"
        ) from problem
    except (pillow.DecompressionBombError, pillow.DecompressionBombWarning) as problem:
        raise RunError(
            "this image is too large",
            where=where,
            rule=f"at most {pillow.MAX_IMAGE_PIXELS} pixels",
            remedy="make it smaller before, about as large as the model's input",
        ) from problem
    except MemoryError:
        raise
    except Exception as problem:  # its readers let through whatever a damaged file leads them into
        raise RunError(
            f"the image is damaged or incomplete: {problem}",
            where=where,
            rule="PNG, JPEG or BMP",
            remedy="save or convert it again",
        ) from problem


def _in_bytes(deep: Array) -> Array:
    """Pixels of 16 bits in 8, row by row."""
    made = np.empty(deep.shape, np.uint8)
    for row, wide in zip(made, deep, strict=True):
        row[:] = np.rint(wide / 257.0)
    return made


def _cropped(image: Image.Image, size: tuple[int, int], file: Path) -> Image.Image:
    height, width = size
    if height > image.height or width > image.width:
        raise RunError(
            f"--crop {height}x{width} exceeds the image size {image.height}x{image.width}",
            where=Where(file=str(file)),
            remedy="enlarge it first: --resize HEIGHTxWIDTH",
        )
    left, top = (image.width - width) // 2, (image.height - height) // 2
    return image.crop((left, top, left + width, top + height))


def _method(name: str) -> Image.Resampling:
    method: Image.Resampling = _pillow().Resampling["BOX" if name == "area" else name.upper()]
    return method


def _pillow() -> ModuleType:
    try:
        from PIL import Image
    except ImportError as problem:
        raise ToolchainError(
            "images are read with Pillow, which is not installed", remedy="pip install 'lathe-build[images]'"
        ) from problem
    return Image
