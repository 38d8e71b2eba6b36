"""Folds what is multiplied and added per channel in front of a layer into the layer's weights and bias.

A layer that pads its input with zeros cannot take the addition: zeros would have to become the addend. There the
product goes into the weights all the same, and the addition is divided by it: s * x + t = s * (x + t / s).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from buildtool.ir.graph import Graph, Node, Value
from buildtool.ir.operator import Array
from buildtool.ops._activation import ActivatedOperator
from buildtool.ops.add import Add
from buildtool.ops.conv2d import Conv2d
from buildtool.ops.deconv2d import Deconv2d
from buildtool.ops.dwconv2d import DwConv2d
from buildtool.passes.base import Pass
from buildtool.passes.channels import per_channel
from buildtool.passes.editor import Editor

_LAYERS = ("conv2d", "dwconv2d", "deconv2d", "fully_connected")
_MOST = 1e30  # an addend beyond this says that it was divided by next to nothing


class FoldScalesForward(Pass):
    name = "fold_scales_forward"
    summary = "fold mul and add of per-channel constants into the weights of the following layer"
    requires = ("move_transposes",)

    def run(self, graph: Graph) -> bool:
        editor = Editor(graph)
        for node in editor.nodes():
            if node.op.name not in _LAYERS or not all(_is_plain(value) for value in node.inputs[1:3]):
                continue
            shift = _step(editor, node.inputs[0], "add")
            scale = _step(editor, shift.x if shift is not None else node.inputs[0], "mul", "div")
            if shift is not None and _takes_shifts(node):
                _apply(editor, node, scale.x if scale else shift.x, scale.factor if scale else None, shift.factor)
            elif scale is not None and _takes_scales(node, scale.factor):
                if shift is None:
                    _apply(editor, node, scale.x, scale.factor, None)
                else:
                    self._swap(editor, node, scale, shift)
        return editor.changed

    @staticmethod
    def _swap(editor: Editor, node: Node, scale: _Step, shift: _Step) -> None:
        """Lets the addition come first, and the product go into the layer."""
        if not np.all(scale.factor):
            return
        addend = shift.factor / scale.factor
        if not np.all(np.abs(addend) < _MOST):
            return
        uniform = np.all(addend == addend[0])
        constant = editor.constant(None, (addend[:1] if uniform else addend).astype(scale.x.type.dtype.numpy))
        made = editor.insert_before(shift.node, Add(), [scale.x, constant], shift.node.name)
        _apply(editor, node, made.outputs[0], scale.factor, None)


def _is_plain(value: Value) -> bool:
    return value.is_constant and value.type.quant is None


@dataclass(frozen=True)
class _Step:
    """A product or sum with a number per channel, which only one node reads."""

    node: Node
    x: Value
    factor: Array


def _step(editor: Editor, value: Value, *ops: str) -> _Step | None:
    node = editor.private_maker(value, *ops)
    if node is None or not value.type.rank or (isinstance(node.op, ActivatedOperator) and node.op.activation != "none"):
        return None
    for x, constant in ((node.inputs[0], node.inputs[1]), (node.inputs[1], node.inputs[0])):
        numbers = per_channel(constant, value)
        if numbers is None or x.type != value.type or x.is_constant or not np.all(np.isfinite(numbers)):
            continue
        if node.op.name != "div":
            return _Step(node, x, numbers)
        return _Step(node, x, 1 / numbers) if constant is node.inputs[1] and np.all(numbers) else None
    return None


def _takes_shifts(node: Node) -> bool:
    if isinstance(node.op, Conv2d):
        return node.op.groups == 1 and not any(node.op.pads)
    if isinstance(node.op, DwConv2d):
        return not any(node.op.pads)
    return node.op.name == "fully_connected"


def _takes_scales(node: Node, scale: Array) -> bool:
    if isinstance(node.op, Conv2d | Deconv2d):
        return node.op.groups == 1 or bool(np.all(scale == scale[0]))
    return True


def _apply(editor: Editor, node: Node, x: Value, scale: Array | None, shift: Array | None) -> None:
    """Lets a layer read `x` where it read `scale * x + shift`."""
    weights, bias = node.inputs[1], node.inputs[2] if len(node.inputs) > 2 else None
    assert weights.constant is not None
    matrix, dtype = weights.constant.astype(np.float64), weights.constant.dtype
    rest = list(node.inputs[2:])
    if shift is not None:
        added = _sums(node, matrix, shift)
        old = bias.constant.astype(np.float64) if bias is not None and bias.constant is not None else 0.0
        rest = [editor.constant(bias, (old + added).astype(dtype)), *rest[1:]]
    if scale is not None:
        filters = editor.constant(weights, (matrix * _spread(node, scale)).astype(dtype))
        filters.source_names = weights.source_names
        weights = filters
    read = node.inputs[0]
    editor.set_inputs(node, [x, weights, *rest])
    editor.sweep(read)


def _spread(node: Node, numbers: Array) -> Array:
    """One number per input channel, in a shape that broadcasts to the weights."""
    if isinstance(node.op, DwConv2d):
        return np.repeat(numbers, node.op.multiplier)
    grouped = isinstance(node.op, Conv2d | Deconv2d) and node.op.groups > 1
    return numbers[:1] if grouped else numbers


def _sums(node: Node, weights: Array, shift: Array) -> Array:
    """What a layer makes of an input that is `shift` everywhere."""
    moved = weights * _spread(node, shift)
    axes = (0, 1) if isinstance(node.op, DwConv2d) else tuple(range(1, moved.ndim))
    return np.asarray(moved.sum(axis=axes))
