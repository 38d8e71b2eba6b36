"""Resizes of pictures."""

from __future__ import annotations

from buildtool.importers.builder import Tensor
from buildtool.importers.caffe.operands import bottoms, known_sizes, picture, sides
from buildtool.importers.caffe.registry import handler
from buildtool.importers.spatial import from_channels_last, to_channels_last
from buildtool.importers.step import Step
from buildtool.ir.dims import Dim


@handler("Interp")
def interpolate(step: Step) -> Tensor:
    """DeepLab's: corners lie on corners. `pad_beg` and `pad_end` cut off, and are not positive."""
    x, before, after = picture(step), step.integer("pad_beg", 0), step.integer("pad_end", 0)
    if before > 0 or after > 0:
        step.malformed(f"the paddings {before} and {after} are above 0")
    if before or after:
        cut = tuple(size + before + after for size in x.shape[2:])
        x = step.emit(
            "slice", x, starts=(0, 0, -before, -before), steps=(1, 1, 1, 1), sizes=(x.shape[0], x.shape[1], *cut)
        )
    old = known_sizes(step, x.shape[2:], "an image of")
    new = _new_sizes(step, old)
    if min(*old, *new) < 1:
        step.malformed(f"a resize of {list(old)} to {list(new)}")
    scales = tuple(after / before for before, after in zip(old, new, strict=True))
    return _resized(step, x, new, scales, "linear", "align_corners")


def _new_sizes(step: Step, old: tuple[int, ...]) -> tuple[int, ...]:
    if len(bottoms(step)) > 1:
        return known_sizes(step, picture(step, 1).shape[2:], "an image of")
    if step.has("height") or step.has("width"):
        return step.integer("height"), step.integer("width")
    shrink, zoom = step.integer("shrink_factor", 1), step.integer("zoom_factor", 1)
    if shrink < 1 or zoom < 1:
        step.malformed(f"'shrink_factor' is {shrink}, 'zoom_factor' is {zoom}")
    small = tuple((size - 1) // shrink + 1 for size in old)
    return tuple(size + (size - 1) * (zoom - 1) for size in small)


@handler("ResizeNearest")
def nearest(step: Step) -> Tensor:
    """MACE's."""
    scales = step.real("height_scale", 2.0), step.real("width_scale", 2.0)
    if not all(0.0 < scale < 2**16 for scale in scales):
        step.malformed(f"the scales {scales}")
    x = picture(step)
    old = known_sizes(step, x.shape[2:], "an image of")
    new = tuple(int(size * scale) for size, scale in zip(old, scales, strict=True))
    return _resized(step, x, new, scales, "nearest", "asymmetric")


@handler("Upsample")
def upsample(step: Step) -> Tensor:
    """Each element becomes a block. The form with the places of a pool as a second bottom is another layer."""
    if len(bottoms(step)) > 1:
        step.unsupported("an upsampling with the mask of a pool", "replace it by a Deconvolution")
    x = picture(step)
    down, across = sides(step, "scale", "scale", 2, 1)
    sizes = x.shape[2] * down, x.shape[3] * across
    return _resized(step, x, sizes, (float(down), float(across)), "nearest", "asymmetric")


def _resized(
    step: Step, x: Tensor, size: tuple[Dim, ...], scales: tuple[float, ...], mode: str, coordinates: str
) -> Tensor:
    y = step.emit(
        "resize2d",
        to_channels_last(step, x),
        size=size,
        scales=scales,
        mode=mode,
        coordinates=coordinates,
        rounding="floor",
    )
    return from_channels_last(step, y, 4)
