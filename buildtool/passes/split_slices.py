"""Writes slices as one split, where they cut all of a value into consecutive parts."""

from __future__ import annotations

from buildtool.ir.dims import is_static
from buildtool.ir.graph import Graph, Node, Value
from buildtool.ops.slice import Slice
from buildtool.ops.split import Split
from buildtool.passes.base import Pass
from buildtool.passes.editor import Editor


class SplitSlices(Pass):
    name = "split_slices"
    summary = "replace slices that cut a value into consecutive parts by one split"

    def run(self, graph: Graph) -> bool:
        editor = Editor(graph)
        for value in graph.values():
            if not value.is_constant:
                _split(editor, value)
        return editor.changed


def _split(editor: Editor, value: Value) -> None:
    by_axis: dict[int, list[Node]] = {}
    for node in editor.readers(value):
        axis = _cut_axis(node)
        if axis is not None:
            by_axis.setdefault(axis, []).append(node)
    for axis, nodes in by_axis.items():
        parts = sorted(nodes, key=lambda node: _range(node, axis))
        end = 0
        for node in parts:
            start, size = _range(node, axis)
            if start != end:
                break
            end += size
        else:
            if len(parts) > 1 and end == value.type.shape[axis]:
                _replace(editor, parts, axis)


def _replace(editor: Editor, parts: list[Node], axis: int) -> None:
    """The split stands where the first of the slices stood."""
    first = editor.first(parts)
    if first is None:
        return
    sizes = tuple(_range(node, axis)[1] for node in parts)
    made = editor.insert_before(first, Split(axis, sizes), first.inputs)
    for node, output in zip(parts, made.outputs, strict=True):
        editor.replace(node.outputs[0], output)
        editor.remove(node)


def _range(node: Node, axis: int) -> tuple[int, int]:
    assert isinstance(node.op, Slice)
    start, size = node.op.starts[axis], node.op.sizes[axis]
    assert isinstance(start, int) and isinstance(size, int)
    return start, size


def _cut_axis(node: Node) -> int | None:
    """The only axis along which a slice takes less than everything."""
    if not isinstance(node.op, Slice) or any(step != 1 for step in node.op.steps):
        return None
    shape = node.inputs[0].type.shape
    cut = [axis for axis, size in enumerate(node.op.sizes) if size != shape[axis] or node.op.starts[axis] != 0]
    if len(cut) != 1 or not is_static((node.op.starts[cut[0]], node.op.sizes[cut[0]])):
        return None
    return cut[0]
