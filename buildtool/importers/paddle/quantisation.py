"""Programs with simulated quantisation, and weights stored in few bits, as programs of floats.

What quantises activations and what undoes that again are one operator here; weights become what they stand for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from buildtool.errors import Where
from buildtool.importers.paddle.program import Operation, Program, damaged
from buildtool.ir.operator import Array

_QUANTISE, _DEQUANTISE = "quantize_linear", "dequantize_linear"
#: Stands for both of them, one behind the other; files do not have it.
ROUNDED = "@rounded"
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
            first = quantised[source]
            given = {slot: first.inputs.get(slot, ()) for slot in ("X", "Scale", "ZeroPoint")}
            item = Operation(ROUNDED, given, {"Out": item.outputs.get("Y", ())}, first.attributes)
        operations += _with_rounded_inputs(item, constants)
    read = {name for item in operations for names in item.inputs.values() for name in names}
    kept = [item for item in operations if item.type != _QUANTISE or not read.isdisjoint(item.outputs.get("Y", ()))]
    return replace(program, operations=tuple(kept))


def _with_rounded_inputs(item: Operation, constants: Mapping[str, Array]) -> list[Operation]:
    """An operator of Paddle-Lite whose inputs are bytes as an attribute tells, and before it what rounds them."""
    added, inputs = [], dict(item.inputs)
    for slot, names in item.inputs.items():
        scales = item.attributes.get(f"{slot}0_scale")
        if len(names) != 1 or names[0] in constants or not isinstance(scales, float | tuple):
            continue
        step = scales if isinstance(scales, float) else scales[0] if len(scales) == 1 else None
        results = [name for group in item.outputs.values() for name in group]
        if not isinstance(step, float) or not step > 0 or not results:
            continue
        rounded = f"{names[0]}@{slot}@{results[0]}"
        added.append(Operation(ROUNDED, {"X": names}, {"Out": (rounded,)}, {"step": step}))
        inputs[slot] = (rounded,)
    changed = Operation(item.type, inputs, item.outputs, item.attributes, item.blocks) if added else item
    return [*added, changed]


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
