"""What tensorflow_model_optimization simulates while it trains: numbers of few bits."""

from __future__ import annotations

from buildtool.importers.builder import Tensor
from buildtool.importers.fake_quantisation import fake_quantised
from buildtool.importers.keras.registry import handler
from buildtool.importers.keras.values import only, weight
from buildtool.importers.step import Step


@handler("QuantizeLayer")
def quantised(step: Step) -> Tensor:
    """Rounded within a range that is kept like a weight; along `axis` each element may have a range of its own."""
    low, high = (step.known(step.inputs.index(weight(step, name)), name) for name in ("range_min", "range_max"))
    axis = step.integer("axis", -1) if low.ndim else None
    bits, narrow = step.integer("quantizer.num_bits", 8), bool(step.integer("quantizer.narrow_range", 0))
    return fake_quantised(step, only(step), low, high, bits=bits, narrow=narrow, axis=axis)
