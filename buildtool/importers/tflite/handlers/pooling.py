"""Pools, and MediaPipe's pool that tells where in its window each element lay, with its way back."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.spatial import NO_ACTIVATION, fixed_pads, same_pads
from buildtool.importers.step import Step
from buildtool.importers.tflite.custom_options import integers
from buildtool.importers.tflite.registry import handler
from buildtool.importers.tflite.values import activated, activated_bytes, pads, positive_pair, real, stored
from buildtool.importers.windows import windowed
from buildtool.ir.attributes import AttrValue
from buildtool.ir.types import DType


@handler("MAX_POOL_2D")
def max_pool(step: Step) -> Tensor:
    """Of quantised numbers the largest stands for the largest."""
    x = step.input(0)
    if x.dtype.is_float:
        return activated(step, windowed(step, "max_pool2d", x, ceil_mode=False, **_window(step, x)))
    y = windowed(step, "max_pool2d", step.emit("cast", x, to=DType.F32), ceil_mode=False, **_window(step, x))
    return activated_bytes(step, step.emit("cast", y, to=x.dtype))


@handler("AVERAGE_POOL_2D")
def average_pool(step: Step) -> Tensor:
    return stored(step, activated(step, _average(step, real(step, 0))))


@handler("L2_POOL_2D")
def norm_pool(step: Step) -> Tensor:
    x = real(step, 0)
    return stored(step, activated(step, step.emit("sqrt", _average(step, step.emit("mul", x, x)))))


def _average(step: Step, x: Tensor) -> Tensor:
    return windowed(step, "avg_pool2d", x, ceil_mode=False, count_include_pad=False, **_window(step, x))


def _window(step: Step, x: Tensor) -> dict[str, AttrValue]:
    if x.rank != 4:
        step.malformed(f"the image has rank {x.rank}, not 4")
    kernel = positive_pair(step, "filter_height", "filter_width")
    strides = positive_pair(step, "stride_h", "stride_w")
    return {
        "kernel": kernel,
        "strides": strides,
        "pads": pads(step, x.shape[1:3], kernel, strides, (1, 1)),
        "dilations": (1, 1),
    }


# -- MediaPipe ---------------------------------------------------------------------------------------------------------
def _options(step: Step) -> tuple[bool, tuple[int, int], tuple[int, int]]:
    """Whether the padding is `same`, the strides and the sides of the window."""
    padding, across, down, width, height, *_ = integers(step, 5)
    if padding not in (1, 2) or min(across, down, width, height) < 1:
        step.malformed(f"padding {padding}, strides {down} and {across}, a window of {height} x {width}")
    step.check_table(height, width)
    return padding == 1, (down, across), (height, width)


@handler("MaxPoolingWithArgmax2D")
def max_pool_with_places(step: Step) -> Sequence[Tensor]:
    """The second output counts the elements of the window row by row, plus 0.1: MediaPipe cuts it to a whole number."""
    x = step.input(0)
    same, strides, kernel = _options(step)
    if x.rank != 4 or not x.dtype.is_float or DType.F32 is not step.made_dtype(-1):
        step.unsupported("a pool of other than 32-bit images that tells places", "use MediaPipe's own form")
    around = fixed_pads(step, same_pads(step, x.shape[1:3], kernel, strides, (1, 1))) if same else (0, 0, 0, 0)
    if any(around):
        ends = (0, around[0], around[1], 0), (0, around[2], around[3], 0)
        x = step.emit("pad", x, before=ends[0], after=ends[1], mode="constant", value=float(np.finfo(np.float32).min))
    taps = [_tap(step, x, row, column, kernel, strides) for row in range(kernel[0]) for column in range(kernel[1])]
    rows = step.emit("concat", *(step.reshape(tap, (1, *tap.shape)) for tap in taps), axis=0)
    place = step.emit("argmax", rows, axis=0, keepdims=False, select_last_index=False)
    number = step.emit("cast", place, to=DType.F32)
    tenth = step.constant(np.array(0.1, np.float32))
    return step.emit("reduce_max", rows, axes=(0,), keepdims=False), step.emit("add", number, tenth, **NO_ACTIVATION)


def _tap(step: Step, x: Tensor, row: int, column: int, kernel: tuple[int, int], strides: tuple[int, int]) -> Tensor:
    """What all windows read at one of their places."""
    sizes = [(x.shape[1 + axis] - kernel[axis]) // strides[axis] + 1 for axis in range(2)]
    return step.emit(
        "slice",
        x,
        starts=(0, row, column, 0),
        steps=(1, *strides, 1),
        sizes=(x.shape[0], *sizes, x.shape[3]),
    )


@handler("MaxUnpooling2D")
def max_unpool(step: Step) -> Tensor:
    """Each element goes to its place in a window that is zero elsewhere."""
    x, places = step.input(0), step.input(1)
    _, strides, kernel = _options(step)
    if x.rank != 4 or not x.dtype.is_float or not places.dtype.is_float:
        step.unsupported("an unpooling of other than 32-bit images", "use MediaPipe's own form")
    if strides != kernel:
        step.unsupported(f"windows of {list(kernel)} every {list(strides)} elements", "windows side by side are known")
    whole = step.emit("cast", places, to=DType.S32)
    nothing = step.constant(np.zeros((), x.dtype.numpy))
    batch, height, width, count = x.shape
    taps = []
    for tap in range(kernel[0] * kernel[1]):
        here = step.emit("equal", whole, step.constant(np.array(tap, np.int32)))
        taps.append(step.reshape(step.emit("where", here, x, nothing), (batch, height, 1, width, 1, count)))
    lines = [step.emit("concat", *taps[row * kernel[1] : (row + 1) * kernel[1]], axis=4) for row in range(kernel[0])]
    y = step.emit("concat", *lines, axis=2)
    return step.reshape(y, (batch, height * kernel[0], width * kernel[1], count))
