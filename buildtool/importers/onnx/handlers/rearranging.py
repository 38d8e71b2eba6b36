"""Operators that put elements into another arrangement: blocks, sequences, triangles, borders, windows."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.onnx.registry import handler
from buildtool.importers.spatial import from_channels_last, to_channels_last
from buildtool.importers.step import Step
from buildtool.importers.windows import padded
from buildtool.ir.dims import Dim, bounds, maximum, product


@handler("DepthToSpace")
def depth_to_space(step: Step) -> Tensor:
    return _blocks(step, "depth_to_space")


@handler("SpaceToDepth")
def space_to_depth(step: Step) -> Tensor:
    return _blocks(step, "space_to_depth")


def _blocks(step: Step, op: str) -> Tensor:
    x = step.input(0)
    if x.rank != 4:
        step.malformed(f"its input has rank {x.rank}, not batch, channels, height and width")
    mode = step.text("mode", "DCR")
    y = step.emit(op, to_channels_last(step, x), block=step.integer("blocksize"), mode=mode)
    return from_channels_last(step, y, 4)


@handler("ReverseSequence")
def reverse_sequence(step: Step) -> Tensor:
    x = step.input(0)
    batch, time = step.axis(step.integer("batch_axis", 1), x.rank), step.axis(step.integer("time_axis", 0), x.rank)
    return step.emit("reverse_sequence", x, step.input(1), batch_axis=batch, time_axis=time)


@handler("Trilu")
def trilu(step: Step) -> Tensor:
    k = step.known_whole(1, "k") if step.optional(1) is not None else 0
    k = min(max(k, -(2**31)), 2**31 - 1)  # no matrix reaches as far
    return step.emit("trilu", step.input(0), upper=bool(step.integer("upper", 1)), k=k)


@handler("CenterCropPad")
def center_crop_pad(step: Step) -> Tensor:
    x, goals = step.input(0), step.known_dims(1, "shape")
    axes = step.axes(step.integers("axes", range(x.rank)), x.rank)
    if len(goals) != len(axes):
        step.malformed(f"it has {len(goals)} sizes for {len(axes)} axes")
    starts: list[Dim] = [0] * x.rank
    sizes = list(x.shape)
    before: list[Dim] = [0] * x.rank
    after: list[Dim] = [0] * x.rank
    for axis, goal in zip(axes, goals, strict=True):
        surplus = x.shape[axis] - goal
        if bounds(surplus)[0] >= 0:
            starts[axis], sizes[axis] = surplus // 2, goal
        else:  # a width below 0 is a crop
            before[axis] = maximum(goal - x.shape[axis], 0) // 2 - maximum(surplus, 0) // 2
            after[axis] = goal - x.shape[axis] - before[axis]
    if tuple(sizes) != x.shape:
        x = step.emit("slice", x, starts=tuple(starts), steps=(1,) * x.rank, sizes=tuple(sizes))
    if not any(before) and not any(after):
        return step.emit("identity", x)
    if all(isinstance(width, int) for width in (*before, *after)):
        return step.emit("pad", x, before=tuple(before), after=tuple(after), mode="constant", value=0.0)
    wanted: dict[int, Dim] = dict(zip(axes, goals, strict=True))
    return padded(step, x, before, after, 0.0, [wanted.get(axis) for axis in range(x.rank)])


@handler("Col2Im")
def col2im(step: Step) -> Tensor:
    image, block = step.known_ints(1, "image_shape"), step.known_ints(2, "block_shape")
    spatial = len(image)
    return step.emit(
        "col2im",
        step.input(0),
        image=image,
        block=block,
        strides=step.integers("strides", (1,) * spatial),
        pads=step.integers("pads", (0,) * (2 * spatial)),
        dilations=step.integers("dilations", (1,) * spatial),
    )


@handler("MaxUnpool")
def max_unpool(step: Step) -> Tensor:
    """The indices count the elements of the whole result: scattered into zeros, in one dimension."""
    x, indices = step.input(0), step.input(1)
    shape = _unpooled_shape(step, x)
    zero = step.constant(np.zeros((), x.dtype.numpy))
    flat = step.emit(
        "scatter_elements",
        step.emit("broadcast_to", zero, shape=(product(shape),)),
        step.reshape(indices, (product(indices.shape),)),
        step.reshape(x, (product(x.shape),)),
        axis=0,
        reduction="none",
    )
    y = step.reshape(flat, shape)
    if step.optional(2) is None:
        return y
    wanted = step.known_ints(2, "output_shape")
    missing = [goal - dim if isinstance(dim, int) else 0 for goal, dim in zip(wanted, shape, strict=True)]
    if any(isinstance(dim, int) and goal < dim for goal, dim in zip(wanted, shape, strict=True)):
        step.unsupported(f"an output of {list(wanted)}, smaller than {list(shape)}", "state the size that was pooled")
    if not any(missing):
        return y
    return step.emit("pad", y, before=(0,) * y.rank, after=tuple(missing), mode="constant", value=0.0)


def _unpooled_shape(step: Step, x: Tensor) -> tuple[Dim, ...]:
    kernel = step.integers("kernel_shape")
    spatial = len(kernel)
    strides, pads = step.integers("strides", (1,) * spatial), step.integers("pads", (0,) * (2 * spatial))
    if x.rank != spatial + 2 or len(strides) != spatial or len(pads) != 2 * spatial:
        step.malformed(f"its attributes do not fit an input of rank {x.rank}")
    sides = [
        (x.shape[axis + 2] - 1) * strides[axis] - (pads[axis] + pads[axis + spatial]) + kernel[axis]
        for axis in range(spatial)
    ]
    _check_size(step, sides)
    return (*x.shape[:2], *sides)


def _check_size(step: Step, sides: Sequence[Dim]) -> None:
    numbers = [side for side in sides if isinstance(side, int)]
    if any(side < 1 for side in numbers) or math.prod(numbers) >= 2**40:
        step.malformed(f"the result would have the sides {list(sides)}")
