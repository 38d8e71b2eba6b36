"""A 1x1 convolution next to a depthwise one: what the passes that let both be computed together share."""

from __future__ import annotations

import numpy as np

from buildtool.ir.dims import bounds
from buildtool.ir.graph import Node, Value
from buildtool.ir.types import DType
from buildtool.ops.conv2d import Conv2d
from buildtool.ops.dwconv2d import DwConv2d
from buildtool.passes.channels import has_few_channels
from buildtool.passes.editor import Editor

#: What lies between the two convolutions has to be larger than this: less stays in the caches anyway.
LEAST_BYTES = 256 * 1024
#: What there are kernels for: those of half precision decide whether these passes run behind `compute_in_half`.
FLOATS = (DType.F32, DType.F16)


def is_pointwise(node: Node) -> bool:
    """Whether the node is a 1x1 convolution for which there are kernels that compute another one with it."""
    op, w = node.op, node.inputs[1] if len(node.inputs) > 1 else None
    if not isinstance(op, Conv2d) or w is None or w.constant is None or w.type.dtype not in FLOATS:
        return False
    single = w.type.shape[1:3] == (1, 1) and op.groups == 1 and set(op.strides) == {1} and not any(op.pads)
    return single and has_few_channels(node.outputs[0])


def is_depthwise(node: Node) -> bool:
    """The same of a depthwise convolution."""
    op = node.op
    if not isinstance(op, DwConv2d) or op.multiplier != 1 or node.inputs[1].type.dtype not in FLOATS:
        return False
    if node.inputs[1].type.shape[:2] != (3, 3) or op.strides not in ((1, 1), (2, 2)) or set(op.dilations) != {1}:
        return False
    return has_few_channels(node.outputs[0])


def pays(before: Value, between: Value, after: Value, lines: int) -> bool:
    """Whether computing both together is faster, and needs no more memory than one after the other.

    `lines`: blocks are whole lines of what lies between, and it has to have so many of them.
    """
    if bounds(between.type.shape[1])[1] < lines or most_bytes(between) <= LEAST_BYTES:
        return False
    return most_bytes(before) <= most_bytes(between) or most_bytes(after) <= most_bytes(between)


def most_bytes(value: Value) -> int:
    """The size of a value where all of its symbols are at their bounds."""
    size = value.type.dtype.numpy.itemsize
    for dim in value.type.shape:
        size *= bounds(dim)[1]
    return int(size)


def with_bias(editor: Editor, node: Node) -> list[Value]:
    """Filter and bias of a convolution, which may leave the latter out."""
    if len(node.inputs) > 2:
        return node.inputs[1:3]
    channels = node.outputs[0].type.shape[-1]
    assert isinstance(channels, int)
    return [node.inputs[1], editor.constant(None, np.zeros(channels, np.float32))]
