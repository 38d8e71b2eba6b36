"""GridSample, AffineGrid, RoiAlign, MaxRoiPool and DeformConv: pictures read where other inputs tell. And Det."""

from __future__ import annotations

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.onnx.pads import pads_of
from buildtool.importers.onnx.registry import handler
from buildtool.importers.spatial import channels, fixed_pads, from_channels_last, per_axis, to_channels_last
from buildtool.importers.step import Step
from buildtool.ir.operator import Array
from buildtool.ir.types import DType

_SAMPLE_MODES = {"bilinear": "linear", "bicubic": "cubic", "linear": "linear", "cubic": "cubic", "nearest": "nearest"}


@handler("GridSample")
def grid_sample(step: Step) -> Tensor:
    x, grid = step.input(0), step.input(1)
    mode = step.text("mode", "linear")
    if mode not in _SAMPLE_MODES:
        step.malformed(f"the attribute 'mode' is '{mode}'")
    if x.rank > 5:
        step.unsupported(f"its input has {x.rank - 2} spatial axes", "one to three spatial axes are supported")
    y = step.emit(
        "grid_sample",
        step.transpose(x, (0, *range(2, x.rank), 1)),
        grid,
        mode=_SAMPLE_MODES[mode],
        padding=step.text("padding_mode", "zeros"),
        align_corners=bool(step.integer("align_corners", 0)),
    )
    return step.transpose(y, (0, y.rank - 1, *range(1, y.rank - 1)))


@handler("AffineGrid")
def affine_grid(step: Step) -> Tensor:
    """The places of all elements, which are known, times the transformations."""
    theta, size = step.input(0), step.known_ints(1, "size")
    if len(size) not in (4, 5) or any(side < 1 for side in size):
        step.malformed(f"the size {list(size)} is not that of images or volumes")
    axes = len(size) - 2
    step.check_table(*size[2:], axes + 1)
    places = _all_places(size[2:], bool(step.integer("align_corners", 0))).astype(theta.dtype.numpy)
    moved = step.emit("matmul", step.constant(places), step.transpose(theta, (0, 2, 1)))
    return step.reshape(moved, (theta.shape[0], *size[2:], axes))


def _all_places(sizes: tuple[int, ...], align_corners: bool) -> Array:
    """One row per element: its place from -1 to 1 along each axis, innermost axis first, and a 1."""
    lines = []
    for side in sizes:
        if align_corners:
            lines.append(np.linspace(-1, 1, side) if side > 1 else np.array([-1.0]))
        else:
            lines.append((2 * np.arange(side) + 1) / side - 1)
    grids = np.meshgrid(*lines, indexing="ij")
    return np.stack([*(grid.reshape(-1) for grid in reversed(grids)), np.ones(grids[0].size)], axis=1)


@handler("RoiAlign")
def roi_align(step: Step) -> Tensor:
    x, regions, pictures = step.input(0), step.input(1), step.input(2)
    mode = step.text("mode", "avg")
    if mode not in ("avg", "max"):
        step.malformed(f"the attribute 'mode' is '{mode}'")
    half_pixel = step.text("coordinate_transformation_mode", "half_pixel") == "half_pixel"
    if pictures.dtype is not DType.S64:
        pictures = step.emit("cast", pictures, to=DType.S64)
    y = step.emit(
        "roi_align",
        to_channels_last(step, x),
        regions,
        pictures,
        size=(step.integer("output_height", 1), step.integer("output_width", 1)),
        samples=step.integer("sampling_ratio", 0),
        scale=step.real("spatial_scale", 1.0),
        mode="mean" if mode == "avg" else "max",
        half_pixel=half_pixel and step.opset >= 16,
    )
    return from_channels_last(step, y, 4)


@handler("MaxRoiPool")
def max_roi_pool(step: Step) -> Tensor:
    x, regions = to_channels_last(step, step.input(0)), step.input(1)
    scale = step.real("spatial_scale", 1.0)
    y = step.emit("max_roi_pool", x, regions, size=step.integers("pooled_shape"), scale=scale)
    return from_channels_last(step, y, 4)


@handler("DeformConv")
def deformable_convolution(step: Step) -> Tensor:
    x, filters, offsets = step.input(0), step.input(1), step.input(2)
    if x.rank != 4:
        step.unsupported(f"its input has {x.rank - 2} spatial axes", "two spatial axes are supported")
    made, kernel = channels(step, filters, 0), (channels(step, filters, 2), channels(step, filters, 3))
    strides, dilations = per_axis(step, "strides", 2), per_axis(step, "dilations", 2)
    bias, mask = step.optional(3), step.optional(4)
    rest = [] if bias is None else [bias]
    if mask is not None:
        rest = rest or [step.filled((made,), 0, x.dtype)]
        rest.append(to_channels_last(step, mask))
    y = step.emit(
        "deform_conv2d",
        to_channels_last(step, x),
        to_channels_last(step, filters),
        to_channels_last(step, offsets),
        *rest,
        strides=strides,
        pads=fixed_pads(step, pads_of(step, x, kernel, strides, dilations)),
        dilations=dilations,
        groups=step.integer("group", 1),
        offset_groups=step.integer("offset_group", 1),
    )
    return from_channels_last(step, y, 4)


@handler("Det")
def determinant(step: Step) -> Tensor:
    return step.emit("det", step.input(0))
