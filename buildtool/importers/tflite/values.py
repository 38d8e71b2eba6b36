"""What the operators of TFLite have in common: quantised operands, fused activations, paddings.

A quantised tensor holds whole numbers that stand for others. Operators that only move elements work on what is held;
those that compute work on what it stands for, and what they give is quantised again (`real`, `stored`). Convolutions
and products of bytes have operators of their own (`is_of_bytes`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.spatial import same_pads
from buildtool.importers.step import Step
from buildtool.ir.dims import Dim
from buildtool.ir.operator import Array
from buildtool.ir.types import DType, QuantType

SAME, VALID = 0, 1
BYTES = (DType.S8, DType.U8)
_QUANTISED = (DType.S8, DType.U8, DType.S16)
_NONE, _RELU, _RELU_N1_TO_1, _RELU6, _TANH, _SIGN_BIT = range(6)
_BOUNDS = {_RELU: (0.0, np.inf), _RELU_N1_TO_1: (-1.0, 1.0), _RELU6: (0.0, 6.0)}


def quantisation(step: Step, index: int) -> QuantType | None:
    """How input `index` is quantised; None where it holds what it stands for."""
    tensor, name = step.optional(index), step.node.inputs[index] if index < len(step.node.inputs) else ""
    if tensor is None or tensor.dtype.is_float:
        return None
    return step.node.quantisation.get(name)


def output_quantisation(step: Step, index: int = 0) -> QuantType | None:
    """How output `index` is quantised."""
    if index >= len(step.node.outputs):
        step.malformed(f"it makes more than its {len(step.node.outputs)} outputs")
    name = step.node.outputs[index]
    return step.node.quantisation.get(name) if step.node.dtypes.get(name) in _QUANTISED else None


def parameters(step: Step, quant: QuantType, dtype: DType) -> tuple[Tensor, Tensor]:
    """Scale and zero point: one number each, or a row along an axis."""
    ends = np.iinfo(str(dtype.numpy))
    if not ends.min <= min(quant.zero_points) <= max(quant.zero_points) <= ends.max:
        step.malformed(f"a zero point of numbers of type {dtype.value} is none of them")
    scales, zeros = np.array(quant.scales, np.float32), np.array(quant.zero_points, dtype.numpy)
    if quant.axis is None:
        scales, zeros = scales.reshape(()), zeros.reshape(())
    return step.constant(scales), step.constant(zeros)


def real(step: Step, index: int) -> Tensor:
    """What input `index` stands for."""
    tensor, quant = step.input(index), quantisation(step, index)
    return tensor if quant is None else dequantised(step, tensor, quant)


def optional_real(step: Step, index: int) -> Tensor | None:
    return None if step.optional(index) is None else real(step, index)


def dequantised(step: Step, tensor: Tensor, quant: QuantType) -> Tensor:
    if tensor.content is not None:
        return step.constant(_dequantised(tensor.content, quant))
    if tensor.dtype not in (*_QUANTISED, DType.S32):
        step.unsupported(f"quantised numbers of type {tensor.dtype.value}", "quantise the model to 8 or 16 bits")
    scale, zero = parameters(step, quant, tensor.dtype)
    return step.emit("dequantize_linear", tensor, scale, zero, axis=quant.axis or 0, block=0)


def _dequantised(content: Array, quant: QuantType) -> Array:
    shape = [-1 if axis == quant.axis else 1 for axis in range(content.ndim)] if quant.axis is not None else []
    scales = np.array(quant.scales, np.float32).reshape(shape)
    zeros = np.array(quant.zero_points, np.int64).reshape(shape)
    return np.asarray((content.astype(np.int64) - zeros).astype(np.float32) * scales)


def stored(step: Step, y: Tensor, index: int = 0) -> Tensor:
    """What stands for y in output `index`: quantised where the model says so."""
    quant = output_quantisation(step, index)
    if quant is None or not y.dtype.is_float:
        return y
    return quantised(step, y, quant, step.node.dtypes[step.node.outputs[index]])


def quantised(step: Step, y: Tensor, quant: QuantType, dtype: DType) -> Tensor:
    scale, zero = parameters(step, quant, dtype)
    return step.emit("quantize_linear", y, scale, zero, axis=quant.axis or 0, block=0, to=dtype)


def is_of_bytes(step: Step, x: int, filters: int, bias: int) -> bool:
    """Whether a convolution or product takes and gives quantised bytes."""
    row = step.optional(bias)
    output = output_quantisation(step)
    return (
        all(quantisation(step, index) is not None and step.input(index).dtype in BYTES for index in (x, filters))
        and output is not None
        and step.node.dtypes[step.node.outputs[0]] in BYTES
        and (row is None or row.dtype is DType.S32)
    )


def activated(step: Step, y: Tensor) -> Tensor:
    """The activation that is fused into the operator, on real numbers or plain integers."""
    return activation(step, y, step.integer("fused_activation_function", _NONE))


def activation(step: Step, y: Tensor, code: int) -> Tensor:
    if code == _NONE:
        return y
    if code == _RELU and y.dtype.is_float:
        return step.emit("relu", y)
    if code in _BOUNDS:
        low, high = _BOUNDS[code]
        return step.emit("clip", y, low=low, high=high)
    if code != _TANH:
        step.unsupported(f"the fused activation {code}", "convert the model without it")
    return step.emit("tanh", y)


def activated_bytes(step: Step, y: Tensor) -> Tensor:
    """The same on quantised bytes: bounds in the scale of the output."""
    code, quant = step.integer("fused_activation_function", _NONE), output_quantisation(step)
    if code == _NONE:
        return y
    bounds = None if quant is None else stored_bounds(step, quant, y.dtype)
    if bounds is None:
        step.unsupported(f"the fused activation {code} on quantised numbers", "convert the model without it")
    ends = np.iinfo(str(y.dtype.numpy))
    low, high = bounds
    return y if (low, high) == (ends.min, ends.max) else step.emit("clip", y, low=low, high=high)


def stored_bounds(step: Step, quant: QuantType, dtype: DType) -> tuple[float, float] | None:
    """Of stored results, as the fused activation limits them; None where it is no limit."""
    code, ends = step.integer("fused_activation_function", _NONE), np.iinfo(str(dtype.numpy))
    if code == _NONE:
        return float(ends.min), float(ends.max)
    if code not in _BOUNDS:
        return None
    low, high = (
        float(np.clip(np.round(end / quant.scales[0]) + quant.zero_points[0], ends.min, ends.max))
        for end in _BOUNDS[code]
    )
    return low, high


def pads(
    step: Step, sizes: Sequence[Dim], kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> tuple[Dim, ...]:
    """The paddings of a window that moves over axes of these sizes."""
    padding = step.integer("padding")
    if padding == VALID:
        return (0,) * (2 * len(kernel))
    if padding != SAME:
        step.malformed(f"the padding is {padding}")
    return same_pads(step, sizes, kernel, strides, dilations)


def positive_pair(step: Step, height: str, width: str) -> tuple[int, int]:
    """Two options that are positive numbers: strides, dilations, sizes of windows."""
    pair = step.integer(height), step.integer(width)
    if min(pair) < 1:
        step.malformed(f"'{height}' and '{width}' are {pair}, not positive")
    return pair
