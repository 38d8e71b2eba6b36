"""LpNormalization and MeanVarianceNormalization: tensors brought to a standard size."""

from __future__ import annotations

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.onnx.registry import handler
from buildtool.importers.spatial import NO_ACTIVATION
from buildtool.importers.step import Step

_SMALLEST = float(np.finfo(np.float32).smallest_normal)


@handler("LpNormalization")
def lp_normalization(step: Step) -> Tensor:
    """x / |x| along an axis, where |x| is not 0; else 0."""
    x, power = step.input(0), step.integer("p", 2)
    axes = (step.axis(step.integer("axis", -1), x.rank),)
    if power == 1:
        norm = step.emit("reduce_sum", step.emit("abs", x), axes=axes, keepdims=True)
    elif power == 2:
        norm = step.emit("sqrt", step.emit("reduce_sum", step.emit("mul", x, x), axes=axes, keepdims=True))
    else:
        step.malformed(f"the attribute 'p' is {power}, not 1 or 2")
    # What a norm of 0 divides is 0 itself: any other divisor leaves it so.
    least = step.constant(np.array(_SMALLEST, x.dtype.numpy))
    return step.emit("div", x, step.emit("maximum", norm, least))


@handler("MeanVarianceNormalization")
def mean_variance_normalization(step: Step) -> Tensor:
    """(x - mean) / standard deviation; the small number keeps what does not vary from a division by 0."""
    x = step.input(0)
    axes = tuple(sorted(step.axes(step.integers("axes", (0, 2, 3)), x.rank)))
    centred = step.emit("sub", x, step.emit("reduce_mean", x, axes=axes, keepdims=True))
    variance = step.emit("reduce_mean", step.emit("mul", centred, centred), axes=axes, keepdims=True)
    small = step.constant(np.array(1e-9, x.dtype.numpy))
    return step.emit("div", centred, step.emit("add", step.emit("sqrt", variance), small, **NO_ACTIVATION))
