"""Matrix products of quantised numbers, and numbers that are quantised by their own range."""

from __future__ import annotations

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.spatial import NO_ACTIVATION
from buildtool.importers.step import Step
from buildtool.ir.dims import product
from buildtool.ir.types import DType


def parameter(step: Step, tensor: Tensor, shape: tuple[int, ...] = ()) -> Tensor:
    """A scale or zero point without axes of one element: one number, or one per row, column or channel."""
    if product(tensor.shape) == 1:
        return step.reshape(tensor, shape)
    return step.reshape(tensor, (product(tensor.shape),)) if tensor.rank > 1 else tensor


def zero_of(step: Step, tensor: Tensor | None, dtype: DType) -> Tensor:
    return step.constant(np.zeros((), dtype.numpy)) if tensor is None else parameter(step, tensor)


def quantised_by_range(step: Step, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """x as 0..255 for its range with 0 in it, its scale and its zero point. A range of one number has the scale 1."""
    axes = tuple(range(x.rank))
    nothing, ones, most = (step.constant(np.array(number, np.float32)) for number in (0, 1, 255))
    low = step.emit("minimum", step.emit("reduce_min", x, axes=axes, keepdims=False), nothing)
    high = step.emit("maximum", step.emit("reduce_max", x, axes=axes, keepdims=False), nothing)
    spread = step.emit("sub", high, low)
    scale = step.emit("where", step.emit("equal", spread, nothing), ones, step.emit("div", spread, most))
    offset = step.emit("round", step.emit("sub", nothing, step.emit("div", low, scale)))
    zero = step.emit("cast", step.emit("clip", offset, low=0.0, high=255.0), to=DType.U8)
    return step.emit("quantize_linear", x, scale, zero, axis=0, block=0, to=DType.U8), scale, zero


def integer_product(
    step: Step,
    a: Tensor,
    b: Tensor,
    scales: tuple[Tensor, Tensor],
    zeros: tuple[Tensor | None, Tensor | None],
    bias: Tensor | None = None,
) -> Tensor:
    """The real numbers that a @ b stands for, summed up as integers. b may have a scale and zero point per column."""
    offsets = [zero_of(step, zero, operand.dtype) for zero, operand in zip(zeros, (a, b), strict=True)]
    sums = step.emit("cast", step.emit("matmul_integer", a, b, *offsets), to=DType.F32)
    scale = step.emit("mul", *(parameter(step, tensor) for tensor in scales))
    y = step.emit("mul", sums, scale)
    return y if bias is None else step.emit("add", y, bias, **NO_ACTIVATION)
