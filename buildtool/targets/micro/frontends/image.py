"""Crop, resize, normalisation and quantisation of 8-bit images in integers."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RESIZES = ("bilinear", "nearest")


@dataclass(frozen=True)
class Picture:
    """The part `crop` (left, top, width, height) of an image [height, width, channels], resized to out_height by
    out_width; then stored = (value - mean) / deviation / scale + zero, by channel, rounded half to even.

    Positions are those of half pixels. Weights of the bilinear resize have 8 bits.
    """

    width: int
    height: int
    channels: int
    out_width: int
    out_height: int
    crop: tuple[int, ...] = ()
    resize: str = "bilinear"
    mean: tuple[float, ...] = (0.0,)
    deviation: tuple[float, ...] = (1.0,)
    scale: float = 1.0
    zero: int = 0

    def __post_init__(self) -> None:
        """ValueError with the rule that a number breaks."""
        sizes = (self.width, self.height, self.channels, self.out_width, self.out_height)
        if min(sizes) < 1 or max(sizes) > 65535:
            raise ValueError("the sizes of images are 1 to 65535")
        if self.crop and len(self.crop) != 4:
            raise ValueError("'crop' has four numbers: left, top, width, height")
        left, top, width, height = self.part
        if min(left, top) < 0 or min(width, height) < 1 or left + width > self.width or top + height > self.height:
            raise ValueError(f"the crop {list(self.part)} is not within the image of {self.width} by {self.height}")
        if self.resize not in RESIZES:
            raise ValueError(f"'resize' is '{self.resize}'; it is one of {', '.join(RESIZES)}")
        for name, values in (("mean", self.mean), ("deviation", self.deviation)):
            if len(values) not in (1, self.channels):
                raise ValueError(f"'{name}' has {len(values)} numbers for {self.channels} channels")
        if not self.scale > 0 or min(self.deviation) <= 0:
            raise ValueError("deviations and the scale of the input are positive")

    @property
    def part(self) -> tuple[int, int, int, int]:
        if not self.crop:
            return 0, 0, self.width, self.height
        left, top, width, height = self.crop
        return left, top, width, height

    # -- tables of the C ---------------------------------------------------------------------------------------------
    @functools.cached_property
    def rows(self) -> NDArray[np.uint16]:
        """[out_height, 2]: the row, and the weight of the next one, of 256."""
        return self._places(self.part[1], self.part[3], self.out_height)

    @functools.cached_property
    def columns(self) -> NDArray[np.uint16]:
        return self._places(self.part[0], self.part[2], self.out_width)

    def _places(self, start: int, size: int, made: int) -> NDArray[np.uint16]:
        middles = (np.arange(made) + 0.5) * size / made
        if self.resize == "nearest":
            return np.stack([start + np.floor(middles), np.zeros(made)], axis=1).astype(np.uint16)
        at = np.clip(middles - 0.5, 0, size - 1)
        return np.stack([start + np.floor(at), np.rint((at - np.floor(at)) * 256)], axis=1).astype(np.uint16)

    @property
    def last(self) -> NDArray[np.uint16]:
        left, top, width, height = self.part
        return np.array([top + height - 1, left + width - 1], np.uint16)

    @functools.cached_property
    def table(self) -> NDArray[np.int8]:
        """[channels, 256]."""
        mean, deviation = (
            np.broadcast_to(np.array(values, np.float64), (self.channels,)) for values in (self.mean, self.deviation)
        )
        real = (np.arange(256) - mean[:, None]) / deviation[:, None] / self.scale
        return np.asarray(np.clip(np.rint(real) + self.zero, -128, 127), np.int8)

    # -- the twin ----------------------------------------------------------------------------------------------------
    def features(self, image: NDArray[np.uint8]) -> NDArray[np.int8]:
        """What the C makes of the same image, bit for bit: [out_height, out_width, channels]."""
        if image.dtype != np.uint8 or image.shape != (self.height, self.width, self.channels):
            raise ValueError(f"the image is not uint8 [{self.height}, {self.width}, {self.channels}]")
        rows, down = self.rows.astype(np.int64).T
        columns, across = self.columns.astype(np.int64).T
        below, right = np.minimum(rows + 1, int(self.last[0])), np.minimum(columns + 1, int(self.last[1]))
        wide, weight = image.astype(np.int64), across[None, :, None]
        high, low = (wide[at][:, columns] * (256 - weight) + wide[at][:, right] * weight for at in (rows, below))
        values = (high * (256 - down[:, None, None]) + low * down[:, None, None] + (1 << 15)) >> 16
        return np.asarray(self.table[np.arange(self.channels), values])
