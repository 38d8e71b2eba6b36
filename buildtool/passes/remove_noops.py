"""Removes operators whose attributes make them do nothing: a reshape to the same shape, a pad by zero and the like."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from buildtool.ir.graph import Graph, Node
from buildtool.passes.base import Pass
from buildtool.passes.editor import Editor


def _same_shape(node: Node) -> bool:
    return node.inputs[0].type.shape == node.outputs[0].type.shape


def _attribute(node: Node, name: str) -> Any:
    return getattr(node.op, name)


#: When a node of an operator only hands its first input through.
_NOTHING: Mapping[str, Callable[[Node], bool]] = {
    "reshape": _same_shape,
    "transpose": lambda node: list(_attribute(node, "perm")) == list(range(node.inputs[0].type.rank)),
    "pad": lambda node: not any(_attribute(node, "before")) and not any(_attribute(node, "after")),
    "slice": lambda node: _same_shape(node) and all(stride == 1 for stride in _attribute(node, "steps")),
    "cast": lambda node: node.inputs[0].type.dtype is node.outputs[0].type.dtype,
    "concat": lambda node: len(node.inputs) == 1,
    "split": lambda node: len(node.outputs) == 1,
    "clip": lambda node: (_attribute(node, "low"), _attribute(node, "high")) == (-math.inf, math.inf),
    "reduce_sum": lambda node: _reduces_ones(node),
    "reduce_mean": lambda node: _reduces_ones(node),
    "reduce_max": lambda node: _reduces_ones(node),
    "reduce_min": lambda node: _reduces_ones(node),
    "reduce_prod": lambda node: _reduces_ones(node),
}


def _reduces_ones(node: Node) -> bool:
    shape = node.inputs[0].type.shape
    return _same_shape(node) and all(shape[axis] == 1 for axis in _attribute(node, "axes"))


class RemoveNoops(Pass):
    name = "remove_noops"
    summary = "drop reshapes to the same shape, pads by zero, slices of everything, casts to the same type and the like"

    def run(self, graph: Graph) -> bool:
        editor = Editor(graph)
        for node in editor.nodes():
            nothing = _NOTHING.get(node.op.name)
            if nothing is not None and nothing(node) and editor.replace(node.outputs[0], node.inputs[0]):
                editor.remove(node)
        return editor.changed
