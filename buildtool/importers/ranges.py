"""Ranges of numbers, whose bounds may depend on run-time dimensions, or on data."""

from __future__ import annotations

import math

import numpy as np

from buildtool.importers import ratios
from buildtool.importers.builder import SMALL, Tensor
from buildtool.importers.ratios import Number
from buildtool.importers.spatial import NO_ACTIVATION
from buildtool.importers.step import Step
from buildtool.ir.dims import Dim, DimExpr, bounds, ceil_div, maximum
from buildtool.ir.operator import Array
from buildtool.ir.types import DType

_WHAT = ("start", "limit", "step")


def range_of(step: Step, ends: tuple[Tensor, Tensor, Tensor], dtype: DType | None = None) -> Tensor:
    """From a start in steps to a limit, which is left out. `dtype`: of the elements, where not that of the start."""
    dtype = dtype or ends[0].dtype
    if any(end.known is not None and end.known.size != 1 for end in ends):
        step.malformed("where it starts or ends is not a single number")
    contents = [end.content for end in ends if end.content is not None]
    if len(contents) == len(ends):
        numbers = [float(content.reshape(-1)[0]) for content in contents]
        if numbers[2] == 0 or not all(math.isfinite(number) for number in numbers):
            step.malformed("a range without end")
        count = max(math.ceil((numbers[1] - numbers[0]) / numbers[2]), 0)
        step.check_table(count)
        first, by = contents[0].reshape(-1)[0], contents[2].reshape(-1)[0]
        return step.constant((first + np.arange(count) * by).astype(dtype.numpy))
    if any(end.known is None for end in ends):
        return _of_data(step, ends, dtype)
    start, limit, delta = (_exact(step, end, what) for end, what in zip(ends, _WHAT, strict=True))
    return _of_run_time_size(step, start, limit, delta, dtype)


def _exact(step: Step, end: Tensor, what: str) -> Number:
    assert end.known is not None
    number = ratios.exact(end.known.astype(object).reshape(-1)[0])
    if number is None:
        step.unsupported(f"a range of run-time size whose {what} has many digits", "fix the input shapes")
    return number


def _of_run_time_size(step: Step, start: Number, limit: Number, delta: Number, dtype: DType) -> Tensor:
    count = _count(step, start, limit, delta)
    most = bounds(count)[1]
    if isinstance(start, DimExpr | ratios.Ratio) or isinstance(delta, DimExpr | ratios.Ratio) or most > SMALL:
        y = _counted(step, count, most, dtype)
        y = y if delta == 1 else step.emit("mul", y, _number(delta, dtype))
        return y if start == 0 else step.emit("add", y, _number(start, dtype), **NO_ACTIVATION)
    return _cut(step, np.asarray(float(start) + np.arange(most) * float(delta)).astype(dtype.numpy), count)


def _count(step: Step, start: Number, limit: Number, delta: Number) -> Dim:
    (low, high), (up, down) = bounds(ratios.parts(delta)[0]), ratios.parts(delta)
    if low <= 0 <= high:
        step.malformed("a range without end")
    distance = ratios.apply("sub", limit, start)
    assert distance is not None
    over, under = ratios.parts(distance)
    sign = 1 if low > 0 else -1
    return maximum(ceil_div(over * (sign * down), up * (sign * under)), 0)


def _number(number: Number, dtype: DType) -> Tensor:
    content = np.empty((), object)
    content[()] = number
    return Tensor.of(content, dtype)


def _counted(step: Step, count: Dim, most: int, dtype: DType) -> Tensor:
    """0, 1, 2 and so on."""
    if most <= SMALL:
        return _cut(step, np.arange(most).astype(dtype.numpy), count)
    ones = step.emit("broadcast_to", step.constant(np.ones((), dtype.numpy)), shape=(count,))
    return step.emit("cumsum", ones, axis=0, exclusive=True, reverse=False)


def _cut(step: Step, longest: Array, count: Dim) -> Tensor:
    return step.emit("slice", step.constant(longest), starts=(0,), steps=(1,), sizes=(count,))


# -- where the data says how many --------------------------------------------------------------------------------------
def _of_data(step: Step, ends: tuple[Tensor, Tensor, Tensor], dtype: DType) -> Tensor:
    """The places below a count that is computed from the ends, as a size that only the data decides."""
    wide = DType.S64 if all(end.dtype.is_integer for end in ends) else DType.F64
    start, limit, delta = (step.reshape(_as(step, end, wide), ()) for end in ends)
    count = _as(step, _count_of_data(step, start, limit, delta), DType.S64)
    most = step.most(count)
    if most is None:
        step.unsupported(
            "the data decides how many numbers there are, and nothing in the model bounds it",
            "bound where it ends in the model, with Min or Clip before the node, so that memory can be planned",
        )
    most = max(most, 0)
    step.check_table(most)
    within = step.emit("less", step.constant(np.arange(most)), count)
    (places,) = step.emit_sized("non_zero", most, within)
    y = _as(step, step.reshape(places, places.shape[1:]), wide)
    y = y if _is(delta, 1) else step.emit("mul", y, delta)
    return _as(step, y if _is(start, 0) else step.emit("add", y, start, **NO_ACTIVATION), dtype)


def _count_of_data(step: Step, start: Tensor, limit: Tensor, delta: Tensor) -> Tensor:
    """How many there are, rounded up; below 0 where there are none."""
    if delta.content is None:
        step.unsupported("its step is known only at run time", "make it a constant in the model")
    by = delta.content.item()
    if by == 0 or not math.isfinite(by):
        step.malformed("a range without end")
    distance = limit if _is(start, 0) else step.emit("sub", limit, start)
    if delta.dtype is DType.F64:
        share = distance if by == 1 else step.emit("div", distance, delta)
        return step.emit("ceil", share)
    distance = distance if by > 0 else step.emit("neg", distance)
    if abs(by) == 1:
        return distance
    last = step.emit("add", distance, step.constant(np.array(abs(by) - 1)), **NO_ACTIVATION)
    # Division cuts towards 0: what is below it gives no more than 0.
    return step.emit("div", last, step.constant(np.array(abs(by))))


def _as(step: Step, tensor: Tensor, dtype: DType) -> Tensor:
    return tensor if tensor.dtype is dtype else step.emit("cast", tensor, to=dtype)


def _is(tensor: Tensor, number: int) -> bool:
    return tensor.content is not None and bool(tensor.content.item() == number)
