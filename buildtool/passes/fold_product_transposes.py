"""Folds transposes of the operands into a product: a * b' is fully_connected, and a' * b' is (b * a)'."""

from __future__ import annotations

from buildtool.ir.graph import Graph, Node, Value
from buildtool.ops.fully_connected import FullyConnected
from buildtool.ops.matmul import Matmul
from buildtool.ops.transpose import Transpose
from buildtool.passes.base import Pass
from buildtool.passes.editor import Editor


class FoldProductTransposes(Pass):
    name = "fold_product_transposes"
    summary = "let fully_connected read a transposed matrix directly, and transpose one product instead of two operands"
    requires = ("matmul_to_fully_connected",)

    def run(self, graph: Graph) -> bool:
        editor = Editor(graph)
        for node in editor.nodes():
            if node.op.name != "matmul":
                continue
            left, right = (_transposed(editor, value) for value in node.inputs)
            read = list(node.inputs)
            if left is not None and right is not None and all(editor.is_private(value) for value in read):
                product = editor.insert_before(node, Matmul(), [right, left])
                editor.substitute(node, Transpose(_swap(left.type.rank)), product.outputs)
            elif right is not None and _can_connect(node, right):
                editor.substitute(node, FullyConnected(), [node.inputs[0], right])
            for value in read:
                editor.sweep(value)
        return editor.changed


def _swap(rank: int) -> tuple[int, ...]:
    return (*range(rank - 2), rank - 1, rank - 2)


def _transposed(editor: Editor, value: Value) -> Value | None:
    """What a value is the transpose of, in its last two axes and of nothing but these."""
    maker = editor.producer(value)
    if maker is None or not isinstance(maker.op, Transpose) or value.type.rank < 2:
        return None
    return maker.inputs[0] if maker.op.perm == _swap(value.type.rank) else None


def _can_connect(node: Node, matrix: Value) -> bool:
    """Whether fully_connected can stand for the product: its matrix has two axes, of sizes that are known."""
    known = matrix.type.rank == 2 and all(isinstance(dim, int) for dim in matrix.type.shape)
    return known and node.inputs[0].type.rank >= 2 and matrix.type.dtype.is_float
