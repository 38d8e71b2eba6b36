"""Resize and its older form Upsample.

Nearest and linear resizes of pictures are `resize2d`, which also takes run-time sizes. Everything else is done one axis
at a time with tables: nearest as a `gather`, linear and cubic as a `resample`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.interpolation import COORDINATES, AxisResize, cubic, linear, nearest, taps
from buildtool.importers.onnx.registry import handler
from buildtool.importers.resizing import MOST_PLACES, scale_of_sizes
from buildtool.importers.run_time_resizing import COORDINATES as OPEN_COORDINATES
from buildtool.importers.run_time_resizing import RunTimeAxis
from buildtool.importers.spatial import NO_ACTIVATION, from_channels_last, to_channels_last
from buildtool.importers.step import Step
from buildtool.ir.dims import Dim
from buildtool.ops.resize2d import Resize2d

_OF_PICTURES = ("half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners")
_ROUNDING = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
_MODES = {"nearest": "nearest", "linear": "linear", "bilinear": "linear", "cubic": "cubic"}


@dataclass(frozen=True)
class _Resize:
    """What a node asks for: one size and one scale per axis of the input."""

    sizes: tuple[Dim, ...]
    scales: tuple[float, ...]
    mode: str
    coordinates: str = "asymmetric"
    rounding: str = "floor"
    regions: Mapping[int, tuple[float, float]] | None = None  # of the axes that tf_crop_and_resize cuts


@handler("Upsample")
def upsample(step: Step) -> Tensor:
    scales = step.reals("scales") if step.opset < 9 else _numbers(step, 1, "scales")
    return _resized(step, _Resize(_sizes_by_scale(step, scales), scales, _mode(step)))


@handler("Resize")
def resize(step: Step) -> Tensor:
    x = step.input(0)
    if step.opset < 11:
        scales = _numbers(step, 1, "scales")
        return _resized(step, _Resize(_sizes_by_scale(step, scales), scales, _mode(step)))
    coordinates = step.text("coordinate_transformation_mode", "half_pixel")
    if coordinates not in COORDINATES:
        step.unsupported(f"the coordinates '{coordinates}'", f"supported: {', '.join(COORDINATES)}")
    rounding = step.text("nearest_mode", "round_prefer_floor")
    if rounding not in _ROUNDING:
        step.malformed(f"the attribute 'nearest_mode' is '{rounding}'")
    axes = step.axes(step.integers("axes", range(x.rank)), x.rank)
    sizes, scales = _extents(step, axes)
    regions = _regions(step, axes) if coordinates == "tf_crop_and_resize" else None
    return _resized(step, _Resize(sizes, scales, _mode(step), coordinates, rounding, regions))


def _mode(step: Step) -> str:
    mode = step.text("mode", "nearest")
    if mode not in _MODES:
        step.unsupported(f"the mode '{mode}'", f"supported: {', '.join(_MODES)}")
    return _MODES[mode]


def _extents(step: Step, axes: Sequence[int]) -> tuple[tuple[Dim, ...], tuple[float, ...]]:
    """Size and scale of every axis, from the sizes or the scales of the node for some of them."""
    x = step.input(0)
    sizes_input = step.optional(3)
    if sizes_input is not None and sizes_input.shape != (0,):
        stated = step.known_dims(3, "sizes")
        if len(stated) != len(axes):
            step.malformed(f"it has {len(stated)} sizes for {len(axes)} axes")
        sizes = list(x.shape)
        for axis, size in zip(axes, stated, strict=True):
            sizes[axis] = size
        policy = step.text("keep_aspect_ratio_policy", "stretch")
        if policy != "stretch":
            return _in_proportion(step, axes, sizes, policy)
        return tuple(sizes), _scales_by_size(step, sizes)
    numbers = _numbers(step, 2, "scales")
    if len(numbers) != len(axes):
        step.malformed(f"it has {len(numbers)} scales for {len(axes)} axes")
    scales_of = dict(zip(axes, numbers, strict=True))
    scales = tuple(scales_of.get(axis, 1.0) for axis in range(x.rank))
    return _sizes_by_scale(step, scales), scales


def _in_proportion(
    step: Step, axes: Sequence[int], sizes: Sequence[Dim], policy: str
) -> tuple[tuple[Dim, ...], tuple[float, ...]]:
    """All axes by the one scale that makes the result not larger (or not smaller) than the sizes."""
    old = step.input(0).shape
    if policy not in ("not_larger", "not_smaller"):
        step.malformed(f"the attribute 'keep_aspect_ratio_policy' is '{policy}'")
    ratios = []
    for axis in axes:
        before, after = old[axis], sizes[axis]
        if not isinstance(before, int) or not isinstance(after, int) or before < 1:
            step.unsupported("a resize from or to a run-time size", "fix the input shapes")
        ratios.append(after / before)
    scale = min(ratios) if policy == "not_larger" else max(ratios)
    scales = tuple(scale if axis in axes else 1.0 for axis in range(len(old)))
    made = [int(scale * dim + 0.5) if axis in axes and isinstance(dim, int) else dim for axis, dim in enumerate(old)]
    return tuple(made), scales


def _regions(step: Step, axes: Sequence[int]) -> dict[int, tuple[float, float]]:
    region = _numbers(step, 1, "roi")
    if len(region) != 2 * len(axes):
        step.malformed(f"its roi has {len(region)} numbers for {len(axes)} axes")
    return {axis: (region[index], region[index + len(axes)]) for index, axis in enumerate(axes)}


def _numbers(step: Step, index: int, what: str) -> tuple[float, ...]:
    known = step.known(index, what)
    if known.dtype.kind != "f" or known.ndim != 1:
        step.malformed(f"its {what} are not a list of numbers")
    return tuple(float(number) for number in known)


def _sizes_by_scale(step: Step, scales: Sequence[float]) -> tuple[Dim, ...]:
    x = step.input(0)
    if len(scales) != x.rank or not all(np.isfinite(scale) and scale > 0 for scale in scales):
        step.malformed(f"the scales {list(scales)} are not {x.rank} positive numbers")
    sizes: list[Dim] = []
    for dim, scale in zip(x.shape, scales, strict=True):
        if isinstance(dim, int):
            with np.errstate(over="ignore"):
                size = float(np.floor(np.float32(dim) * np.float32(scale)))
            sizes.append(step.whole(size, "size"))
        else:
            ratio = Fraction(scale).limit_denominator(1024)
            sizes.append((dim * ratio.numerator) // ratio.denominator)
    return tuple(sizes)


def _scales_by_size(step: Step, sizes: Sequence[Dim]) -> tuple[float, ...]:
    scales = []
    for before, after in zip(step.input(0).shape, sizes, strict=True):
        if before == after:
            scales.append(1.0)
        elif isinstance(before, int) and isinstance(after, int) and before:
            scales.append(after / before)
        elif before == 0:
            step.malformed("an axis without elements cannot become longer")
        else:
            scales.append(scale_of_sizes(before, after))
    return tuple(scales)


def _resized(step: Step, wanted: _Resize) -> Tensor:
    x = step.input(0)
    if not _of_pictures(step, wanted):
        return _axis_by_axis(step, wanted)
    size, scale = wanted.sizes[2:], wanted.scales[2:]
    if x.rank == 3:
        size, scale = (1, *size), (1.0, *scale)
    y = step.emit(
        "resize2d",
        to_channels_last(step, x),
        size=size,
        scales=scale,
        mode=wanted.mode,
        coordinates=wanted.coordinates,
        rounding=wanted.rounding,
    )
    return from_channels_last(step, y, x.rank)


def _of_pictures(step: Step, wanted: _Resize) -> bool:
    """Whether resize2d does what is asked for."""
    x = step.input(0)
    if x.rank not in (3, 4) or wanted.sizes[:2] != x.shape[:2] or wanted.mode == "cubic" or not x.dtype.is_float:
        return False
    if wanted.coordinates not in _OF_PICTURES or step.integer("antialias", 0) or step.integer("exclude_outside", 0):
        return False
    if wanted.mode == "nearest" and not _same_places(step, wanted):
        return False
    if wanted.coordinates != "align_corners":
        return True
    # There the size before rounding counts, which resize2d does not know.
    extents = zip(x.shape[2:], wanted.sizes[2:], wanted.scales[2:], strict=True)
    return not any(
        isinstance(old, int) and isinstance(new, int) and abs(old * scale - new) >= 1e-4 for old, new, scale in extents
    )


def _same_places(step: Step, wanted: _Resize) -> bool:
    """Whether resize2d takes the elements that are nearest, where the sizes are known."""
    words = ("nearest", wanted.coordinates, wanted.rounding)
    for old, new, scale in zip(step.input(0).shape[2:], wanted.sizes[2:], wanted.scales[2:], strict=True):
        if not isinstance(old, int) or not isinstance(new, int) or old < 1 or not 1 <= new <= MOST_PLACES:
            continue
        own = Resize2d((new, new), (scale, scale), *words).places(old, new, scale)
        if not np.array_equal(own, nearest(AxisResize(old, new, scale, wanted.coordinates), wanted.rounding)):
            return False
    return True


def _axis_by_axis(step: Step, wanted: _Resize) -> Tensor:
    x = step.input(0)
    if wanted.mode != "nearest" and not x.dtype.is_float:
        step.unsupported(f"a {wanted.mode} resize of {x.dtype.value}", "cast to float32 first")
    axes = {axis: found for axis in range(x.rank) if (found := _axis(step, wanted, axis)) is not None}
    picture = x.rank == 4 and not axes.keys() & {0, 1}
    y = to_channels_last(step, x) if picture else x
    for axis, how in axes.items():
        y = _along(step, y, axis - 1 if picture else axis, how, wanted)
    y = from_channels_last(step, y, 4) if picture else y
    for axis in (axis for axis in range(x.rank) if _is_open(step, wanted, axis)):
        old, new = x.shape[axis], wanted.sizes[axis]
        how_open = RunTimeAxis(step, old, new, wanted.scales[axis], wanted.coordinates)
        y = how_open.resized(y, axis, wanted.mode, wanted.rounding, step.real("cubic_coeff_a", -0.75))
    return y


def _is_open(step: Step, wanted: _Resize, axis: int) -> bool:
    """Whether an axis is resized from or to a run-time size."""
    old, new = step.input(0).shape[axis], wanted.sizes[axis]
    fixed = isinstance(old, int) and isinstance(new, int)
    if fixed or (old == new and wanted.scales[axis] == 1.0 and axis not in (wanted.regions or {})):
        return False
    if step.integer("antialias", 0) or step.integer("exclude_outside", 0) or wanted.coordinates not in OPEN_COORDINATES:
        step.unsupported("such a resize from or to a run-time size", "fix the input shapes")
    return True


def _axis(step: Step, wanted: _Resize, axis: int) -> AxisResize | None:
    old, new = step.input(0).shape[axis], wanted.sizes[axis]
    region = (wanted.regions or {}).get(axis, (0.0, 1.0))
    if old == new and wanted.scales[axis] == 1.0 and region == (0.0, 1.0):
        return None
    if not isinstance(old, int) or not isinstance(new, int):
        return None  # see _is_open
    if old < 1 or new < 1:
        step.malformed(f"a resize of {old} to {new} elements")
    how = AxisResize(old, new, wanted.scales[axis], wanted.coordinates, region)
    return how if how.changes else None


def _along(step: Step, x: Tensor, axis: int, how: AxisResize, wanted: _Resize) -> Tensor:
    step.check_table(how.new, taps(how, wanted.mode, bool(step.integer("antialias", 0))))
    if wanted.mode == "nearest":
        y = step.emit("gather", x, step.constant(nearest(how, wanted.rounding)), axis=axis)
    else:
        antialias, exclude = bool(step.integer("antialias", 0)), bool(step.integer("exclude_outside", 0))
        if wanted.mode == "linear":
            places, weights = linear(how, antialias, exclude)
        else:
            places, weights = cubic(how, step.real("cubic_coeff_a", -0.75), antialias, exclude)
        tables = step.constant(places), step.constant(weights.astype(x.dtype.numpy))
        y = step.emit("resample", x, *tables, axis=axis)
    outside = how.outside()
    if not outside.any():
        return y
    shape = [1] * x.rank
    shape[axis] = how.new
    inside = step.constant((~outside).astype(x.dtype.numpy).reshape(shape))
    value = step.real("extrapolation_value", 0.0)
    beyond = step.constant((outside * value).astype(x.dtype.numpy).reshape(shape))
    return step.emit("add", step.emit("mul", y, inside), beyond, **NO_ACTIVATION)
