"""Nodes on quantised numbers. There are no operators of their own for them: a node is quantised where a value that it
reads or makes is (TensorType.quant), and then computes on the real numbers that the stored ones stand for.

    outputs = quantise(operator(dequantise(inputs)))

That is the meaning of a convolution with its bias, residual and activation as it is of a sigmoid: the reference of the
operator, in double precision, between two conversions. Kernels take their own ways there and may be a step away.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from buildtool.ir.graph import Node
from buildtool.ir.operator import Array
from buildtool.ir.types import DType, QuantType, TensorType

#: The element types that store quantised numbers.
STORES = (DType.S8, DType.U8, DType.S16, DType.U16, DType.S32)


def is_quantised(node: Node) -> bool:
    """Whether the node computes on the real numbers behind stored ones."""
    return any(value.type.quant is not None for value in (*node.inputs, *node.outputs))


def limits(dtype: DType, bits: int) -> tuple[int, int]:
    """The least and the largest stored number. A sum of products uses the whole of its element type."""
    if dtype is DType.S32:
        return -(2**31), 2**31 - 1
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if dtype in (DType.S8, DType.S16) else (0, (1 << bits) - 1)


def dequantised(array: Array, type_: TensorType) -> Array:
    """The real numbers, in double precision. What is no floating-point number and not quantised stays as it is."""
    if type_.quant is None:
        return array.astype(np.float64) if type_.dtype.is_float else array
    scales, zeros = _laid_over(type_.quant, array.ndim)
    return np.asarray((array.astype(np.float64) - zeros) * scales)


def quantised(array: Array, type_: TensorType) -> Array:
    """The stored numbers: rounded half to even and kept within their range. NaN is stored as zero."""
    if type_.quant is None:
        return array.astype(type_.dtype.numpy) if type_.dtype.is_float else array
    scales, zeros = _laid_over(type_.quant, array.ndim)
    low, high = limits(type_.dtype, type_.quant.bits)
    with np.errstate(all="ignore"):
        steps = np.rint(np.asarray(array, np.float64) / scales)
    stored: Array = np.clip(np.where(np.isnan(steps), 0.0, steps) + zeros, low, high).astype(type_.dtype.numpy)
    return stored


def reference(node: Node, inputs: Sequence[Array]) -> tuple[Array, ...]:
    """The meaning of a quantised node that holds no regions; its attributes hold no symbols."""
    operands = [dequantised(array, value.type) for array, value in zip(inputs, node.inputs, strict=True)]
    results = node.op.reference(*operands)
    return tuple(quantised(array, value.type) for array, value in zip(results, node.outputs, strict=True))


def _laid_over(quant: QuantType, rank: int) -> tuple[Array, Array]:
    """Scales and zero points in a shape that is broadcast over an array of this rank."""
    # Scales are stored in single precision: the meaning is that of the numbers that a kernel reads.
    scales = np.asarray(quant.scales, np.float32).astype(np.float64)
    zeros = np.asarray(quant.zero_points, np.float64)
    shape = [1] * rank
    if quant.axis is not None:
        shape[quant.axis] = -1
    return scales.reshape(shape), zeros.reshape(shape)
