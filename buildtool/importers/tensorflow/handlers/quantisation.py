"""What stands for numbers of few bits, and what goes back from those to floats."""

from __future__ import annotations

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.fake_quantisation import fake_quantised
from buildtool.importers.spatial import NO_ACTIVATION
from buildtool.importers.step import Step
from buildtool.importers.tensorflow.registry import handler
from buildtool.ir.operator import Array
from buildtool.ir.types import DType


def _rounded(step: Step, low: Array | float, high: Array | float, axis: int | None = None) -> Tensor:
    bits, narrow = step.integer("num_bits", 8), bool(step.integer("narrow_range", 0))
    return fake_quantised(step, step.input(0), low, high, bits=bits, narrow=narrow, axis=axis)


@handler("FakeQuantWithMinMaxArgs")
def fake_quant(step: Step) -> Tensor:
    return _rounded(step, step.real("min", -6.0), step.real("max", 6.0))


@handler("FakeQuantWithMinMaxVars")
def fake_quant_by_inputs(step: Step) -> Tensor:
    return _rounded(step, step.known_number(1, "min"), step.known_number(2, "max"))


@handler("FakeQuantWithMinMaxVarsPerChannel")
def fake_quant_by_channel(step: Step) -> Tensor:
    """Each channel, which come last, has bounds of its own."""
    return _rounded(step, step.known(1, "min"), step.known(2, "max"), -1)


@handler("Dequantize")
def dequantize(step: Step) -> Tensor:
    """Whole numbers between the least and the greatest of their type stand for those between two bounds."""
    x, low, high = step.input(0), step.known_number(1, "min_range"), step.known_number(2, "max_range")
    mode = step.text("mode", "MIN_COMBINED")
    if mode not in ("MIN_COMBINED", "MIN_FIRST") or x.dtype not in (DType.U8, DType.S8, DType.U16, DType.S16):
        step.unsupported(f"the mode {mode} of {x.dtype.value}", "quantise in the mode MIN_FIRST")
    ends = np.iinfo(str(x.dtype.numpy))
    width = np.float32((high - low) / (ends.max - ends.min))
    if mode == "MIN_FIRST":  # of which a bound lies on a multiple of the width, so that zero is a number
        low = float(np.round(low / width) * width) if width else low
    shift = low - ends.min * float(width)
    number = step.emit("cast", x, to=DType.F32)
    scaled = step.emit("mul", number, step.constant(np.array(width, np.float32)))
    return step.emit("add", scaled, step.constant(np.array(shift, np.float32)), **NO_ACTIVATION)
