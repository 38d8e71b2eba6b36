"""What goes from numbers to what stands for them, and back."""

from __future__ import annotations

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.spatial import NO_ACTIVATION
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
    """Rounded to one of 2^bits numbers between two bounds, which are moved so that 0 is one of them."""
    low, high, bits = step.real("min"), step.real("max"), step.integer("num_bits", 8)
    if not 2 <= bits <= 16 or not low < high or not np.isfinite([low, high]).all():
        step.malformed(f"{bits} bits for {low} to {high}")
    least = 1 if step.integer("narrow_range", 0) else 0
    most = 2**bits - 1
    scale = (high - low) / (most - least)
    zero = float(np.clip(np.floor(least - low / scale + 0.5), least, most))
    bottom, top = (least - zero) * scale, (most - zero) * scale
    offset, width, half = (step.constant(np.array(number, np.float32)) for number in (bottom, scale, 0.5))
    clamped = step.emit("clip", step.input(0), low=bottom, high=top)
    steps = step.emit("div", step.emit("sub", clamped, offset), width)
    whole = step.emit("floor", step.emit("add", steps, half, **NO_ACTIVATION))
    return step.emit("add", step.emit("mul", whole, width), offset, **NO_ACTIVATION)
