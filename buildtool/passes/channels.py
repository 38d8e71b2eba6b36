"""Operators that make channels with constant weights, and the arithmetic of folding numbers per channel into them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from buildtool.ir.graph import Node, Value
from buildtool.ir.operator import Array
from buildtool.ops._activation import ActivatedOperator
from buildtool.passes.editor import Editor

#: The axis of the weights that counts the output channels; these are the last axis of the result.
CHANNEL_AXIS: Mapping[str, int] = {"conv2d": 0, "deconv2d": 0, "fully_connected": 0, "dwconv2d": 2}
#: Constants that passes make have at most so many numbers, one per channel or element: a size is only a number in the
#: model, and may be any.
MOST_NUMBERS = 2**24


def foldable_maker(editor: Editor, value: Value) -> Node | None:
    """The node whose weights may absorb numbers that are applied to its result, `value`, and to nothing else of it."""
    node = editor.private_maker(value, *CHANNEL_AXIS)
    if node is None or not isinstance(node.op, ActivatedOperator) or node.op.activation != "none":
        return None
    if len(node.inputs) > 3:
        return None  # a residual would have to be scaled, too
    return node if foldable_constants(node) else None


def foldable_constants(node: Node) -> bool:
    """Whether all operands behind the first are constants that passes may change."""
    return all(operand.constant is not None and operand.type.quant is None for operand in node.inputs[1:])


def has_few_channels(value: Value) -> bool:
    """Whether a constant with one number per channel (the last axis) may be made."""
    channels = value.type.shape[-1] if value.type.rank else 1
    return isinstance(channels, int) and channels <= MOST_NUMBERS


def per_channel(operand: Value, result: Value) -> Array | None:
    """A constant operand as one number per channel of the result (its last axis), where that says everything."""
    array = operand.constant
    channels = result.type.shape[-1] if result.type.rank else None
    if array is None or not isinstance(channels, int) or array.ndim > result.type.rank or not has_few_channels(result):
        return None
    if array.size not in (1, channels) or (array.ndim and array.shape[-1] != array.size):
        return None
    return np.broadcast_to(array.reshape(-1), (channels,)).astype(np.float64)


def absorb(editor: Editor, maker: Node, follower: Node, scale: Array | None, shift: Array) -> None:
    """Replaces `follower`, which computes `scale * y + shift` per channel from the maker's result, by a new maker.

    The arithmetic is done in double precision. A scale of None is 1.
    """
    x, weights, *bias = maker.inputs
    assert weights.constant is not None
    filters = weights
    dtype = weights.constant.dtype
    offset = np.zeros(shift.shape)
    if bias and bias[0].constant is not None:
        offset = bias[0].constant.astype(np.float64)
    if scale is not None:
        shape = [1] * weights.constant.ndim
        shape[CHANNEL_AXIS[maker.op.name]] = -1
        filters = editor.constant(weights, (weights.constant * scale.reshape(shape)).astype(dtype))
        filters.source_names = weights.source_names
        offset = offset * scale
    shifted = editor.constant(bias[0] if bias else None, (offset + shift).astype(dtype))
    editor.substitute(follower, maker.op, [x, filters, shifted], maker.name)
    editor.remove_if_unused(maker)
