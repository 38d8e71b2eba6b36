"""Folds a border of zeros (or, for the largest of a window, of the lowest numbers) into the layer that reads it."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from buildtool.ir.graph import Graph, Node
from buildtool.ir.operator import Operator
from buildtool.ops._conv import ConvOperator
from buildtool.ops._pool import PoolOperator
from buildtool.ops._shapes import extent
from buildtool.ops.avg_pool2d import AvgPool2d
from buildtool.ops.conv2d import Conv2d
from buildtool.ops.dwconv2d import DwConv2d
from buildtool.ops.max_pool2d import MaxPool2d
from buildtool.ops.pad import Pad
from buildtool.passes.base import Pass
from buildtool.passes.editor import Editor


class FoldPads(Pass):
    name = "fold_pads"
    summary = "merge pads into the padding of convolutions and pools"
    requires = ("move_transposes",)

    def run(self, graph: Graph) -> bool:
        editor = Editor(graph)
        for node in editor.nodes():
            pad = editor.producer(node.inputs[0]) if node.inputs else None
            op = _padded(node, pad) if pad is not None else None
            if pad is not None and op is not None:
                editor.substitute(node, op, [pad.inputs[0], *node.inputs[1:]])
                editor.remove_if_unused(pad)
        return editor.changed


def _padded(node: Node, pad: Node) -> Operator | None:
    """The operator that reads the input of the pad."""
    if not isinstance(pad.op, Pad) or pad.op.mode != "constant" or len(pad.op.before) != 4:
        return None
    if any((pad.op.before[axis], pad.op.after[axis]) != (0, 0) for axis in (0, 3)):
        return None
    sides = (*pad.op.before[1:3], *pad.op.after[1:3])
    op, value = node.op, pad.op.value
    if isinstance(op, Conv2d | DwConv2d):
        return _with_pads(op, sides) if value == 0 else None
    if isinstance(op, MaxPool2d):
        dtype = node.inputs[0].type.dtype
        limits: Any = (np.finfo if dtype.is_float else np.iinfo)(str(dtype.numpy))
        lowest = float(limits.min)
        return _with_pads(op, sides) if value <= lowest and _can_pad(op, sides) else None
    if isinstance(op, AvgPool2d) and value == 0 and _can_pad(op, sides):
        counted = op.count_include_pad or not any(op.pads)
        return _with_pads(dataclasses.replace(op, count_include_pad=True), sides) if counted else None
    return None


def _can_pad(op: PoolOperator, sides: tuple[int, ...]) -> bool:
    """Pools take less padding than a window has elements; where they round up, padding decides what the last one is."""
    widths = [extent(op.kernel[axis % 2], op.dilations[axis % 2]) for axis in range(4)]
    return not op.ceil_mode and all(old + new < width for old, new, width in zip(op.pads, sides, widths, strict=True))


def _with_pads(op: ConvOperator | PoolOperator, sides: tuple[int, ...]) -> Operator:
    return dataclasses.replace(op, pads=tuple(old + new for old, new in zip(op.pads, sides, strict=True)))
