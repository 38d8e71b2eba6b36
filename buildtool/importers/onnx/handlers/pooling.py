"""MaxPool, AveragePool, LpPool and the global pools, which are reductions.

Pools over three and more spatial axes are pools over two of them at a time: the largest element of a box is that of
its lines, the mean of a box is the mean of the means, and as much holds for how many elements of a window count.
"""

from __future__ import annotations

from dataclasses import dataclass

from buildtool.importers.builder import Tensor
from buildtool.importers.onnx.pads import pads_of
from buildtool.importers.onnx.registry import handler
from buildtool.importers.powers import power, root
from buildtool.importers.spatial import (
    NO_ACTIVATION,
    channels,
    from_channels_last,
    per_axis,
    spatial_rank,
    spatial_sizes,
    to_channels_last,
)
from buildtool.importers.step import Step
from buildtool.ir.attributes import AttrValue
from buildtool.ir.dims import product
from buildtool.ir.types import DType

_MOST_AXES = 6
_NARROW = (DType.S8, DType.U8, DType.S16, DType.U16)  # integers that f32 holds exactly


@dataclass(frozen=True)
class _Window:
    """One entry per spatial axis, for at least two axes; `pads` has those before and then those behind."""

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    pads: tuple[int, ...]
    dilations: tuple[int, ...]

    def along(self, *axes: int | None) -> dict[str, AttrValue]:
        """The attributes of a pool over two of the axes; None is an axis where nothing happens."""

        def picked(values: tuple[int, ...], idle: int) -> tuple[int, ...]:
            return tuple(idle if axis is None else values[axis] for axis in axes)

        rank = len(self.kernel)
        return {
            "kernel": picked(self.kernel, 1),
            "strides": picked(self.strides, 1),
            "pads": picked(self.pads[:rank], 0) + picked(self.pads[rank:], 0),
            "dilations": picked(self.dilations, 1),
        }


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
        pads=window.pads,
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


def _window(step: Step, x: Tensor) -> _Window:
    rank = x.rank - 2
    if not step.has("kernel_shape"):
        step.malformed("the attribute 'kernel_shape' is missing")
    kernel = per_axis(step, "kernel_shape", rank)
    strides, dilations = per_axis(step, "strides", rank), per_axis(step, "dilations", rank)
    return _Window(kernel, strides, pads_of(step, x, kernel, strides, dilations), dilations)


def _pooled(step: Step, x: Tensor, op: str, more: dict[str, AttrValue]) -> Tensor:
    spatial_rank(step, x, _MOST_AXES)
    return from_channels_last(step, _boxes(step, to_channels_last(step, x), op, _window(step, x), more), x.rank)


def _boxes(step: Step, x: Tensor, op: str, window: _Window, more: dict[str, AttrValue]) -> Tensor:
    """A pool over all spatial axes: the last two at once, then one by one."""
    rank = len(window.kernel)
    x = _over_two_axes(step, x, op, rank - 2, window.along(rank - 2, rank - 1) | more)
    for axis in reversed(range(rank - 2)):
        x = _over_two_axes(step, x, op, axis, window.along(axis, None) | more)
    return x


def _over_two_axes(step: Step, x: Tensor, op: str, first: int, attributes: dict[str, AttrValue]) -> Tensor:
    """A pool over spatial axis `first` and all behind it as one; the spatial axes before it count as batch."""
    if x.rank == 4:
        return _pool(step, x, op, attributes)
    axis = 1 + first
    before, behind = x.shape[:axis], x.shape[axis + 1 : -1]
    y = _pool(step, step.reshape(x, (product(before), x.shape[axis], product(behind), x.shape[-1])), op, attributes)
    if len(behind) == 1:  # then the second axis was pooled as well
        behind = y.shape[2:3]
    return step.reshape(y, (*before, y.shape[1], *behind, x.shape[-1]))


def _pool(step: Step, x: Tensor, op: str, attributes: dict[str, AttrValue]) -> Tensor:
    if op != "sum":
        return step.emit(op, x, **attributes)
    kernel, rest = attributes["kernel"], {key: value for key, value in attributes.items() if key != "kernel"}
    assert isinstance(kernel, tuple)
    sides = [side for side in kernel if isinstance(side, int)]
    ones = step.filled((*sides, channels(step, x, -1)), 1, x.dtype)
    return step.emit("dwconv2d", x, ones, multiplier=1, **rest, **NO_ACTIVATION)


@handler("LpPool")
def lp_pool(step: Step) -> Tensor:
    """The root of a sum of powers: the sum is a depthwise convolution with ones, one or two axes at a time."""
    x, p = step.input(0), step.integer("p", 2)
    spatial_rank(step, x, _MOST_AXES)
    if p < 1:
        step.malformed(f"the attribute 'p' is {p}, which is not positive")
    window = _window(step, x)
    if step.integer("ceil_mode", 0):
        window = _up_to_the_end(step, x, window)
    y = _boxes(step, to_channels_last(step, power(step, x, p)), "sum", window, {})
    return from_channels_last(step, root(step, y, p), x.rank)


def _up_to_the_end(step: Step, x: Tensor, window: _Window) -> _Window:
    """The same windows without `ceil_mode`: more padding behind, where a last window hangs over the end."""
    rank = len(window.kernel)
    pads = list(window.pads)
    for axis, size in enumerate(spatial_sizes(x)):
        if not isinstance(size, int):
            step.unsupported("ceil_mode with a run-time size", "fix the input shapes")
        before, after, stride = pads[axis], pads[axis + rank], window.strides[axis]
        extent = (window.kernel[axis] - 1) * window.dilations[axis] + 1
        count = -(-(size + before + after - extent) // stride) + 1
        if (count - 1) * stride >= size + before:
            count -= 1
        pads[axis + rank] = max((count - 1) * stride + extent - size - before, 0)
    return _Window(window.kernel, window.strides, tuple(pads), window.dilations)


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
