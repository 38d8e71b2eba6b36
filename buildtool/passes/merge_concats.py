"""Cleans up concatenations: of concatenations, of the parts that a split or slices have cut, and splits of them."""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence

from buildtool.ir.dims import Dim
from buildtool.ir.graph import Graph, Node, Value
from buildtool.ops.concat import Concat
from buildtool.ops.slice import Slice
from buildtool.ops.split import Split
from buildtool.passes.base import Pass
from buildtool.passes.editor import Editor


class MergeConcats(Pass):
    name = "merge_concats"
    summary = "merge nested concatenations, and remove concatenations of splits and splits of concatenations"

    def run(self, graph: Graph) -> bool:
        editor = Editor(graph)
        for node in editor.nodes():
            if not editor.contains(node):
                continue
            if isinstance(node.op, Split):
                _split_of_concat(editor, node)
            if not isinstance(node.op, Concat):
                continue
            _flatten(editor, node)
            whole = _whole(editor, node)
            if whole is not None and editor.replace(node.outputs[0], whole):
                read = list(node.inputs)
                editor.remove(node)
                for value in read:
                    editor.sweep(value)
        return editor.changed


def _flatten(editor: Editor, node: Node) -> None:
    """Takes the operands of concatenations that nobody else reads in their place."""
    assert isinstance(node.op, Concat)
    for _ in range(len(node.inputs)):
        for position, value in enumerate(node.inputs):
            maker = editor.private_maker(value, "concat")
            if maker is None or not isinstance(maker.op, Concat) or maker.op.axis != node.op.axis:
                continue
            merged = [*node.inputs[:position], *maker.inputs, *node.inputs[position + 1 :]]
            if node.inputs.count(value) == 1 and _length(merged, node.op.axis) == _length(node.outputs, node.op.axis):
                editor.set_inputs(node, merged)
                editor.remove(maker)
                break
        else:
            return


def _length(values: Sequence[Value], axis: int) -> Dim:
    """Of all together. Sums of run-time sizes are equal only where they are added in the same order."""
    return functools.reduce(operator.add, (value.type.shape[axis] for value in values))


def _whole(editor: Editor, node: Node) -> Value | None:
    """The value that was cut into the operands, in this order and without a rest."""
    assert isinstance(node.op, Concat)
    makers = [editor.producer(value) for value in node.inputs]
    first = makers[0]
    if first is None:
        return None
    if isinstance(first.op, Split):
        return first.inputs[0] if first.op.axis == node.op.axis and first.outputs == node.inputs else None
    end: Dim = 0
    for maker in makers:
        if maker is None or not isinstance(maker.op, Slice) or maker.inputs[0] is not first.inputs[0]:
            return None
        axis = node.op.axis
        if maker.op.starts[axis] != end or any(step != 1 for step in maker.op.steps):
            return None
        end = end + maker.op.sizes[axis]
    whole = first.inputs[0]
    return whole if whole.type == node.outputs[0].type else None


def _split_of_concat(editor: Editor, node: Node) -> None:
    """Hands the operands of a concatenation to those who read the same parts of a split."""
    maker = editor.producer(node.inputs[0])
    if maker is None or not isinstance(maker.op, Concat) or not isinstance(node.op, Split):
        return
    axis = node.op.axis
    if maker.op.axis != axis or [value.type.shape[axis] for value in maker.inputs] != list(node.op.sizes):
        return
    if any(editor.is_output(value) for value in node.outputs):
        return
    for part, value in zip(node.outputs, maker.inputs, strict=True):
        editor.replace(part, value)
    read = node.inputs[0]
    editor.remove(node)
    editor.sweep(read)
