"""Images at another size, and at another scale of brightness."""

from __future__ import annotations

from collections.abc import Sequence

from buildtool.importers.builder import Tensor
from buildtool.importers.interpolation import AxisResize, cubic
from buildtool.importers.keras.handlers.shaping import part
from buildtool.importers.keras.registry import handler
from buildtool.importers.keras.values import (
    array,
    as_it_was,
    channels_last,
    floating,
    number,
    numbers,
    one_axis,
    only,
    plus,
    sizes,
    two_axes,
)
from buildtool.importers.resizing import nearest_by_table, scale_between
from buildtool.importers.spatial import lifted
from buildtool.importers.step import Step
from buildtool.ir.dims import Dim, product

_KEYS = -0.5  # the coefficient of the cubic interpolation


@handler("UpSampling1D")
def repeat_steps(step: Step) -> Tensor:
    x = only(step)
    if x.rank != 3:
        step.malformed(f"its input has rank {x.rank}, not 3")
    factor = sizes(step, "size", 1, (2,))
    return one_axis(step, _repeated(step, two_axes(step, x), lifted(factor, 1)), 3)


@handler("UpSampling2D")
def enlarge(step: Step) -> Tensor:
    x = channels_last(step, only(step), 2)
    factors = sizes(step, "size", 2, (2,) * 2)
    how = step.text("interpolation", "nearest")
    if how == "nearest":
        return as_it_was(step, _repeated(step, x, factors))
    wanted = tuple(size * factor for size, factor in zip(x.shape[1:3], factors, strict=True))
    return as_it_was(step, _resized(step, floating(step, x), wanted, how))


@handler("UpSampling3D")
def repeat_in_space(step: Step) -> Tensor:
    """Height and width first; then depth, with the others as one axis."""
    x = channels_last(step, only(step), 3)
    factors = sizes(step, "size", 3, (2,) * 3)
    batch, depth, height, width, count = x.shape
    flat = _repeated(step, step.reshape(x, (product((batch, depth)), height, width, count)), factors[1:])
    _, height, width, _ = flat.shape
    deep = _repeated(step, step.reshape(flat, (batch, depth, product((height, width)), count)), (factors[0], 1))
    return as_it_was(step, step.reshape(deep, (batch, depth * factors[0], height, width, count)))


def _repeated(step: Step, x: Tensor, factors: Sequence[int]) -> Tensor:
    return step.emit(
        "resize2d",
        floating(step, x),
        size=tuple(size * factor for size, factor in zip(x.shape[1:3], factors, strict=True)),
        scales=tuple(float(factor) for factor in factors),
        mode="nearest",
        coordinates="asymmetric",
        rounding="floor",
    )


@handler("Resizing")
def resize(step: Step) -> Tensor:
    """With `crop_to_aspect_ratio` the largest part in the middle that has the wanted proportions."""
    x = channels_last(step, floating(step, only(step)), 2)
    wanted = step.integer("height"), step.integer("width")
    if min(wanted) < 1:
        step.malformed(f"it resizes to {wanted}")
    if step.integer("pad_to_aspect_ratio", 0):
        step.unsupported("pad_to_aspect_ratio", "pad with ZeroPadding2D before it")
    if step.integer("crop_to_aspect_ratio", 0):
        x = _in_proportion(step, x, wanted)
    return as_it_was(step, _resized(step, x, wanted, step.text("interpolation", "bilinear")))


def _in_proportion(step: Step, x: Tensor, wanted: tuple[int, int]) -> Tensor:
    height, width = _numbers(step, x.shape[1:3])
    kept = min(height, int(width * wanted[0] / wanted[1])), min(width, int(height * wanted[1] / wanted[0]))
    starts = [int((size - taken) / 2) for size, taken in zip((height, width), kept, strict=True)]
    return part(step, x, starts, kept)


def _numbers(step: Step, dims: Sequence[Dim]) -> list[int]:
    numbers = [dim for dim in dims if isinstance(dim, int) and dim > 0]
    if len(numbers) < len(dims):
        step.unsupported("such a resize from a run-time size", "fix the input shapes")
    return numbers


def _resized(step: Step, x: Tensor, wanted: Sequence[Dim], how: str) -> Tensor:
    match how:
        case "bilinear" | "nearest":
            return _of_neighbours(step, x, wanted, "linear" if how == "bilinear" else "nearest")
        case "bicubic":
            return _cubic(step, x, wanted)
    return step.unsupported(f"the interpolation '{how}'", "use bilinear, nearest or bicubic")


def _of_neighbours(step: Step, x: Tensor, wanted: Sequence[Dim], mode: str) -> Tensor:
    if mode == "nearest" and (taken := nearest_by_table(step, x, wanted, "half_pixel")) is not None:
        return taken
    scales = tuple(scale_between(step, old, new) for old, new in zip(x.shape[1:3], wanted, strict=True))
    return step.emit(
        "resize2d",
        x,
        size=tuple(wanted),
        scales=scales,
        mode=mode,
        coordinates="half_pixel",
        rounding="round_prefer_ceil",
    )


def _cubic(step: Step, x: Tensor, wanted: Sequence[Dim]) -> Tensor:
    y = x
    for axis, (old, new) in enumerate(zip(_numbers(step, x.shape[1:3]), _numbers(step, wanted), strict=True), start=1):
        step.check_table(new, 4)
        how = AxisResize(old, new, new / old, "half_pixel")
        if how.changes:
            places, weights = cubic(how, _KEYS, antialias=False, exclude_outside=True)
            y = step.emit("resample", y, step.constant(places), step.constant(weights), axis=axis)
    return y


@handler("Rescaling")
def rescale(step: Step) -> Tensor:
    """One scale and offset for all, or one for each channel."""
    x = floating(step, only(step))
    scaled = step.emit("mul", x, _row(step, "scale", 1.0))
    offset = _row(step, "offset", 0.0)
    known = offset.content
    return scaled if known is not None and not known.any() else plus(step, scaled, offset)


def _row(step: Step, name: str, default: float) -> Tensor:
    stated = step.attribute(name)
    return array(step, numbers(step, name)) if isinstance(stated, tuple) else array(step, number(step, name, default))
