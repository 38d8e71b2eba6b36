"""Removes operators whose attributes make them do nothing: a reshape to the same shape, a pad by zero and the like."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from buildtool.ir.graph import Graph, Node, Value
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
    "add": lambda node: _has_neutral(node, 0.0, (1, 0)) and _attribute(node, "activation") == "none",
    "sub": lambda node: _has_neutral(node, 0.0, (1,)),
    "mul": lambda node: _has_neutral(node, 1.0, (1, 0)),
    "div": lambda node: _has_neutral(node, 1.0, (1,)),
    "pow": lambda node: _has_neutral(node, 1.0, (1,)),
    "reduce_sum": lambda node: _reduces_ones(node),
    "reduce_mean": lambda node: _reduces_ones(node),
    "reduce_max": lambda node: _reduces_ones(node),
    "reduce_min": lambda node: _reduces_ones(node),
    "reduce_prod": lambda node: _reduces_ones(node),
}


def _reduces_ones(node: Node) -> bool:
    shape = node.inputs[0].type.shape
    return _same_shape(node) and all(shape[axis] == 1 for axis in _attribute(node, "axes"))


def _has_neutral(node: Node, neutral: float, sides: tuple[int, ...]) -> bool:
    """Whether a constant that changes nothing is the only operand besides one of the result's type."""
    return any(_hands_on(node, 1 - side) and _is_all(node.inputs[side], neutral) for side in sides)


def _hands_on(node: Node, side: int) -> bool:
    return node.inputs[side].type == node.outputs[0].type


def _is_all(value: Value, number: float) -> bool:
    return value.constant is not None and value.constant.size > 0 and bool((value.constant == number).all())


def _handed_on(node: Node) -> Value:
    """The operand that a node which does nothing hands on: the one that is no constant."""
    return next((value for value in node.inputs if not value.is_constant), node.inputs[0])


class RemoveNoops(Pass):
    name = "remove_noops"
    summary = "remove nodes without effect: reshapes to the same shape, pads by zero, full slices, products by one"

    def run(self, graph: Graph) -> bool:
        editor = Editor(graph)
        for node in editor.nodes():
            nothing = _NOTHING.get(node.op.name)
            if nothing is not None and nothing(node) and editor.replace(node.outputs[0], _handed_on(node)):
                editor.remove(node)
        return editor.changed
