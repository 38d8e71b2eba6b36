"""How a picture or a sound becomes a tensor: what a user says, checked."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from buildtool.errors import ConfigError, RunError, Where

Array = npt.NDArray[Any]

METHODS = ("nearest", "bilinear", "bicubic", "lanczos", "area")
LAYOUTS = ("NHWC", "NCHW")
CHANNELS = ("RGB", "BGR", "grey")
DTYPES = ("float32", "float16", "float64", "uint8", "int8", "uint16", "int16", "int32")
_LARGEST = 32768  # pixels of a side
_MOST_NUMBERS = 1 << 26  # that one file becomes: 256 MiB of float32
_AT_ONCE = 1 << 20  # numbers that are computed at a time, in double precision


@dataclass(frozen=True)
class Recipe:
    """Resize, crop, then (value - mean) * scale in floating point, then the type and the order."""

    resize: tuple[int, int] | None = None  # height, width
    method: str = "bilinear"
    crop: tuple[int, int] | None = None  # out of the middle
    channels: str = "RGB"
    mean: tuple[float, ...] = (0.0,)  # one, or one per channel in the order of `channels`
    scale: tuple[float, ...] = (1.0,)
    layout: str = "NHWC"
    dtype: str = "float32"
    rate: int | None = None  # samples in a second that a sound must have
    length: int | None = None  # samples: a sound is cut, or goes on in silence

    def __post_init__(self) -> None:
        words = (
            ("method", self.method, METHODS),
            ("layout", self.layout, LAYOUTS),
            ("channels", self.channels, CHANNELS),
            ("dtype", self.dtype, DTYPES),
        )
        for name, word, allowed in words:
            if word not in allowed:
                raise ConfigError(f"--{name} cannot be '{word}'", rule=f"allowed: {', '.join(allowed)}")
        for name, sizes in (("resize", self.resize), ("crop", self.crop)):
            if sizes and not all(0 < size <= _LARGEST for size in sizes):
                raise ConfigError(f"--{name} is {'x'.join(map(str, sizes))}", rule=f"sizes are from 1 to {_LARGEST}")
        for name, values in (("mean", self.mean), ("scale", self.scale)):
            if not np.all(np.isfinite(values)):
                raise ConfigError(f"--{name} is not a finite number")

    def normalised(self, values: Array, file: Path) -> Array:
        """(value - mean) * scale, where the last dimension is that of the channels."""
        return (values - self._per_channel("mean", self.mean, values, file)) * self._per_channel(
            "scale", self.scale, values, file
        )

    def made(self, values: Array, file: Path) -> Array:
        """The values of a file as those of the tensor. Some rows at a time: a pixel has one byte, a double eight."""
        rows = max(1, _AT_ONCE // max(1, math.prod(values.shape[1:])))
        made = np.empty(values.shape, self.dtype)
        for first in range(0, len(values), rows):
            made[first : first + rows] = self.typed(self.normalised(values[first : first + rows], file))
        return made

    def refuse_many(self, numbers: int, file: Path, remedy: str, most: int = _MOST_NUMBERS) -> None:
        """RunError where a file would become more numbers than that."""
        if numbers > most:
            what = f"it would become {numbers:,} numbers"
            raise RunError(what, where=Where(file=str(file)), rule=f"at most {most:,} from one file", remedy=remedy)

    def restored(self, values: Array, file: Path) -> Array:
        """The values that `normalised` was given."""
        scale = self._per_channel("scale", self.scale, values, file)
        if not np.all(scale):
            raise ConfigError("--scale must not be 0: it cannot be inverted")
        return values / scale + self._per_channel("mean", self.mean, values, file)

    def typed(self, values: Array) -> Array:
        """The values in the type of the tensor; those of whole numbers are rounded and held inside of it."""
        dtype = np.dtype(self.dtype)
        if dtype.kind == "f":
            return values.astype(dtype)
        limits = np.iinfo(dtype)
        return np.clip(np.rint(values), limits.min, limits.max).astype(dtype)

    def _per_channel(self, name: str, numbers: tuple[float, ...], values: Array, file: Path) -> Array:
        if len(numbers) not in (1, values.shape[-1]):
            raise RunError(
                f"--{name} has {len(numbers)} numbers, and this file {values.shape[-1]} channels",
                where=Where(file=str(file)),
                rule="one number, or one for each channel",
            )
        return np.asarray(numbers, np.float64)
