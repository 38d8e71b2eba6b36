"""What goes from numbers to what stands for them, and back."""

from __future__ import annotations

from buildtool.importers.builder import Tensor
from buildtool.importers.fake_quantisation import fake_quantised
from buildtool.importers.step import Step
from buildtool.importers.tflite.registry import handler
from buildtool.importers.tflite.values import real, stored


@handler("DEQUANTIZE")
def dequantize(step: Step) -> Tensor:
    """Half precision was widened when the file was read."""
    return real(step, 0)


@handler("QUANTIZE")
def quantize(step: Step) -> Tensor:
    return stored(step, real(step, 0))


@handler("DENSIFY")
def densify(step: Step) -> Tensor:
    """Sparse tensors were densified when the file was read."""
    return step.input(0)


@handler("FAKE_QUANT")
def fake_quant(step: Step) -> Tensor:
    bits, narrow = step.integer("num_bits", 8), bool(step.integer("narrow_range", 0))
    return fake_quantised(step, step.input(0), step.real("min"), step.real("max"), bits=bits, narrow=narrow)
