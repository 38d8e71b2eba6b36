"""Programs with simulated quantisation, and weights stored in few bits, as programs of floats.

What quantises activations and what undoes that again stand for nothing here; weights become what they stand for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from buildtool.errors import Where
from buildtool.importers.paddle.program import Operation, Program, damaged
from buildtool.ir.operator import Array

_QUANTISE, _DEQUANTISE = "quantize_linear", "dequantize_linear"
#: Operators whose weights have their output channels along the second axis.
_CHANNELS_SECOND = ("mul", "matmul", "matmul_v2", "fc", "conv2d_transpose", "depthwise_conv2d_transpose")


def as_floats(program: Program, constants: dict[str, Array], where: Where) -> Program:
    """The program without pairs that quantise and undo it; quantised weights change in `constants`."""
    quantised = {
        name: item for item in program.operations if item.type == _QUANTISE for name in item.outputs.get("Y", ())
    }
    operations = []
    for item in program.operations:
        _dequantise_weights(item, constants, where)
        (source, *_) = item.inputs.get("X", ("",)) or ("",)
        if item.type == _DEQUANTISE and source in quantised:
            before = quantised[source].inputs.get("X", ())
            item = Operation("assign", {"X": before}, {"Out": item.outputs.get("Y", ())}, {})
        operations.append(item)
    read = {name for item in operations for names in item.inputs.values() for name in names}
    kept = [item for item in operations if item.type != _QUANTISE or not read.isdisjoint(item.outputs.get("Y", ()))]
    return replace(program, operations=tuple(kept))


def _dequantise_weights(item: Operation, constants: dict[str, Array], where: Where) -> None:
    """Weights of whole numbers whose scales are attributes: of Paddle-Lite, and of weights quantised by themselves."""
    for slot, names in item.inputs.items():
        for name in names:
            weights = constants.get(name)
            scales = _scales(item.attributes, slot, name)
            if scales is None or weights is None or weights.dtype.kind != "i":
                continue
            axis = 1 if item.type in _CHANNELS_SECOND else 0
            shape = [1] * weights.ndim
            if scales.size > 1:
                if axis >= weights.ndim or weights.shape[axis] != scales.size:
                    damaged(f"{scales.size} scales for the weights '{name}' {list(weights.shape)}", where)
                shape[axis] = scales.size
            constants[name] = weights.astype(np.float32) * scales.reshape(shape)


def _scales(attributes: Mapping[str, object], slot: str, name: str) -> Array | None:
    for key in (f"{slot}0_scale", f"{name}_quant_scale"):
        stated = attributes.get(key)
        if isinstance(stated, float):
            stated = (stated,)
        if isinstance(stated, tuple) and stated and all(isinstance(number, float) for number in stated):
            return np.array(stated, np.float32)
    return None
