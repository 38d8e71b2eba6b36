"""Ranges of numbers, whose bounds may depend on run-time dimensions."""

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
    start, limit, delta = (_exact(step, end, what) for end, what in zip(ends, _WHAT, strict=True))
    return _of_run_time_size(step, start, limit, delta, dtype)


def _exact(step: Step, end: Tensor, what: str) -> Number:
    if end.known is None:
        step.unsupported(f"its {what} is known only at run time", "let it depend on the sizes of inputs only")
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
