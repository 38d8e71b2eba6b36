"""Resizes of images."""

from __future__ import annotations

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.step import Step
from buildtool.importers.tflite.registry import handler
from buildtool.importers.tflite.values import real, stored
from buildtool.ir.dims import Dim
from buildtool.ir.types import DType

_NARROW = (DType.S8, DType.U8, DType.S16, DType.U16)  # integers that 32-bit floats hold exactly


@handler("RESIZE_BILINEAR")
def bilinear(step: Step) -> Tensor:
    coordinates = "asymmetric"
    if step.integer("align_corners", 0):
        coordinates = "align_corners"
    elif step.integer("half_pixel_centers", 0):
        coordinates = "half_pixel"
    return stored(step, _resized(step, real(step, 0), "linear", coordinates, "floor"))


@handler("RESIZE_NEAREST_NEIGHBOR")
def nearest(step: Step) -> Tensor:
    """With centers of half pixels the place is floor((i + 0.5) / scale): half a pixel is rounded away again."""
    x = step.input(0)
    numbers = x if x.dtype.is_float else step.emit("cast", x, to=DType.F32 if x.dtype in _NARROW else DType.F64)
    if step.integer("align_corners", 0):
        y = _resized(step, numbers, "nearest", "align_corners", "round_prefer_ceil")
    elif step.integer("half_pixel_centers", 0):
        y = _resized(step, numbers, "nearest", "half_pixel", "round_prefer_ceil")
    else:
        y = _resized(step, numbers, "nearest", "asymmetric", "floor")
    return y if x.dtype.is_float else step.emit("cast", y, to=x.dtype)


def _resized(step: Step, x: Tensor, mode: str, coordinates: str, rounding: str) -> Tensor:
    size = step.known_dims(1, "size")
    if x.rank != 4 or len(size) != 2:
        step.malformed(f"an image of rank {x.rank} and {len(size)} sizes")
    scales = tuple(_scale(step, old, new) for old, new in zip(x.shape[1:3], size, strict=True))
    return step.emit("resize2d", x, size=size, scales=scales, mode=mode, coordinates=coordinates, rounding=rounding)


def _scale(step: Step, old: Dim, new: Dim) -> float:
    if isinstance(old, int) and isinstance(new, int):
        if old < 1 or new < 1:
            step.malformed(f"a resize of {old} to {new} elements")
        return float(np.float32(new / old))
    ratio = new // old  # sizes that were computed as a multiple
    if old == new:
        return 1.0
    if not isinstance(ratio, int) or old * ratio != new:
        step.unsupported(f"a resize of a run-time size {old} to {new}", "fix the input shapes")
    return float(ratio)
