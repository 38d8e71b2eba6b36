"""Resizes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from buildtool.exporters.onnx.orders import channels_first
from buildtool.exporters.onnx.registry import handler
from buildtool.exporters.onnx.step import Step
from buildtool.ir.dims import Dim
from buildtool.ir.types import DType


@handler("resize2d", channels_first=True)
def resize2d(step: Step) -> None:
    op = step.op
    n, height, width, c = step.type().shape
    scales, sizes = "", ""
    if all(map(_follows, (height, width), op.size, op.scales)):
        scales = step.writer.constant(np.array([1, 1, *op.scales], np.float32), DType.F32, "scales")
    elif op.coordinates == "align_corners" or all(map(_is_quotient, (height, width), op.size, op.scales)):
        sizes = step.dims((n, c, *op.size))
    else:
        step.refuse(f"the size {list(op.size)} does not follow from the input and the scales {list(op.scales)}")
    y = step.emit(
        "Resize",
        step.input(0, channels_first(4)),
        "",
        scales,
        sizes,
        mode=op.mode,
        coordinate_transformation_mode=op.coordinates,
        nearest_mode=op.rounding if op.mode == "nearest" else None,
    )
    step.give(y, order=channels_first(4))


def _is_quotient(before: Dim, after: Dim, scale: float) -> bool:
    """Whether ONNX, which divides the sizes, comes to the same scale."""
    if scale == 0:
        return True
    if isinstance(before, int) and isinstance(after, int):
        return bool(np.float32(after / before) == np.float32(scale))
    return before == after and scale == 1


def _follows(before: Dim, after: Dim, scale: float) -> bool:
    """Whether the size is what ONNX makes of the scale."""
    if scale == 0:
        return False
    if isinstance(before, int):  # some multiply in single precision, others in double
        products = (float(np.float32(before) * np.float32(scale)), before * float(np.float32(scale)))
        return all(int(np.floor(number)) == after for number in products)
    ratio = Fraction(scale).limit_denominator(1024)
    exact = bool(np.float32(float(ratio)) == np.float32(scale))
    return exact and after == (before * ratio.numerator) // ratio.denominator


@handler("resample")
def resample(step: Step) -> None:
    """Everything that is read, weighed and added up."""
    axis, shape = step.op.axis, step.value(0).type.shape
    rank = len(shape)
    places = step.constant(1)
    last = shape[axis] - 1
    if places is not None and isinstance(last, int):
        where = step.writer.constant(np.clip(places, 0, last).astype(np.int64), DType.S64, "places")
    else:
        ends = [step.integers([0]), step.dims((last,))]
        wide = step.cast(step.input(1), DType.S64)
        where = step.emit("Min", step.emit("Max", wide, ends[0]), ends[1])
    taken = step.emit("Gather", step.forms.name(step.value(0)), where, axis=axis)
    table = step.value(2).type.shape
    weights = step.reshaped(step.forms.name(step.value(2)), table, (*table, *(1,) * (rank - axis - 1)))
    weighed = step.emit("Mul", taken, weights)
    step.give(step.emit("ReduceSum", weighed, step.integers([axis + 1]), keepdims=0))
