"""Resizes of pictures [N, H, W, C] as TensorFlow has them: which pixels are nearest, and how they are weighed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.step import Step
from buildtool.ir.dims import Dim, bounds
from buildtool.ir.operator import Array
from buildtool.ir.types import DType
from buildtool.ops.resize2d import Resize2d

MOST_PLACES = 1 << 16  # of a side for which it is looked at whether resize2d takes the nearest ones
_NARROW = (DType.S8, DType.U8, DType.S16, DType.U16)  # integers that 32-bit floats hold exactly


def bilinear(step: Step, x: Tensor) -> Tensor:
    """Floats at the size of input 1, by the attributes `align_corners` and `half_pixel_centers`."""
    return _resized(step, x, "linear", coordinates(step), "floor")


def nearest(step: Step, x: Tensor) -> Tensor:
    """The same by the nearest pixel, of any numbers.

    With centers of half pixels the place is floor((i + 0.5) / scale): half a pixel is rounded away again.
    """
    size, how = _known_size(step, x), coordinates(step)
    if (taken := nearest_by_table(step, x, size, how)) is not None:
        return taken
    numbers = x if x.dtype.is_float else step.emit("cast", x, to=DType.F32 if x.dtype in _NARROW else DType.F64)
    y = _resized(step, numbers, "nearest", how, _rounding(how))
    return y if x.dtype.is_float else step.emit("cast", y, to=x.dtype)


def nearest_by_table(step: Step, x: Tensor, size: Sequence[Dim], coordinates: str) -> Tensor | None:
    """The nearest pixels of x[N,H,W,C] by a table for each side, where resize2d would take other ones: None elsewhere.

    TensorFlow multiplies by the inverse of the scale. Where a place is that of a pixel but for rounding, the products
    and the quotients of 32-bit floats may lie on both sides of it.
    """
    tables, differ = {}, False
    for axis, (old, new) in enumerate(zip(x.shape[1:3], size, strict=True), start=1):
        if not isinstance(old, int) or not isinstance(new, int) or old < 1 or not 1 <= new <= MOST_PLACES:
            return None
        scale = scale_between(step, old, new)
        own = Resize2d((new, new), (scale, scale), "nearest", coordinates, _rounding(coordinates))
        tables[axis] = _places(old, new, coordinates)
        differ = differ or not np.array_equal(tables[axis], own.places(old, new, scale))
    if not differ:
        return None
    y = x
    for axis, places in tables.items():
        y = step.emit("gather", y, step.constant(places), axis=axis)
    return y


def _places(old: int, new: int, coordinates: str) -> Array:
    index, half = np.arange(new, dtype=np.float32), np.float32(0.5)
    if coordinates == "align_corners" and new > 1:
        found = np.floor(index * (np.float32(old - 1) / np.float32(new - 1)) + half)
    else:
        start = half if coordinates == "half_pixel" else np.float32(0)
        found = np.floor((index + start) * (np.float32(old) / np.float32(new)))
    return np.asarray(np.minimum(found, old - 1).astype(np.int64))


def _rounding(coordinates: str) -> str:
    return "floor" if coordinates == "asymmetric" else "round_prefer_ceil"


def coordinates(step: Step) -> str:
    """Where the pixels lie, in the words of resize2d."""
    if step.integer("align_corners", 0):
        return "align_corners"
    return "half_pixel" if step.integer("half_pixel_centers", 0) else "asymmetric"


def _resized(step: Step, x: Tensor, mode: str, coordinates: str, rounding: str) -> Tensor:
    size = _known_size(step, x)
    scales = tuple(scale_between(step, old, new) for old, new in zip(x.shape[1:3], size, strict=True))
    return step.emit("resize2d", x, size=size, scales=scales, mode=mode, coordinates=coordinates, rounding=rounding)


def _known_size(step: Step, x: Tensor) -> tuple[Dim, ...]:
    size = step.known_dims(1, "size")
    if x.rank != 4 or len(size) != 2:
        step.malformed(f"an image of rank {x.rank} and {len(size)} sizes")
    return size


def scale_between(step: Step, old: Dim, new: Dim) -> float:
    """How many times larger a side becomes, in single precision; it may be a run-time size and a multiple of it."""
    if isinstance(old, int) and isinstance(new, int):
        if old < 1 or new < 1:
            step.malformed(f"a resize of {old} to {new} elements")
        return float(np.float32(new / old))
    return scale_of_sizes(old, new)


def scale_of_sizes(old: Dim, new: Dim) -> float:
    """The scale between run-time sizes, as resize2d has it: 0 where it is not the same at all of them."""
    if old == new:
        return 1.0
    ratio = new // old if bounds(old)[0] > 0 else None  # sizes that were computed as a multiple
    return float(ratio) if isinstance(ratio, int) and old * ratio == new else 0.0
