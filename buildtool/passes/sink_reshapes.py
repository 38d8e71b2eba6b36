"""Moves a reshape behind what works on single elements or on the last axis, where another reshape waits there."""

from __future__ import annotations

from buildtool.ir.dims import Shape
from buildtool.ir.graph import Graph, Node, Value
from buildtool.ir.types import TensorType
from buildtool.ops.reshape import Reshape
from buildtool.passes.base import Pass
from buildtool.passes.editor import Editor

_LONGEST = 16  # nodes between two reshapes


class SinkReshapes(Pass):
    name = "sink_reshapes"
    summary = "move a reshape down past element-wise functions and matrix products, to another reshape"
    requires = ("merge_reshapes",)

    def run(self, graph: Graph) -> bool:
        editor = Editor(graph)
        for node in editor.nodes():
            if not editor.contains(node) or node.op.name != "reshape":
                continue
            between = _between(editor, node)
            if not between:
                continue
            value = node.inputs[0]
            for one in between:
                names = one.outputs[0].source_names
                made = editor.insert_before(one, one.op, [value, *one.inputs[1:]], one.name)
                value = made.outputs[0]
                value.source_names = names
            last = editor.readers(between[-1].outputs[0])[0]
            editor.set_inputs(last, [value])
            editor.sweep(between[-1].outputs[0])
        return editor.changed


def _between(editor: Editor, reshape: Node) -> list[Node]:
    """The nodes from one reshape to the next, each of which works as well in front of the first; none else."""
    nodes: list[Node] = []
    value, shape = reshape.outputs[0], reshape.inputs[0].type.shape
    while len(nodes) < _LONGEST and editor.is_private(value):
        reader = editor.readers(value)[0]
        if isinstance(reader.op, Reshape):
            return nodes
        after = _moved(reader, value, shape)
        if after is None:
            return []
        nodes.append(reader)
        value, shape = reader.outputs[0], after
    return []


def _moved(node: Node, value: Value, shape: Shape) -> Shape | None:
    """The shape of a node's result when its first operand has this shape, if it then computes the same elements."""
    if node.regions or len(node.outputs) != 1 or node.inputs[0] is not value or value in node.inputs[1:]:
        return None
    scalars = all(operand.is_constant and operand.type.shape == () for operand in node.inputs[1:])
    if node.op.is_elementwise and scalars and node.outputs[0].type.shape == value.type.shape:
        return shape
    if node.op.name == "fully_connected" and shape and shape[-1] == value.type.shape[-1]:
        types = [TensorType(value.type.dtype, shape), *(operand.type for operand in node.inputs[1:])]
        return node.op.infer(types)[0].shape
    return None
