"""Resizes of pictures and of rows: nearest, linear and cubic ones, older and newer."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.interpolation import AxisResize, cubic, taps
from buildtool.importers.paddle.registry import handler, many, maybe, node_of, one, place_of
from buildtool.importers.paddle.values import flag, is_channels_last, to_first, to_last
from buildtool.importers.spatial import from_channels_last, to_channels_last
from buildtool.importers.step import Step
from buildtool.ir.dims import Dim

_NAMES = tuple(
    f"{mode}_interp{version}" for mode in ("nearest", "bilinear", "linear", "bicubic") for version in ("", "_v2")
)
_SIZES = {1: ("out_w",), 2: ("out_h", "out_w")}


@dataclass(frozen=True)
class _Target:
    """Sizes along the spatial axes, and the scales where the node states them."""

    sizes: tuple[Dim, ...]
    scales: tuple[float, ...] | None


@handler(*_NAMES)
def interpolate(step: Step) -> Tensor:
    x = one(step, "X")
    last = is_channels_last(step)
    if x.rank not in (3, 4):
        step.unsupported(f"a resize of {x.rank - 2} axes", "one or two axes are supported")
    first = to_first(step, x) if last else x
    target = _target(step, first)
    mode = step.node.op.split("_")[0]
    y = _cubic(step, first, target) if mode == "bicubic" else _resized(step, first, target, mode)
    return to_last(step, y) if last else y


def _target(step: Step, x: Tensor) -> _Target:
    """A list of tensors comes before one tensor, that before the attributes, a scale before sizes that are stated."""
    rank = x.rank - 2
    if many(step, "SizeTensor"):
        places = node_of(step).slots["SizeTensor"]
        return _checked(step, tuple(step.known_dim(place, "sizes") for place in places), rank, None)
    scales = _scales(step, rank)
    if maybe(step, "OutSize") is not None:
        return _checked(step, step.known_dims(place_of(step, "OutSize"), "sizes"), rank, None)
    if scales:
        sizes = [_times(step, size, scale) for size, scale in zip(x.shape[2:], scales, strict=True)]
        return _checked(step, tuple(sizes), rank, scales if step.node.op.endswith("_v2") else None)
    return _checked(step, tuple(step.integer(name) for name in _SIZES[rank]), rank, None)


def _times(step: Step, size: Dim, scale: float) -> Dim:
    if isinstance(size, int):
        return int(size * np.float32(scale))
    if scale != int(scale):
        step.unsupported(f"a run-time size times {scale}", "fix the input shapes")
    return size * int(scale)


def _scales(step: Step, rank: int) -> tuple[float, ...]:
    if maybe(step, "Scale") is not None:
        known = step.known(place_of(step, "Scale"), "scales")
        scales = tuple(float(number) for number in known.reshape(-1))
    else:
        stated = step.attribute("scale")
        scales = (float(stated),) if isinstance(stated, int | float) else step.reals("scale", ())
    if not all(math.isfinite(scale) for scale in scales):
        step.malformed(f"the scales {list(scales)}")
    if not scales or scales[0] <= 0:
        return ()
    scales = scales * rank if len(scales) == 1 else scales
    if len(scales) != rank or min(scales) <= 0:
        step.malformed(f"the scales {list(scales)} for {rank} axes")
    return scales


def _checked(step: Step, sizes: tuple[Dim, ...], rank: int, scales: tuple[float, ...] | None) -> _Target:
    if len(sizes) != rank or any(isinstance(size, int) and size < 1 for size in sizes):
        step.malformed(f"the sizes {list(map(str, sizes))} for {rank} axes")
    return _Target(sizes, scales)


def _coordinates(step: Step, mode: str) -> str:
    if flag(step, "align_corners", True):
        return "align_corners"
    return "half_pixel" if mode != "nearest" and step.integer("align_mode", 1) == 0 else "asymmetric"


def _ratios(step: Step, x: Tensor, target: _Target) -> tuple[float, ...]:
    """What a size is multiplied by: as stated, or one size over the other."""
    if target.scales is not None:
        return target.scales
    ratios = []
    for old, new in zip(x.shape[2:], target.sizes, strict=True):
        if isinstance(old, int) and isinstance(new, int) and old > 0:
            ratios.append(new / old)
            continue
        if old == 0:
            step.malformed("an image without rows or columns")
        ratio = new // old
        if not isinstance(ratio, int) or ratio * old != new:
            step.unsupported("a resize from or to a run-time size", "state scales instead of sizes")
        ratios.append(float(ratio))
    return tuple(ratios)


def _resized(step: Step, x: Tensor, target: _Target, mode: str) -> Tensor:
    sizes, scales = target.sizes, _ratios(step, x, target)
    if x.rank == 3:
        sizes, scales = (1, *sizes), (1.0, *scales)
    coordinates = _coordinates(step, mode)
    y = step.emit(
        "resize2d",
        to_channels_last(step, x),
        size=sizes,
        scales=scales,
        mode="nearest" if mode == "nearest" else "linear",
        coordinates=coordinates,
        rounding="round_prefer_ceil" if coordinates == "align_corners" else "floor",
    )
    return from_channels_last(step, y, x.rank)


def _cubic(step: Step, x: Tensor, target: _Target) -> Tensor:
    """One axis at a time, with tables."""
    if x.rank != 4:
        step.unsupported("a cubic resize of rows", "use a linear one")
    y = to_last(step, x)
    align = flag(step, "align_corners", True)
    for axis, (new, scale) in enumerate(zip(target.sizes, _ratios(step, x, target), strict=True)):
        old = x.shape[2 + axis]
        if not isinstance(old, int) or not isinstance(new, int) or old < 1:
            step.unsupported("a cubic resize from or to a run-time size", "fix the input shapes")
        how = AxisResize(old, new, new / old if align else scale, "align_corners" if align else "half_pixel")
        if not how.changes:
            continue
        step.check_table(new, taps(how, "cubic", False))
        places, weights = cubic(how, -0.75, False, False)
        tables = step.constant(places), step.constant(weights.astype(x.dtype.numpy))
        y = step.emit("resample", y, *tables, axis=1 + axis)
    return to_first(step, y)
