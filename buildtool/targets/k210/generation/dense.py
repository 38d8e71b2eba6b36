"""Convolutions that the KPU has no registers for, as fully connected layers of the CPU: a weight for each two numbers.

That is many weights, so that it is for small pictures, and only done where somebody asks for it.
"""

from __future__ import annotations

import math

import numpy as np

from buildtool.ir.graph import Node
from buildtool.ir.operator import Array
from buildtool.ops.conv2d import Conv2d
from buildtool.ops.dwconv2d import DwConv2d
from buildtool.targets.k210.generation.jobs import Dense
from buildtool.targets.k210.generation.on_cpu import act_of
from buildtool.targets.k210.generation.rules import NotHereError, shape_of

MOST_BYTES = 2 << 20  # of weights of one layer: the chip has three times as much memory


def size(node: Node) -> int:
    """Bytes of weights."""
    return math.prod(shape_of(node.inputs[0])) * math.prod(shape_of(node.outputs[0])) * 4


def is_possible(node: Node) -> bool:
    """Whether a fully connected layer does what the node does, and is not too large."""
    op = node.op
    if not isinstance(op, Conv2d | DwConv2d) or size(node) > MOST_BYTES or node.input(3) is not None:
        return False
    if any(value.constant is None for value in node.inputs[1:]) or shape_of(node.inputs[0])[0] != 1:
        return False
    try:
        act_of(op)
    except NotHereError:
        return False
    return True


def of(node: Node, kernels: Array, depthwise: bool) -> Dense:
    """The layer of a convolution for which `is_possible`. `kernels`: [O, I, kh, kw], or [C, 1, kh, kw]."""
    op = node.op
    assert isinstance(op, Conv2d | DwConv2d)
    _, rows, columns, inputs = shape_of(node.inputs[0])
    _, high, wide, outputs = shape_of(node.outputs[0])
    if depthwise:
        spread = np.zeros((outputs, inputs, *kernels.shape[2:]), kernels.dtype)
        spread[range(outputs), range(outputs)] = kernels[:, 0]
        kernels = spread
    matrix = np.zeros((outputs, high, wide, inputs, rows, columns), np.float32)
    for y in range(high):
        for x in range(wide):
            for tap in np.ndindex(*kernels.shape[2:]):
                row = y * op.strides[0] - op.pads[0] + tap[0] * op.dilations[0]
                column = x * op.strides[1] - op.pads[1] + tap[1] * op.dilations[1]
                if 0 <= row < rows and 0 <= column < columns:
                    matrix[:, y, x, :, row, column] = kernels[:, :, tap[0], tap[1]]
    bias = node.input(2)
    numbers = np.zeros(outputs) if bias is None or bias.constant is None else bias.constant
    return Dense(
        node, matrix.reshape(outputs * high * wide, -1), np.repeat(numbers, high * wide).astype(np.float32), act_of(op)
    )
