"""Pictures read where other tensors tell: grids, regions."""

from __future__ import annotations

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.paddle.offsets import offsets_slot
from buildtool.importers.paddle.registry import Outputs, handler, maybe, one
from buildtool.importers.paddle.values import flag, real, to_first, to_last, whole
from buildtool.importers.step import Step
from buildtool.ir.operator import Array
from buildtool.ir.types import DType

_MODES = {"bilinear": "linear", "nearest": "nearest"}


@handler("grid_sampler")
def grid_sampler(step: Step) -> Outputs:
    x = one(step, "X")
    mode, padding = step.text("mode", "bilinear"), step.text("padding_mode", "zeros")
    if mode not in _MODES or padding not in ("zeros", "border", "reflection"):
        step.malformed(f"the mode '{mode}' with '{padding}' around the image")
    y = step.emit(
        "grid_sample",
        to_last(step, x),
        one(step, "Grid"),
        mode=_MODES[mode],
        padding=padding,
        align_corners=flag(step, "align_corners", True),
    )
    return {"Output": to_first(step, y)}


@handler("affine_grid")
def affine_grid(step: Step) -> Outputs:
    """The places of all elements, which are known, times the transformations."""
    theta = one(step, "Theta")
    size = whole(step, "output_shape", "OutputShape")
    if len(size) not in (4, 5) or any(side < 1 for side in size):
        step.malformed(f"the size {list(size)} is not that of images or volumes")
    axes = len(size) - 2
    step.check_table(*size[2:], axes + 1)
    places = _all_places(size[2:], flag(step, "align_corners", True)).astype(theta.dtype.numpy)
    moved = step.emit("matmul", step.constant(places), step.transpose(theta, (0, 2, 1)))
    return {"Output": step.reshape(moved, (theta.shape[0], *size[2:], axes))}


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


@handler("roi_align")
def roi_align(step: Step) -> Tensor:
    """All regions are of one picture: which belongs to which is a matter of lengths, which tensors here do not have."""
    x, regions = step.check_rank(one(step, "X"), 4), step.check_rank(one(step, "ROIs"), 2, what="its regions")
    if x.shape[0] != 1 and maybe(step, "RoisNum") is None:
        step.unsupported("regions of several images", "import the model with a batch of one")
    count = regions.shape[0]
    pictures = step.emit("broadcast_to", step.filled((1,), 0, DType.S64), shape=(count,))
    if x.shape[0] != 1:
        step.unsupported("regions of several images", "import the model with a batch of one")
    y = step.emit(
        "roi_align",
        to_last(step, x),
        regions,
        pictures,
        size=(step.integer("pooled_height", 1), step.integer("pooled_width", 1)),
        samples=max(step.integer("sampling_ratio", -1), 0),
        scale=real(step, "spatial_scale", default=1.0),
        mode="mean",
        half_pixel=flag(step, "aligned"),
    )
    return to_first(step, y)


@handler("im2sequence")
def windows_as_rows(step: Step) -> Outputs:
    """Each window of a picture is a row: [windows, C * KH * KW]."""
    x = one(step, "X")
    kernel, strides = step.integers("kernels"), step.integers("strides", (1, 1))
    amounts = step.integers("paddings", (0, 0, 0, 0))  # top, left, bottom, right
    if x.rank != 4 or len(kernel) != 2 or len(strides) != 2 or len(amounts) != 4 or x.shape[0] != 1:
        step.unsupported("windows of several images", "import the model with a batch of one")
    if min(*kernel, *strides) < 1:
        step.malformed(f"windows of {list(kernel)} with the strides {list(strides)}")
    if any(amounts):
        x = step.emit("pad", x, before=(0, 0, *amounts[:2]), after=(0, 0, *amounts[2:]), mode="constant", value=0.0)
    for axis in (0, 1):
        size = x.shape[2 + 2 * axis]
        if not isinstance(size, int):
            step.unsupported("windows of images of a run-time size", "fix the input shapes")
        count = (size - kernel[axis]) // strides[axis] + 1
        step.check_table(max(count, 1), max(kernel[axis], 1))
        places = np.arange(count)[:, None] * strides[axis] + np.arange(kernel[axis])
        x = step.emit("gather", x, step.constant(places.astype(np.int32)), axis=2 + 2 * axis)
    _, depth, down, high, across, wide = x.shape
    turned = step.transpose(x, (0, 2, 4, 1, 3, 5))
    ends = np.empty(2, object)
    ends[:] = 0, down * across
    y = step.reshape(turned, (down * across, depth * high * wide))
    return {"Out": y, offsets_slot("Out"): Tensor.of(ends, DType.S64)}
