"""Channels that are picked, cut off or added become convolutions of 1x1, which the KPU has.

A kmodel has no layer that moves channels. Such a convolution has a weight of 1 for each channel that it keeps, which
8 bits store exactly. Depthwise layers with kernels that the KPU lacks, of more channels than the CPU can spread to one
layer, are cut into several by them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from buildtool.ir import dims
from buildtool.ir.graph import Graph, Node, Value
from buildtool.ir.operator import Array
from buildtool.ir.types import DType, QuantType
from buildtool.ops.concat import Concat
from buildtool.ops.conv2d import Conv2d
from buildtool.ops.dwconv2d import DwConv2d
from buildtool.ops.gather import Gather
from buildtool.ops.pad import Pad
from buildtool.ops.slice import Slice
from buildtool.ops.split import Split
from buildtool.passes.editor import Editor
from buildtool.passes.store_quantised import known_types
from buildtool.targets.k210.generation.rules import shape_of
from buildtool.targets.k210.generation.split import MOST_CHANNELS

_IMAGES = ("conv2d", "dwconv2d", "max_pool2d", "avg_pool2d", "resize2d")
_MOVING = ("concat", "gather", "slice", "split", "pad")


def to_convolutions(graph: Graph, *, fallback: bool = False) -> None:
    """In place, where a value is an image with its channels behind rows and columns. `fallback`: the CPU computes
    kernels that the KPU lacks."""
    if not fallback:
        _cut_depthwise(graph)
    editor, known = Editor(graph), known_types(graph)
    for node in editor.nodes():
        if not isinstance(node.op, Gather | Slice | Split | Pad) or not _is_image(editor, node.inputs[0]):
            continue
        for value, kept, bias in list(_picked(node)):
            made = _moved(editor, node, node.inputs[0], kept, bias, known.get(value))
            editor.replace(value, made)
            _store(graph, made, known.get(value))
        editor.remove_if_unused(node)


def _cut_depthwise(graph: Graph) -> None:
    editor, known = Editor(graph), known_types(graph)
    for node in editor.nodes():
        op = node.op
        if not isinstance(op, DwConv2d) or op.multiplier != 1 or len(node.inputs) > 3:
            continue
        weights, bias = (None if value is None else value.constant for value in (node.inputs[1], node.input(2)))
        if weights is None or (node.input(2) is not None and bias is None):
            continue
        rows, columns, channels = weights.shape
        plain = max(rows, columns) <= 3 and (op.dilations == (1, 1) or rows == columns == 1)
        most = MOST_CHANNELS // (rows * columns)
        if plain or most < 1 or channels <= most or channels > MOST_CHANNELS:
            continue
        x, parts = node.inputs[0], []
        pieces = -(-channels // most)
        ends = [channels * piece // pieces for piece in range(pieces + 1)]
        for first, last in itertools.pairwise(ends):
            part = _moved(editor, node, x, np.arange(first, last), 0.0, known.get(x))
            constants = [weights[:, :, first:last], *([] if bias is None else [bias[first:last]])]
            operands = [part, *(editor.constant(None, np.ascontiguousarray(one)) for one in constants)]
            made = editor.insert_before(node, op, operands)
            _store(graph, made.outputs[0], known.get(node.outputs[0]))
            parts.append(made.outputs[0])
        together = editor.substitute(node, Concat(axis=3), parts)
        _store(graph, together.outputs[0], known.get(node.outputs[0]))


def _is_image(editor: Editor, value: Value) -> bool:
    """Whether a convolution or a pool is at the beginning of what leads to it, with nothing that moves axes."""
    while True:
        if value.type.rank != 4 or value.type.dtype is not DType.F32 or not dims.is_static(value.type.shape):
            return False
        node = editor.producer(value)
        if node is None:
            return False
        if node.op.name in _IMAGES:
            return True
        if not node.op.is_elementwise and node.op.name not in _MOVING:
            return False
        value = next((one for one in node.inputs if not one.is_constant), node.inputs[0])


def _picked(node: Node) -> Iterator[tuple[Value, Array, float]]:
    """Each result, with the channel that each of its channels is, or -1 for one that is the number."""
    op, x = node.op, node.inputs[0]
    shape = shape_of(x)
    if shape[3] > MOST_CHANNELS or shape[0] != 1:
        return
    channels = np.arange(shape[3])
    if isinstance(op, Gather):
        indices = node.inputs[1].constant
        if op.axis == 3 and indices is not None and indices.ndim == 1:
            yield node.outputs[0], channels[indices], 0.0
    elif isinstance(op, Slice):
        y = shape_of(node.outputs[0])
        start, step = op.starts[3], op.steps[3]
        if y[:3] == shape[:3] and op.steps[:3] == (1, 1, 1) and isinstance(start, int):
            yield node.outputs[0], channels[start + step * np.arange(y[3])], 0.0
    elif isinstance(op, Split):
        ends = np.cumsum(op.sizes)
        if op.axis == 3:
            for value, end, size in zip(node.outputs, ends, op.sizes, strict=True):
                yield value, channels[end - size : end], 0.0
    elif isinstance(op, Pad) and op.mode == "constant" and not any((*op.before[:3], *op.after[:3])):
        around = [np.full(count, -1) for count in (op.before[3], op.after[3])]
        yield node.outputs[0], np.concatenate((around[0], channels, around[1])), op.value


def _moved(editor: Editor, node: Node, x: Value, kept: Array, number: float, stored: QuantType | None) -> Value:
    """The result of a convolution in front of the node."""
    weights = np.zeros((len(kept), 1, 1, shape_of(x)[3]), np.float32)
    rows = np.flatnonzero(kept >= 0)
    weights[rows, 0, 0, kept[rows]] = 1
    bias = np.where(kept < 0, number, 0).astype(np.float32)
    op = Conv2d(strides=(1, 1), pads=(0, 0, 0, 0), dilations=(1, 1), groups=1)
    made = editor.insert_before(node, op, [x, editor.constant(None, weights), editor.constant(None, bias)])
    _store(editor.graph, made.outputs[0], stored)
    return made.outputs[0]


def _store(graph: Graph, value: Value, stored: QuantType | None) -> None:
    if stored is not None:
        graph.ranges[value.name] = stored
