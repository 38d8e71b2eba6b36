"""Pools over pictures and volumes, and the patches that a window sees."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.pools import Window, boxes
from buildtool.importers.spatial import NO_ACTIVATION, channels, fixed_pads, same_pads
from buildtool.importers.step import Step
from buildtool.importers.tensorflow.registry import handler
from buildtool.importers.tensorflow.values import Picture, element_type
from buildtool.ir.attributes import AttrValue
from buildtool.ir.types import DType

_RANKS = {"MaxPool": 4, "AvgPool": 4, "MaxPoolV2": 4, "MaxPool3D": 5, "AvgPool3D": 5, "MaxPoolWithArgmax": 4}


def _window(step: Step, picture: Picture, x: Tensor) -> Window:
    if step.node.op == "MaxPoolV2":
        kernel = picture.spatial("ksize", step.known_ints(1, "ksize"))
        strides = picture.spatial("strides", step.known_ints(2, "strides"))
    else:
        kernel, strides = picture.listed("ksize"), picture.listed("strides")
    idle = (1,) * len(kernel)
    return Window(kernel, strides, picture.pads(x.shape[1:-1], kernel, strides, idle), idle)


@handler("MaxPool", "MaxPoolV2", "MaxPool3D")
def max_pool(step: Step) -> Tensor:
    picture = Picture.of(step, step.input(0), _RANKS[step.node.op])
    x = picture.last(step.input(0))
    numbers = x if x.dtype.is_float else step.emit("cast", x, to=DType.F32)
    y = boxes(step, numbers, "max_pool2d", _window(step, picture, x), {"ceil_mode": False})
    return picture.back(y if x.dtype.is_float else step.emit("cast", y, to=x.dtype))


@handler("AvgPool", "AvgPool3D")
def average_pool(step: Step) -> Tensor:
    picture = Picture.of(step, step.input(0), _RANKS[step.node.op])
    x = picture.last(step.input(0))
    more: dict[str, AttrValue] = {"ceil_mode": False, "count_include_pad": False}
    return picture.back(boxes(step, x, "avg_pool2d", _window(step, picture, x), more))


@handler("MaxPoolWithArgmax")
def max_pool_with_places(step: Step) -> Sequence[Tensor]:
    """The places count the elements of an image, channels last; those of the graph count all, channels first."""
    picture = Picture.of(step, step.input(0), 4)
    x, window = step.input(0), _window(step, picture, step.input(0))
    if step.integer("include_batch_in_index", 0) or not all(isinstance(dim, int) for dim in x.shape[1:]):
        step.unsupported("places that count all images, or in an image of a run-time size", "fix the input shapes")
    height, width, count = (channels(step, x, axis) for axis in (1, 2, 3))
    y, places = step.emit_all(
        "max_pool_indices",
        step.transpose(x, (0, 3, 1, 2)),
        kernel=window.kernel,
        strides=window.strides,
        pads=fixed_pads(step, window.pads),
        dilations=window.dilations,
        ceil_mode=False,
        column_major=False,
    )
    area, deep = (step.constant(np.array(number, np.int64)) for number in (height * width, count))
    pixel = step.emit("mul", step.emit("mod", places, area, fmod=False), deep)
    channel = step.constant(np.arange(count, dtype=np.int64).reshape(1, count, 1, 1))
    flat = step.emit("add", pixel, channel, **NO_ACTIVATION)
    wanted = element_type(step, "Targmax", 9)
    flat = flat if wanted is DType.S64 else step.emit("cast", flat, to=wanted)
    return step.transpose(y, (0, 2, 3, 1)), step.transpose(flat, (0, 2, 3, 1))


@handler("ExtractImagePatches")
def patches(step: Step) -> Tensor:
    """Each place of the window gives one slice of the picture; the slices become channels, row by row."""
    x = step.input(0)
    picture = Picture.of(step, x, 4)
    kernel, strides, rates = (picture.listed(name) for name in ("ksizes", "strides", "rates"))
    step.check_table(*kernel)
    padding = step.text("padding")
    if padding not in ("SAME", "VALID"):
        step.malformed(f"the padding is '{padding}'")
    pads = (
        fixed_pads(step, same_pads(step, x.shape[1:3], kernel, strides, rates)) if padding == "SAME" else (0, 0, 0, 0)
    )
    if any(pads):
        ends = (0, *pads[:2], 0), (0, *pads[2:], 0)
        x = step.emit("pad", x, before=ends[0], after=ends[1], mode="constant", value=0.0)
    extents = [(side - 1) * rate + 1 for side, rate in zip(kernel, rates, strict=True)]
    sizes = [(x.shape[1 + axis] - extents[axis]) // strides[axis] + 1 for axis in range(2)]
    taps = [
        step.emit(
            "slice",
            x,
            starts=(0, row * rates[0], column * rates[1], 0),
            steps=(1, *strides, 1),
            sizes=(x.shape[0], *sizes, x.shape[3]),
        )
        for row in range(kernel[0])
        for column in range(kernel[1])
    ]
    return taps[0] if len(taps) == 1 else step.emit("concat", *taps, axis=3)
