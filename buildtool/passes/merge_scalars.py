"""Merges products and sums with constants that follow each other: at most one product and one sum are left."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from buildtool.ir.graph import Graph, Node, Value
from buildtool.ir.operator import Array
from buildtool.ir.types import DType
from buildtool.ops._activation import ActivatedOperator
from buildtool.ops.add import Add
from buildtool.ops.cast import Cast
from buildtool.ops.mul import Mul
from buildtool.passes.base import Pass
from buildtool.passes.editor import Editor

_FLOATS = (DType.F32, DType.F64)  # the numbers are computed in double precision
_ROUNDING = ("ceil", "floor", "round")
_NEAR = 200  # nodes behind a row that are looked at: large graphs have many rows


class MergeScalars(Pass):
    name = "merge_scalars"
    summary = "merge consecutive mul, div, add and sub of constants into one mul and one add"

    def run(self, graph: Graph) -> bool:
        editor = Editor(graph)
        for node in editor.nodes():
            chain = _chain(editor, node)
            if chain is not None and not _is_rounded(editor, node):
                chain.write(editor, node)
        return editor.changed


def _is_rounded(editor: Editor, node: Node) -> bool:
    """Whether a result ends in one of the nodes that round: there the last digit may decide, such as that of a place in
    an image between two pixels, and merged constants give another one."""
    waiting, seen = [node], {node}
    while waiting and len(seen) < _NEAR:
        current = waiting.pop()
        if current.op.name in _ROUNDING or (isinstance(current.op, Cast) and not current.op.to.is_float):
            return True
        if current is node or current.op.is_elementwise:
            behind = [reader for value in current.outputs for reader in editor.readers(value)]
            waiting += [reader for reader in behind if reader not in seen]
            seen.update(behind)
    return False


@dataclass
class _Chain:
    """`scale * x + shift`, over a row of nodes of which only the last one is read by others."""

    x: Value
    scale: Array | None = None
    shift: Array | None = None
    nodes: list[Node] = field(default_factory=list)
    largest: int = 1  # elements of a constant so far

    def numbers(self) -> list[Array]:
        return [item for item in (self.scale, self.shift) if item is not None]

    def is_worth_it(self) -> bool:
        numbers = self.numbers()
        return (
            len(self.nodes) > max(len(numbers), 1)
            and all(item.size <= self.largest for item in numbers)
            and all(bool(np.all(np.isfinite(item.astype(self.x.type.dtype.numpy)))) for item in numbers)
        )

    def write(self, editor: Editor, node: Node) -> None:
        read, value, last = list(node.inputs), self.x, node
        operators = [op for op, item in ((Mul(), self.scale), (Add(), self.shift)) if item is not None]
        for op, item in zip(operators, self.numbers(), strict=True):
            constant = editor.constant(None, item.astype(self.x.type.dtype.numpy))
            if op is operators[-1]:
                last = editor.substitute(node, op, [value, constant])
            else:
                last = editor.insert_before(node, op, [value, constant])
            value = last.outputs[0]
        for operand in read:
            editor.sweep(operand)


def _chain(editor: Editor, node: Node) -> _Chain | None:
    """The row that ends with a node, where it can be shortened."""
    nodes: list[tuple[Node, int]] = []
    if editor.is_private(node.outputs[0]) and _constant_side(editor.readers(node.outputs[0])[0]) is not None:
        return None
    current: Node | None = node
    while current is not None:
        side = _constant_side(current)
        if side is None:
            break
        nodes.append((current, side))
        current = editor.private_maker(current.inputs[1 - side], "mul", "div", "add", "sub")
    if len(nodes) < 2:
        return None
    first, side = nodes[-1]
    chain = _Chain(first.inputs[1 - side])
    with np.errstate(all="ignore"):
        for one, side in reversed(nodes):
            _extend(chain, one, side)
    return chain if chain.is_worth_it() else None


def _constant_side(node: Node) -> int | None:
    """Which operand is a constant that broadcasts to the other one."""
    if node.op.name not in ("mul", "div", "add", "sub") or node.outputs[0].type.dtype not in _FLOATS:
        return None
    if isinstance(node.op, ActivatedOperator) and node.op.activation != "none":
        return None
    for side in (1, 0):
        other = node.inputs[1 - side]
        if node.inputs[side].is_constant and not other.is_constant and other.type == node.outputs[0].type:
            return None if side == 0 and node.op.name == "div" else side
    return None


def _extend(chain: _Chain, node: Node, side: int) -> None:
    array = node.inputs[side].constant
    assert array is not None
    number = array.astype(np.float64)
    chain.nodes.append(node)
    chain.largest = max(chain.largest, number.size)
    if node.op.name in ("mul", "div"):
        factor = 1 / number if node.op.name == "div" else number
        chain.scale = factor if chain.scale is None else chain.scale * factor
        chain.shift = None if chain.shift is None else chain.shift * factor
        return
    if node.op.name == "sub" and side == 0:
        chain.scale = np.asarray(-1.0) if chain.scale is None else -chain.scale
        chain.shift = None if chain.shift is None else -chain.shift
    addend = -number if node.op.name == "sub" and side == 1 else number
    chain.shift = addend if chain.shift is None else chain.shift + addend
