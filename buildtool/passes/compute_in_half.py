"""Computes in half precision what can be: `data_type: fp16_fp16`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from buildtool.ir.graph import Graph, Node, Value
from buildtool.ir.operator import Array, OperatorError
from buildtool.ir.types import DType, TensorType
from buildtool.ops.cast import Cast
from buildtool.passes.base import Pass
from buildtool.passes.editor import Editor

_LIMITS = np.finfo(np.float16)
_SMALLEST = float(_LIMITS.smallest_normal)
#: Operators whose third input is added to the output.
_WITH_BIAS = frozenset({"conv2d", "dwconv2d", "deconv2d", "fully_connected"})

#: Why a node (in single precision, and as it would be in half) stays what it is on what the graph is lowered for.
#: Empty where nothing is against half precision.
Objection = Callable[[Node, Node], str]


@dataclass(frozen=True)
class Kept:
    """A node that stays in single precision."""

    node: str
    op: str
    reason: str


class ComputeInHalf(Pass):
    """Every node stands between casts first; those that meet cancel each other in the passes that come behind this.

    Inputs and outputs of the graph and of regions keep their types,
    and so does everything that is no f32.
    """

    name = "compute_in_half"
    summary = "compute nodes that have half-precision kernels in half precision, between casts"

    def __init__(self, objection: Objection) -> None:
        self.objection = objection
        self.kept: list[Kept] = []

    def run(self, graph: Graph) -> bool:
        editor = Editor(graph)
        able: list[Node] = []
        for node in editor.nodes():
            if isinstance(node.op, Cast) or not any(map(_is_single, (*node.inputs, *node.outputs))):
                continue
            reason = self._reason(node)
            if reason:
                self._keep(node, reason)
            else:
                able.append(node)
        gaining = _gaining(able)
        constants: dict[Value, Value] = {}
        for node in able:
            if node in gaining:
                _rewrite(editor, node, constants)
            else:
                self._keep(node, "no neighbour multiplies in half precision, and casts would cost more than they gain")
        return editor.changed

    def _keep(self, node: Node, reason: str) -> None:
        self.kept.append(Kept(node.name or node.outputs[0].name, node.op.name, reason))

    def _reason(self, node: Node) -> str:
        if node.regions:
            return "its regions have inputs and outputs in single precision"
        for index, value in enumerate(node.inputs):
            if not _is_single(value) or value.constant is None:
                continue
            # What a small bias loses is less than what the output loses as it is stored.
            added = index == 2 and node.op.name in _WITH_BIAS
            if not fits_half(value.constant, smallest=0.0 if added else _SMALLEST):
                return f"half precision cannot represent the values of its constant '{value.name}'"
        wanted = [_half_type(value) for value in node.outputs]
        try:
            found = node.op.infer([_half_type(value) for value in node.inputs])
        except OperatorError as problem:
            return str(problem)
        if list(found) != wanted:
            return "its output is always in single precision"
        inputs = [Value(value.name, _half_type(value), (), value.constant) for value in node.inputs]
        outputs = [Value(value.name, type_) for value, type_ in zip(node.outputs, wanted, strict=True)]
        return self.objection(node, Node(node.op, inputs, outputs, node.name))


def fits_half(array: Array, smallest: float) -> bool:
    """Whether the largest of the numbers is one that f16 holds to its full precision; smaller ones lose less than that.
    `smallest`: where all may be less without harm.

    Infinite ones and those that are no numbers stay what they are.
    """
    sizes = np.abs(array[np.isfinite(array)])
    largest = float(sizes.max()) if sizes.size else 0.0
    return largest == 0.0 or smallest <= largest <= float(_LIMITS.max)


def _gaining(nodes: Sequence[Node]) -> set[Node]:
    """Those that are joined by values, directly or through others of them, with one that multiplies and adds."""
    readers: dict[Value, list[Node]] = {}
    for node in nodes:
        for value in dict.fromkeys((*node.inputs, *node.outputs)):
            if _is_single(value) and value.constant is None:
                readers.setdefault(value, []).append(node)
    found: set[Node] = set()
    pending = [node for node in nodes if node.op.macs([v.type for v in node.inputs], [v.type for v in node.outputs])]
    while pending:
        node = pending.pop()
        if node not in found:
            found.add(node)
            pending += (near for value in (*node.inputs, *node.outputs) for near in readers.get(value, ()))
    return found


def _is_single(value: Value) -> bool:
    return value.type.dtype is DType.F32


def _half_type(value: Value) -> TensorType:
    return value.type.with_dtype(DType.F16) if _is_single(value) else value.type


def _rewrite(editor: Editor, node: Node, constants: dict[Value, Value]) -> None:
    """The node in half precision, between casts."""
    operands = []
    for value in node.inputs:
        if not _is_single(value):
            operands.append(value)
        elif value.constant is None:
            operands.append(editor.insert_before(node, Cast(to=DType.F16), [value]).outputs[0])
        else:
            if value not in constants:
                constants[value] = editor.constant(value, value.constant.astype(np.float16))
            operands.append(constants[value])
    old = list(node.outputs)
    made = [editor.graph.new_value(value.name, _half_type(value), value.source_names) for value in old]
    outputs = [new if _is_single(value) else value for value, new in zip(old, made, strict=True)]
    editor.rebuild(node, node.op, operands, outputs)
    for value, new in zip(old, outputs, strict=True):
        if new is not value:
            widened = editor.insert_after(node, Cast(to=DType.F32), [new])
            editor.replace(value, widened.outputs[0])
