"""Merges slices: those of slices, and those that lie in one part of a concatenation."""

from __future__ import annotations

from buildtool.ir.dims import Dim
from buildtool.ir.graph import Graph, Node
from buildtool.ops.concat import Concat
from buildtool.ops.slice import Slice
from buildtool.passes.base import Pass
from buildtool.passes.editor import Editor


class MergeSlices(Pass):
    name = "merge_slices"
    summary = "merge slices of slices, and slice the inputs of a concatenation instead of its result"

    def run(self, graph: Graph) -> bool:
        editor = Editor(graph)
        for node in editor.nodes():
            while (maker := editor.producer(node.inputs[0]) if isinstance(node.op, Slice) else None) is not None:
                source = node.inputs[0]
                if isinstance(maker.op, Slice):
                    changed = _of_slice(editor, node, maker)
                else:
                    changed = isinstance(maker.op, Concat) and _of_concat(editor, node, maker)
                if not changed:
                    break
                editor.sweep(source)
        return editor.changed


def _of_slice(editor: Editor, node: Node, first: Node) -> bool:
    inner, outer = first.op, node.op
    assert isinstance(inner, Slice) and isinstance(outer, Slice)
    axes = range(len(outer.sizes))
    starts = tuple(inner.starts[axis] + outer.starts[axis] * inner.steps[axis] for axis in axes)
    steps = tuple(inner.steps[axis] * outer.steps[axis] for axis in axes)
    if any(abs(step) >= 2**31 for step in steps):
        return False
    node.op = Slice(starts, steps, outer.sizes)
    editor.set_inputs(node, first.inputs)
    return True


def _of_concat(editor: Editor, node: Node, concat: Node) -> bool:
    op = node.op
    assert isinstance(op, Slice) and isinstance(concat.op, Concat)
    axis = concat.op.axis
    start, size = op.starts[axis], op.sizes[axis]
    if not isinstance(start, int) or not isinstance(size, int) or op.steps[axis] < 0 or size == 0:
        return False
    last, begin = start + (size - 1) * op.steps[axis], 0
    for part in concat.inputs:
        width: Dim = part.type.shape[axis]
        if not isinstance(width, int):
            return False
        if begin <= start and last < begin + width:
            if part.is_constant:
                return False
            starts = (*op.starts[:axis], start - begin, *op.starts[axis + 1 :])
            node.op = Slice(starts, op.steps, op.sizes)
            editor.set_inputs(node, [part])
            return True
        begin += width
    return False
