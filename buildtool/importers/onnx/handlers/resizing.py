"""Resize and its older form Upsample: nearest and linear, over the spatial axes."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from buildtool.importers.onnx.builder import Tensor
from buildtool.importers.onnx.registry import handler
from buildtool.importers.onnx.spatial import from_channels_last, spatial_rank, to_channels_last
from buildtool.importers.onnx.step import Step
from buildtool.ir.dims import Dim

_COORDINATES = ("half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners")
_ROUNDING = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")


@handler("Upsample")
def upsample(step: Step) -> Tensor:
    scales = step.reals("scales") if step.opset < 9 else _numbers(step, 1)
    return _resized(step, _sizes_by_scale(step, scales), scales, "asymmetric", "floor")


@handler("Resize")
def resize(step: Step) -> Tensor:
    x = step.input(0)
    if step.opset < 11:
        scales = _numbers(step, 1)
        return _resized(step, _sizes_by_scale(step, scales), scales, "asymmetric", "floor")
    coordinates = step.text("coordinate_transformation_mode", "half_pixel")
    if coordinates not in _COORDINATES:
        step.unsupported(f"the coordinates '{coordinates}'", f"supported: {', '.join(_COORDINATES)}")
    if step.integer("antialias", 0):
        step.unsupported("a resize with antialias", "export without it")
    if step.text("keep_aspect_ratio_policy", "stretch") != "stretch":
        step.unsupported("a resize that keeps the aspect ratio", "state the sizes")
    rounding = step.text("nearest_mode", "round_prefer_floor")
    axes = step.axes(step.integers("axes", range(x.rank)), x.rank)
    sizes_input = step.optional(3)
    if sizes_input is not None and sizes_input.shape != (0,):
        stated = step.known_dims(3, "sizes")
        if len(stated) != len(axes):
            step.malformed(f"it has {len(stated)} sizes for {len(axes)} axes")
        sizes = list(x.shape)
        for axis, size in zip(axes, stated, strict=True):
            sizes[axis] = size
        return _resized(step, sizes, _scales_by_size(step, sizes), coordinates, rounding)
    numbers = _numbers(step, 2)
    if len(numbers) != len(axes):
        step.malformed(f"it has {len(numbers)} scales for {len(axes)} axes")
    scales_of = dict(zip(axes, numbers, strict=True))
    scales = tuple(scales_of.get(axis, 1.0) for axis in range(x.rank))
    return _resized(step, _sizes_by_scale(step, scales), scales, coordinates, rounding)


def _numbers(step: Step, index: int) -> tuple[float, ...]:
    known = step.known(index, "scales")
    if known.dtype.kind != "f" or known.ndim != 1:
        step.malformed("its scales are no list of numbers")
    return tuple(float(number) for number in known)


def _sizes_by_scale(step: Step, scales: Sequence[float]) -> list[Dim]:
    x = step.input(0)
    if len(scales) != x.rank or not all(np.isfinite(scale) and scale > 0 for scale in scales):
        step.malformed(f"the scales {list(scales)} are not {x.rank} positive numbers")
    sizes: list[Dim] = []
    for dim, scale in zip(x.shape, scales, strict=True):
        if isinstance(dim, int):
            sizes.append(int(np.floor(dim * np.float32(scale))))
        else:
            ratio = Fraction(scale).limit_denominator(1024)
            sizes.append((dim * ratio.numerator) // ratio.denominator)
    return sizes


def _scales_by_size(step: Step, sizes: Sequence[Dim]) -> list[float]:
    scales = []
    for before, after in zip(step.input(0).shape, sizes, strict=True):
        if before == after:
            scales.append(1.0)
        elif isinstance(before, int) and isinstance(after, int) and before:
            scales.append(after / before)
        else:
            ratio = after // before  # sizes that were computed as a multiple
            if not isinstance(ratio, int) or before * ratio != after:
                step.unsupported("a resize from or to a run-time size", "state scales instead of sizes")
            scales.append(float(ratio))
    return scales


def _resized(step: Step, sizes: Sequence[Dim], scales: Sequence[float], coordinates: str, rounding: str) -> Tensor:
    x = step.input(0)
    mode = step.text("mode", "nearest")
    if mode not in ("nearest", "linear", "bilinear"):
        step.unsupported(f"the mode '{mode}'", "nearest and linear are supported")
    if rounding not in _ROUNDING:
        step.malformed(f"the attribute 'nearest_mode' is '{rounding}'")
    spatial_rank(step, x)
    if tuple(sizes[:2]) != x.shape[:2]:
        step.unsupported("a resize of the batch or the channels", "only spatial axes are resized")
    size, scale = tuple(sizes[2:]), tuple(scales[2:])
    if x.rank == 3:
        size, scale = (1, *size), (1.0, *scale)
    y = step.emit(
        "resize2d",
        to_channels_last(step, x),
        size=size,
        scales=scale,
        mode="nearest" if mode == "nearest" else "linear",
        coordinates=coordinates,
        rounding=rounding,
    )
    return from_channels_last(step, y, x.rank)
