"""Lets softmax(q k^T) v be computed at once, so that the scores of all queries never exist together."""

from __future__ import annotations

from dataclasses import dataclass

from buildtool.ir.dims import bounds
from buildtool.ir.graph import Graph, Node, Value
from buildtool.ir.types import DType
from buildtool.ops.add import Add
from buildtool.ops.attention import Attention
from buildtool.ops.softmax import Softmax
from buildtool.ops.transpose import Transpose
from buildtool.passes.base import Pass
from buildtool.passes.editor import Editor
from buildtool.passes.factors import scaled

_TOKENS_FIRST = (0, 2, 1, 3)
_KEYS = {(0, 1, 3, 2): 0, (0, 2, 3, 1): 1}  # the transposes of keys, and whether their tokens come first


class FuseAttention(Pass):
    name = "fuse_attention"
    summary = "merge softmax(q k^T) v into one node that never stores the scores of all queries"
    requires = ("move_transposes", "merge_transposes")
    makes = ("attention",)

    def run(self, graph: Graph) -> bool:
        editor = Editor(graph)
        for node in editor.nodes():
            if node.op.name == "matmul" and node.outputs[0].type.rank == 4:
                _fuse(editor, node)
        return editor.changed


@dataclass(frozen=True)
class _Scores:
    """factor * left * right + mask."""

    left: Value
    right: Value  # [B,H,K,S]
    factor: float
    mask: Value | None


@dataclass(frozen=True)
class _Matrix:
    value: Value
    factor: float = 1.0
    tokens_first: int = 0


def _fuse(editor: Editor, node: Node) -> None:
    softmax = editor.private_maker(node.inputs[0], "softmax")
    if softmax is None or not isinstance(softmax.op, Softmax) or softmax.op.axis != 3:
        return
    scores = _scores(editor, softmax.inputs[0])
    keys = _keys(editor, scores.right) if scores is not None else None
    if scores is None or keys is None or node.outputs[0].type.dtype is not DType.F32:
        return
    queries, values = _queries(editor, scores.left), _turned(editor, node.inputs[1])
    scale = scores.factor * queries.factor * keys.factor
    if not scale > 0 or not _alike(scores, node):
        return
    keys, values = _unrepeated(editor, keys, values)
    last = _turned_afterwards(editor, node)
    firsts = (queries.tokens_first, keys.tokens_first, values.tokens_first, int(last is not node))
    operands = [queries.value, keys.value, values.value, *([scores.mask] if scores.mask is not None else [])]
    read = [*last.inputs, *node.inputs]
    editor.substitute(last, Attention(scale, firsts), operands, node.name)
    for value in read:
        editor.sweep(value)


def _scores(editor: Editor, value: Value) -> _Scores | None:
    found = _product(editor, value)
    if found is not None:
        return found
    maker = editor.private_maker(value, "add")
    if maker is None or not isinstance(maker.op, Add) or maker.op.activation != "none":
        return None
    for operand, mask in (maker.inputs, maker.inputs[::-1]):
        found = _product(editor, operand)
        if found is not None and operand.type == value.type and _is_mask(mask, value):
            return _Scores(found.left, found.right, found.factor, mask)
    return None


def _product(editor: Editor, value: Value) -> _Scores | None:
    behind, factor = scaled(editor, value)
    product = editor.private_maker(behind, "matmul")
    if product is None:
        return None
    left, right = product.inputs
    return _Scores(left, right, factor, None)


def _is_mask(mask: Value, scores: Value) -> bool:
    """Whether it has the rank of the scores, a number for each key, and nothing that the scores lack."""
    sizes = zip(mask.type.shape[:3], scores.type.shape[:3], strict=False)
    same_rank = mask.type.rank == scores.type.rank
    return same_rank and mask.type.shape[3] == scores.type.shape[3] and all(a in (1, b) for a, b in sizes)


def _keys(editor: Editor, value: Value) -> _Matrix | None:
    """What keys are the transpose of; None where they are none."""
    value, factor = scaled(editor, value)
    maker = editor.producer(value)
    if maker is None or not isinstance(maker.op, Transpose) or maker.op.perm not in _KEYS:
        return None
    behind, more = scaled(editor, maker.inputs[0])
    return _Matrix(behind, factor * more, _KEYS[maker.op.perm])


def _queries(editor: Editor, value: Value) -> _Matrix:
    value, factor = scaled(editor, value)
    matrix = _turned(editor, value)
    if not matrix.tokens_first:
        return _Matrix(value, factor)
    behind, more = scaled(editor, matrix.value)
    return _Matrix(behind, factor * more, 1)


def _turned(editor: Editor, value: Value) -> _Matrix:
    """The matrix, or what it is the transpose of."""
    maker = editor.producer(value)
    if maker is None or not isinstance(maker.op, Transpose) or maker.op.perm != _TOKENS_FIRST:
        return _Matrix(value)
    return _Matrix(maker.inputs[0], tokens_first=1)


def _alike(scores: _Scores, node: Node) -> bool:
    """Whether all have the same batches and heads, as many as are known, and at least one key."""
    shapes = [value.type.shape for value in (scores.left, scores.right, *node.inputs)]
    heads = {shape[:2] for shape in shapes if len(shape) == 4}
    ranks = {len(shape) for shape in shapes}
    known = isinstance(shapes[0][1], int) if shapes[0] else False
    return ranks == {4} and len(heads) == 1 and known and bounds(scores.right.type.shape[3])[0] > 0


def _unrepeated(editor: Editor, keys: _Matrix, values: _Matrix) -> tuple[_Matrix, _Matrix]:
    """Keys and values before each of their heads was repeated for those of the queries."""
    shared = [_before_repeats(editor, one) for one in (keys, values)]
    if shared[0] is None or shared[1] is None or shared[0].type.shape[1] != shared[1].type.shape[1]:
        return keys, values
    return _Matrix(shared[0], keys.factor), _Matrix(shared[1], values.factor)


def _before_repeats(editor: Editor, matrix: _Matrix) -> Value | None:
    """[B,G,S,K] of which [B,G,1,S,K] was broadcast to [B,G,R,S,K] and reshaped to [B,G*R,S,K]."""
    outer = editor.producer(matrix.value)
    repeat = editor.producer(outer.inputs[0]) if outer is not None and outer.op.name == "reshape" else None
    inner = editor.producer(repeat.inputs[0]) if repeat is not None and repeat.op.name == "broadcast_to" else None
    if matrix.tokens_first or inner is None or repeat is None or inner.op.name != "reshape":
        return None
    source, whole = inner.inputs[0], matrix.value.type.shape
    narrow, wide = repeat.inputs[0].type.shape, repeat.outputs[0].type.shape
    if source.type.rank != 4 or len(narrow) != 5 or len(wide) != 5 or not isinstance(wide[2], int):
        return None
    batch, groups, *rest = source.type.shape
    fits = narrow == (batch, groups, 1, *rest) and wide == (batch, groups, wide[2], *rest)
    return source if fits and whole == (batch, groups * wide[2], *rest) else None


def _turned_afterwards(editor: Editor, node: Node) -> Node:
    """The only reader, where it puts the tokens first; else the node."""
    readers = editor.readers(node.outputs[0])
    if len(readers) != 1 or not editor.is_private(node.outputs[0]):
        return node
    op = readers[0].op
    return readers[0] if isinstance(op, Transpose) and op.perm == _TOKENS_FIRST else node
