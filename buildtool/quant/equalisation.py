"""Channels of like size: what one layer makes large and the next multiplies by small weights is shared out among both.

One scale stands for all channels of an activation, so a channel of small numbers is stored in few steps. Between two
layers with weights a channel may be divided by any positive number in the first and multiplied by it in the second,
where only something homogeneous stands between them. The numbers here are powers of two: in single precision the
network computes exactly what it did.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from buildtool.ir.graph import Graph, Node, Value
from buildtool.ir.operator import Array
from buildtool.ir.types import DType
from buildtool.ops._activation import ActivatedOperator
from buildtool.ops.conv2d import Conv2d
from buildtool.ops.dwconv2d import DwConv2d
from buildtool.ops.fully_connected import FullyConnected
from buildtool.ops.reduce_mean import ReduceMean
from buildtool.quant.patches import groups_of

_W, _BIAS = 1, 2
_HOMOGENEOUS = ("none", "relu", "leaky_relu")
_PER_CHANNEL = ("max_pool2d", "avg_pool2d", "relu", "leaky_relu")  # homogeneous, and channels stay apart
_ROUNDS = 20
_MOST = 12  # powers of two that a channel is moved by at once


@dataclass(frozen=True)
class Pair:
    """Two layers, the second of which alone reads what the first makes."""

    first: Node
    second: Node


def equalise(graph: Graph) -> tuple[Pair, ...]:
    """Change weights and biases of an optimised graph in place; the pairs whose channels are more alike now."""
    found = pairs(graph)
    changed: dict[Pair, None] = {}
    for _ in range(_ROUNDS):
        moved = [pair for pair in found if _equalise(graph, pair)]
        changed.update(dict.fromkeys(moved))
        if not moved:
            break
    return tuple(changed)


def pairs(graph: Graph) -> tuple[Pair, ...]:
    """In the order of the graph."""
    users, results = graph.users(), set(graph.outputs)
    found = []
    for node in graph.nodes:
        if not _may_divide(node):
            continue
        value = node.outputs[0]
        while value not in results and len(readers := users.get(value, [])) == 1:
            (reader,) = readers
            if _multiplies(reader, value):
                found.append(Pair(node, reader))
            if not _keeps_channels(reader):
                break
            value = reader.outputs[0]
    return tuple(found)


def _has_weights(node: Node) -> bool:
    if not isinstance(node.op, Conv2d | DwConv2d | FullyConnected):
        return False
    return all(value.is_constant and value.type.dtype is DType.F32 for value in node.inputs[_W : _BIAS + 1])


def _may_divide(node: Node) -> bool:
    """Whether its result can be made smaller, channel by channel, by its weights and bias."""
    op = node.op
    if not _has_weights(node) or len(node.inputs) > _BIAS + 1:
        return False
    return isinstance(op, ActivatedOperator) and op.activation in _HOMOGENEOUS


def _multiplies(node: Node, value: Value) -> bool:
    return _has_weights(node) and node.inputs[0] is value and value not in node.inputs[1:]


def _keeps_channels(node: Node) -> bool:
    before, after = node.inputs[0].type, node.outputs[0].type
    if isinstance(node.op, ReduceMean):
        return before.rank - 1 not in node.op.axes
    if node.op.name == "reshape":
        return before.rank > 0 and after.rank > 0 and before.shape[-1] == after.shape[-1]
    return node.op.name in _PER_CHANNEL


def _equalise(graph: Graph, pair: Pair) -> bool:
    """Whether anything changed."""
    made, read = _made(pair.first), _read(pair.second)
    if made.shape != read.shape:  # a reshape put channels together
        return False
    alike = (made > 0) & (read > 0) & np.isfinite(made) & np.isfinite(read)
    ratio = np.divide(made, read, out=np.ones_like(made), where=alike)
    powers = np.clip(np.rint(np.log2(ratio) / 2), -_MOST, _MOST).astype(np.int64)
    if not powers.any():
        return False
    scales = np.exp2(powers.astype(np.float64)).astype(np.float32)
    changed = (
        (pair.first, _W, _divided(pair.first, scales)),
        *((pair.first, _BIAS, bias / scales) for bias in _bias(pair.first)),
        (pair.second, _W, _multiplied(pair.second, scales)),
    )
    if not all(np.isfinite(array).all() for _, _, array in changed):
        return False
    for node, index, array in changed:
        node.inputs[index] = graph.new_constant(node.inputs[index].name, np.ascontiguousarray(array, np.float32))
    return True


def _constant(node: Node, index: int) -> Array:
    constant = node.inputs[index].constant
    assert constant is not None
    return constant


def _bias(node: Node) -> list[Array]:
    return [_constant(node, _BIAS)] if len(node.inputs) > _BIAS else []


def _made(node: Node) -> Array:
    """Of every output channel its largest weight."""
    weights = np.abs(_constant(node, _W)).astype(np.float64)
    if isinstance(node.op, DwConv2d):
        return np.asarray(weights.max(axis=(0, 1)))
    return np.asarray(weights.reshape(weights.shape[0], -1).max(axis=1))


def _read(node: Node) -> Array:
    """Of every input channel its largest weight."""
    weights = np.abs(_constant(node, _W)).astype(np.float64)
    if isinstance(node.op, DwConv2d):
        return np.asarray(weights.max(axis=(0, 1)).reshape(-1, node.op.multiplier).max(axis=1))
    if isinstance(node.op, FullyConnected):
        return np.asarray(weights.max(axis=0))
    groups = groups_of(node)
    return np.asarray(weights.reshape(groups, -1, weights.shape[-1]).max(axis=1).reshape(-1))


def _divided(node: Node, scales: Array) -> Array:
    weights = _constant(node, _W)
    if isinstance(node.op, DwConv2d):
        return np.asarray(weights / scales)
    return np.asarray(weights / scales.reshape(-1, *([1] * (weights.ndim - 1))))


def _multiplied(node: Node, scales: Array) -> Array:
    weights = _constant(node, _W)
    if isinstance(node.op, DwConv2d):
        return np.asarray(weights * np.repeat(scales, node.op.multiplier))
    if isinstance(node.op, FullyConnected):
        return np.asarray(weights * scales)
    by_group = weights.reshape(groups_of(node), -1, *weights.shape[1:])
    parts = scales.reshape(by_group.shape[0], 1, 1, 1, -1)
    return np.asarray((by_group * parts).reshape(weights.shape))
