"""MaxPool, AveragePool, LpPool and the global pools, which are reductions."""

from __future__ import annotations

from buildtool.importers.builder import Tensor
from buildtool.importers.onnx.pads import pads_of
from buildtool.importers.onnx.registry import handler
from buildtool.importers.pools import Window, boxes, check_windows
from buildtool.importers.powers import power, root
from buildtool.importers.spatial import (
    channels_first,
    channels_last,
    fixed_pads,
    from_channels_last,
    per_axis,
    spatial_rank,
    spatial_sizes,
    to_channels_last,
)
from buildtool.importers.step import Step
from buildtool.importers.windows import padded
from buildtool.ir.attributes import AttrValue
from buildtool.ir.dims import ceil_div, maximum, minimum
from buildtool.ir.types import DType
from buildtool.ops._shapes import extent

_MOST_AXES = 6
_NARROW = (DType.S8, DType.U8, DType.S16, DType.U16)  # integers that f32 holds exactly


@handler("MaxPool")
def max_pool(step: Step) -> Tensor | tuple[Tensor, ...]:
    x = step.input(0)
    narrow = x.dtype if x.dtype in _NARROW else None
    if narrow is not None:
        x = step.emit("cast", x, to=DType.F32)
    if len(step.node.outputs) > 1 and step.node.outputs[1]:
        y, indices = _with_indices(step, x)
        return (step.emit("cast", y, to=narrow) if narrow is not None else y), indices
    y = _pooled(step, x, "max_pool2d", {"ceil_mode": bool(step.integer("ceil_mode", 0))})
    return step.emit("cast", y, to=narrow) if narrow is not None else y


@handler("com.microsoft.NhwcMaxPool")
def max_pool_of_channels_last(step: Step) -> Tensor:
    """Of numbers of 8 bits."""
    x = step.emit("cast", channels_first(step, step.input(0)), to=DType.F32)
    y = _pooled(step, x, "max_pool2d", {"ceil_mode": bool(step.integer("ceil_mode", 0))})
    return step.emit("cast", channels_last(step, y), to=step.input(0).dtype)


def _with_indices(step: Step, x: Tensor) -> tuple[Tensor, ...]:
    rank = spatial_rank(step, x, _MOST_AXES)
    window = _window(step, x)
    if rank == 1:
        x = step.reshape(x, (x.shape[0], x.shape[1], 1, x.shape[2]))
    outputs = step.emit_all(
        "max_pool_indices",
        x,
        kernel=window.kernel,
        strides=window.strides,
        pads=fixed_pads(step, window.pads),
        dilations=window.dilations,
        ceil_mode=bool(step.integer("ceil_mode", 0)),
        column_major=bool(step.integer("storage_order", 0)),
    )
    if rank > 1:
        return outputs
    return tuple(step.reshape(y, (y.shape[0], y.shape[1], y.shape[3])) for y in outputs)


@handler("AveragePool")
def average_pool(step: Step) -> Tensor:
    more: dict[str, AttrValue] = {
        "ceil_mode": bool(step.integer("ceil_mode", 0)),
        "count_include_pad": bool(step.integer("count_include_pad", 0)),
    }
    return _pooled(step, step.input(0), "avg_pool2d", more)


def _window(step: Step, x: Tensor) -> Window:
    rank = x.rank - 2
    if not step.has("kernel_shape"):
        step.malformed("the attribute 'kernel_shape' is missing")
    kernel = per_axis(step, "kernel_shape", rank)
    strides, dilations = per_axis(step, "strides", rank), per_axis(step, "dilations", rank)
    window = Window(kernel, strides, pads_of(step, x, kernel, strides, dilations), dilations)
    check_windows(step, spatial_sizes(x), window, bool(step.integer("ceil_mode", 0)))
    return window


def _pooled(step: Step, x: Tensor, op: str, more: dict[str, AttrValue]) -> Tensor:
    spatial_rank(step, x, _MOST_AXES)
    return from_channels_last(step, boxes(step, to_channels_last(step, x), op, _window(step, x), more), x.rank)


@handler("LpPool")
def lp_pool(step: Step) -> Tensor:
    """The root of a sum of powers: the sum is a depthwise convolution with ones, one or two axes at a time."""
    x, p = step.input(0), step.integer("p", 2)
    spatial_rank(step, x, _MOST_AXES)
    if p < 1:
        step.malformed(f"the attribute 'p' is {p}, which is not positive")
    window = _window(step, x)
    moved = to_channels_last(step, power(step, x, p))
    if step.integer("ceil_mode", 0):
        moved, window = _up_to_the_end(step, moved, window)
    y = boxes(step, moved, "sum", window, {})
    return from_channels_last(step, root(step, y, p), x.rank)


def _up_to_the_end(step: Step, x: Tensor, window: Window) -> tuple[Tensor, Window]:
    """The same windows over [N, ..., C] without `ceil_mode`: padded, where a last window hangs over the end."""
    rank = len(window.kernel)
    pads = fixed_pads(step, window.pads)
    before, after, sizes = pads[:rank], [], []
    for axis, size in enumerate(x.shape[1:-1]):
        stride, behind = window.strides[axis], pads[axis + rank]
        span = extent(window.kernel[axis], window.dilations[axis])
        within = ceil_div(size + before[axis] + behind - span, stride) + 1
        count = minimum(within, ceil_div(size + before[axis], stride))
        sizes.append((count - 1) * stride + span)
        hanging = maximum(sizes[-1] - size - before[axis], 0)
        after.append(minimum(hanging, behind + stride))  # which says how wide it can be
    wide = padded(step, x, (0, *before, 0), (0, *after, 0), 0.0, (None, *sizes, None))
    return wide, Window(window.kernel, window.strides, (0,) * (2 * rank), window.dilations)


@handler("GlobalAveragePool")
def global_average_pool(step: Step) -> Tensor:
    return _reduced(step, step.input(0), "reduce_mean")


@handler("GlobalMaxPool")
def global_max_pool(step: Step) -> Tensor:
    return _reduced(step, step.input(0), "reduce_max")


@handler("GlobalLpPool")
def global_lp_pool(step: Step) -> Tensor:
    p = step.integer("p", 2)
    if p < 1:
        step.malformed(f"the attribute 'p' is {p}, which is not positive")
    return root(step, _reduced(step, power(step, step.input(0), p), "reduce_sum"), p)


def _reduced(step: Step, x: Tensor, op: str) -> Tensor:
    if x.rank < 3:
        step.malformed(f"its input has rank {x.rank}, not batch, channels and spatial axes")
    return step.emit(op, x, axes=tuple(range(2, x.rank)), keepdims=True)
