"""Computes nodes whose inputs are all constants, where the result is not much larger than what it is computed from."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from buildtool.ir import dims
from buildtool.ir.graph import Graph, Node
from buildtool.ir.operator import OperatorError
from buildtool.ir.quantised import is_quantised
from buildtool.ir.types import DType
from buildtool.passes.base import Pass
from buildtool.passes.editor import Editor

ALWAYS_SMALL = 4096  # bytes: results up to here are folded whatever they are made from
MOST_GROWTH = 2  # times the bytes of the inputs
MOST_BYTES = 2**30
MOST_REPEATED = 2**26  # bytes of a result with more elements than its inputs: a chain of those doubles without end
MOST_UNFOLDED = 2**26  # bytes of a constant for a chip, which has a few megabytes
MOST_MACS = 10**8  # beyond, the reference implementation takes too long
#: Operators that compute with weights as they are put in order when the engine is made: what is stored in fewer bits
#: would be expanded, and put in order, in every run.
PACKED = frozenset({"gru", "lstm", "rnn"})


def unfold(graph: Graph) -> bool:
    """Fold what a small constant is spread to, too, for targets whose weights are constants. Whether there was one."""
    return _run(graph, MOST_UNFOLDED, lambda given: MOST_UNFOLDED)


class FoldConstants(Pass):
    name = "fold_constants"
    summary = "evaluate nodes with constant inputs, unless the result is much larger than its inputs"

    def run(self, graph: Graph) -> bool:
        return _run(graph, MOST_BYTES, lambda given: max(MOST_GROWTH * given, ALWAYS_SMALL))


def _run(graph: Graph, most: int, grown: Callable[[int], int]) -> bool:
    editor = Editor(graph)
    for node in editor.nodes():
        if any(editor.is_output(value) for value in node.outputs):
            continue
        if _can_fold(node, most, _any_growth if _only_packed(editor, node) else grown):
            _fold(editor, node)
    return editor.changed


def _any_growth(given: int) -> int:
    return MOST_BYTES


def _only_packed(editor: Editor, node: Node) -> bool:
    """Whether the weights that a node expands go to layers that put them in order, by way of transposes at most."""
    if node.op.name not in ("dequantize_linear", "transpose"):
        return False
    readers = editor.readers(node.outputs[0])
    return bool(readers) and all(reader.op.name in PACKED or _only_packed(editor, reader) for reader in readers)


def _fold(editor: Editor, node: Node) -> None:
    try:
        with np.errstate(all="ignore"):
            results = node.op.reference(*(value.constant for value in node.inputs if value.constant is not None))
    except (OperatorError, ArithmeticError, MemoryError):
        return  # the content breaks a rule (an index out of range): the runtime says so
    for value, result in zip(node.outputs, results, strict=True):
        array = np.array(result, value.type.dtype.numpy, order="C")
        constant = editor.constant(value, array)
        constant.type = value.type
        editor.replace(value, constant)
    editor.remove(node)


def _can_fold(node: Node, most: int, grown: Callable[[int], int]) -> bool:
    """`grown`: the bytes that a node may make of so many bytes."""
    if node.regions or not node.inputs or not all(value.is_constant for value in node.inputs) or is_quantised(node):
        return False
    if any(node.op.used_symbols()):
        return False
    if not all(dims.is_static(value.type.shape) and value.type.dtype is not DType.BF16 for value in node.outputs):
        return False
    constants = [value.constant for value in dict.fromkeys(node.inputs) if value.constant is not None]
    shapes = [dims.static(value.type.shape) for value in node.outputs]
    made = sum(math.prod(shape) * value.type.dtype.itemsize for shape, value in zip(shapes, node.outputs, strict=True))
    if sum(map(math.prod, shapes)) > sum(constant.size for constant in constants):
        most = min(most, MOST_REPEATED)
    macs = node.op.macs([value.type for value in node.inputs], [value.type for value in node.outputs])
    given = sum(constant.nbytes for constant in constants)
    return made <= min(grown(given), most) and isinstance(macs, int) and macs <= MOST_MACS
