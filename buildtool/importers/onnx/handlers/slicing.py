"""Slice (attributes in opset 7 to 9, inputs from 10) and Gather."""

from __future__ import annotations

from buildtool.importers.builder import Tensor
from buildtool.importers.onnx.registry import handler
from buildtool.importers.slices import interval
from buildtool.importers.step import Step
from buildtool.ir.dims import Dim

_WITHOUT_END = (2**31 - 1, 2**63 - 1)


@handler("Slice")
def slice_(step: Step) -> Tensor:
    x = step.input(0)
    starts: tuple[Dim, ...]
    ends: tuple[Dim, ...]
    if step.opset < 10:
        starts, ends = step.integers("starts"), step.integers("ends")
        axes, steps = step.integers("axes", range(len(starts))), (1,) * len(starts)
    else:
        starts, ends = step.known_dims(1, "starts"), step.known_dims(2, "ends")
        axes = step.known_ints(3, "axes") if step.optional(3) is not None else tuple(range(len(starts)))
        steps = step.known_ints(4, "steps") if step.optional(4) is not None else (1,) * len(starts)
    if not len(starts) == len(ends) == len(axes) == len(steps):
        step.malformed("starts, ends, axes and steps differ in length")
    first: list[Dim] = [0] * x.rank
    sizes = list(x.shape)
    strides = [1] * x.rank
    for axis, start, end, stride in zip(step.axes(axes, x.rank), starts, ends, steps, strict=True):
        if stride == 0:
            step.malformed("a step is 0")
        first[axis], sizes[axis] = interval(x.shape[axis], start, _end(end, stride), stride, start_inside=True)
        strides[axis] = max(min(stride, 2**31 - 1), -(2**31 - 1))
    return step.emit("slice", x, starts=tuple(first), steps=tuple(strides), sizes=tuple(sizes))


def _end(end: Dim, stride: int) -> Dim:
    """The largest integers mean that there is no end, in onnxruntime also where the step is negative."""
    return -(2**63) if stride < 0 and isinstance(end, int) and end in _WITHOUT_END else end


@handler("Gather")
def gather(step: Step) -> Tensor:
    x, indices = step.input(0), step.input(1)
    return step.emit("gather", x, indices, axis=step.axis(step.integer("axis", 0), x.rank))
