"""Stores values in a few bits: those whose ranges are known, where kernels compute on what is stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from buildtool.ir import quantised
from buildtool.ir.graph import Graph, Node, Value
from buildtool.ir.operator import Array
from buildtool.ir.types import DType, QuantType, TensorType
from buildtool.ops.clip import Clip
from buildtool.ops.requantize import Requantize
from buildtool.passes.base import Pass
from buildtool.passes.compute_in_half import Kept
from buildtool.passes.editor import Editor
from buildtool.passes.grids import column_grid, lost, whole_grid

#: Why a node on stored numbers cannot be run by what the graph is lowered for; empty where it can.
Objection = Callable[[Node], str]

#: Operators that multiply by weights: the axis of the weights along which every output channel has its own scale.
WEIGHTED: Mapping[str, int] = {"conv2d": 0, "dwconv2d": 2, "deconv2d": 0, "fully_connected": 0}
#: What results lie between, whatever comes in.
BOUNDED = {
    "softmax": QuantType((1 / 256,), (-128,)),
    "sigmoid": QuantType((1 / 256,), (-128,)),
    "tanh": QuantType((1 / 128,), (0,)),
}
_W, _BIAS = 1, 2
_NEAR = 1e-3  # of a step
_MOST_SUM = 2.0**30  # of what stands for a bias: products come on top
_SPREAD = 74  # steps: the deviation of numbers that are anywhere in 8 bits
_HARMLESS = 0.2  # steps: a deviation that hardly ever becomes a whole step more


class StoreQuantised(Pass):
    """Activations have the ranges of the graph. Weights are symmetric, with a scale per output channel; where they come
    from a few bits, they get the numbers back that they were. Biases are sums of products.

    Inputs and outputs of the graph stay real numbers.
    """

    name = "store_quantised"
    summary = "quantise values that have a known range and kernels for it"

    def __init__(self, objection: Objection, real: Mapping[Value, str] | None = None) -> None:
        """`real`: the first results of nodes that stay what they are anyway, and why."""
        self.objection = objection
        self.real = real or {}
        self.kept: list[Kept] = []

    def run(self, graph: Graph) -> bool:
        editor = Editor(graph)
        types = known_types(graph)
        rewrite = _Rewrite(editor)
        for node in list(graph.nodes):
            if isinstance(node.op, Requantize) or quantised.is_quantised(node):
                continue
            if not any(value.type.dtype is DType.F32 for value in (*node.inputs, *node.outputs)):
                continue
            if node.outputs[0] in self.real:
                self.kept.append(Kept(node.name or node.outputs[0].name, node.op.name, self.real[node.outputs[0]]))
                continue
            if _only_stores(node, types):
                rewrite.store(node, types[node.outputs[0]])
                continue
            candidate, reason = _candidate(node, types)
            if candidate is not None and _cuts_nothing_off(candidate) and rewrite.without(node, candidate):
                continue
            if candidate is not None:
                reason = self.objection(candidate)
            if candidate is None or reason:
                self.kept.append(Kept(node.name or node.outputs[0].name, node.op.name, reason))
            else:
                rewrite.node(node, candidate)
        rewrite.finish()
        return editor.changed


def known_types(graph: Graph) -> dict[Value, QuantType]:
    """How values would be stored: as the ranges say, what only moves numbers as the numbers that it moves, and what
    nothing but a node that stores it reads as that node does."""
    types: dict[Value, QuantType] = {}
    for value in graph.values():
        found = graph.range_of(value)
        if found is not None and found.axis is None and value.type.dtype is DType.F32 and not value.is_constant:
            types[value] = found
    for node in graph.nodes:
        if node.op.keeps_numbers:
            moved = _common(types, node.inputs)
            types.update({value: moved for value in node.outputs if moved and value.type.dtype is DType.F32})
        bounded = BOUNDED.get(node.op.name)
        if bounded is not None:
            types.setdefault(node.outputs[0], bounded)
    _add_what_is_moved(graph, types)
    return types


def _add_what_is_moved(graph: Graph, types: dict[Value, QuantType]) -> None:
    """Types of the operands of nodes that only move numbers, or store them, where their results have known ones. An
    operand that others read as well gets one only if that is its own range: they would read coarser numbers."""
    reads = Counter(value for node in graph.nodes for value in node.inputs) + Counter(graph.outputs)
    cut: set[Value] = set()  # stored with another range than their own
    for node in reversed(graph.nodes):
        if not node.op.keeps_numbers and not isinstance(node.op, Clip):
            continue
        y, stores = node.outputs[0], _only_stores(node, types)
        if y not in types or not (stores or node.op.keeps_numbers):
            continue
        for index, value in enumerate(node.inputs):
            if value.type.dtype is not DType.F32 or value.is_constant or value in types:
                continue
            if reads[value] == 1 or (index == 0 and not stores and y not in cut):
                types[value] = types[y]
                if stores or y in cut:
                    cut.add(value)


def _common(types: Mapping[Value, QuantType], values: Sequence[Value]) -> QuantType | None:
    """The one type of those that are floats; None where there are several, or unknown ones."""
    found = {types.get(value) for value in values if value.type.dtype is DType.F32}
    return found.pop() if len(found) == 1 else None


def _candidate(node: Node, types: Mapping[Value, QuantType]) -> tuple[Node | None, str]:
    """The node on stored numbers, not in any graph; or why there is none."""
    if node.regions:
        return None, "its regions have floating-point inputs and outputs"
    inputs: list[Value] = []
    for index, value in enumerate(node.inputs):
        if value.type.dtype is not DType.F32:
            inputs.append(value)
        elif value.constant is not None:
            stored = _constant(node, index, value.constant, inputs)
            if stored is None:
                return None, f"its constant '{value.name}' cannot be quantised"
            inputs.append(Value(value.name, *stored))
        elif value in types:
            inputs.append(Value(value.name, _stored_type(value, types[value])))
        else:
            return None, f"the range of '{value.name}' is not known"
    outputs = []
    for value in node.outputs:
        if value.type.dtype is DType.F32 and value not in types:
            return None, f"the range of '{value.name}' is not known"
        quant = types.get(value)
        outputs.append(value if quant is None else Value(value.name, _stored_type(value, quant)))
    if _loses_steps(node, inputs, outputs):
        return None, "its weights have zero points, and without them the results would differ by more than one step"
    return Node(node.op, inputs, outputs, node.name), ""


def _loses_steps(node: Node, inputs: Sequence[Value], outputs: Sequence[Value]) -> bool:
    """Whether trained weights, rounded anew to numbers without zero points, may change results by more than a step."""
    axis = WEIGHTED.get(node.op.name)
    if axis is None:
        return False
    of_x, of_w, of_y = (value.type.quant for value in (*inputs[:_BIAS], outputs[0]))
    weights = node.inputs[_W].constant
    if weights is None or of_x is None or of_w is None or of_y is None:
        return False
    errors = lost(weights, axis, of_w) * of_x.scales[0] * _SPREAD * 2.0 ** (of_x.bits - 8)
    return bool(errors.max() > of_y.scales[0] * _HARMLESS)


def _cuts_nothing_off(candidate: Node) -> bool:
    """Whether the node is a clip at the ends of what can be stored."""
    quant = candidate.inputs[0].type.quant
    if not isinstance(candidate.op, Clip) or quant is None or quant != candidate.outputs[0].type.quant:
        return False
    type_ = candidate.inputs[0].type
    ends = np.array(quantised.limits(type_.dtype, quant.bits))
    low, high = (ends - quant.zero_points[0]) * np.float32(quant.scales[0])
    near = quant.scales[0] * _NEAR
    return bool(candidate.op.low <= low + near and candidate.op.high >= high - near)


def _only_stores(node: Node, types: Mapping[Value, QuantType]) -> bool:
    """Whether the node cuts real numbers off where storing them does: what keeps floats apart that others read."""
    x, quant = node.inputs[0], types.get(node.outputs[0])
    if not isinstance(node.op, Clip) or quant is None or x in types or x.is_constant or x.type.dtype is not DType.F32:
        return False
    dtype = DType.S8 if quant.bits <= 8 else DType.S16
    ends = np.array(quantised.limits(dtype, quant.bits))
    low, high = (ends - quant.zero_points[0]) * np.float32(quant.scales[0])
    near = quant.scales[0] * _NEAR
    return bool(abs(node.op.low - low) <= near and abs(node.op.high - high) <= near)


def _stored_type(value: Value, quant: QuantType) -> TensorType:
    return TensorType(DType.S8 if quant.bits <= 8 else DType.S16, value.type.shape, quant)


def _constant(
    node: Node, index: int, array: Array, before: Sequence[Value]
) -> tuple[TensorType, tuple[str, ...], Array] | None:
    """A constant operand as it is stored: weights, a bias, or numbers like any others."""
    if not np.isfinite(array).all() or not array.size:
        return None
    axis = WEIGHTED.get(node.op.name)
    dtype = DType.S8
    if axis is not None and index == _W:
        quant: QuantType | None = _with_room(column_grid(array, axis), node, before)
    elif axis is not None and index == _BIAS:
        dtype, quant = DType.S32, _sums(before)
    else:
        quant = whole_grid(array)
    if quant is None:
        return None
    type_ = TensorType(dtype, tuple(array.shape), quant)
    return type_, (), quantised.quantised(array, type_)


def _with_room(quant: QuantType, node: Node, before: Sequence[Value]) -> QuantType:
    """Scales of weights with which the bias, a sum of products, fits 32 bits: those of channels that hardly do anything
    are so small that it would not."""
    bias, x = node.input(_BIAS), before[0].type.quant
    if bias is None or bias.constant is None or x is None:
        return quant
    least = np.abs(bias.constant.astype(np.float64)) / (np.float64(x.scales[0]) * _MOST_SUM)
    scales = np.maximum(np.asarray(quant.scales, np.float64), least.reshape(-1))
    if not np.isfinite(scales.astype(np.float32)).all():
        return quant
    return replace(quant, scales=tuple(float(np.float32(scale)) for scale in scales))


def _sums(operands: Sequence[Value]) -> QuantType | None:
    """How sums of products of the first two operands are stored."""
    x, w = (value.type.quant for value in operands[:2])
    if x is None or w is None:
        return None
    scales = np.float32(x.scales[0]) * np.asarray(w.scales, np.float32)
    if not (np.isfinite(scales) & (scales > 0)).all():
        return None
    return QuantType(tuple(map(float, scales)), (0,) * len(scales), 0)


class _Rewrite:
    """Puts candidates into the graph. What is read both ways is stored once and made real once."""

    def __init__(self, editor: Editor) -> None:
        self._editor = editor
        self._stored: dict[Value, Value] = {}  # by the real value
        self._made: list[Value] = []  # real values whose nodes store their results now

    def node(self, node: Node, candidate: Node) -> None:
        operands = []
        for real, wanted in zip(node.inputs, candidate.inputs, strict=True):
            if wanted.type.quant is None:
                operands.append(real)
            elif wanted.constant is not None:
                constant = self._editor.constant(real, wanted.constant)
                constant.type = wanted.type
                operands.append(constant)
            else:
                operands.append(self._store(real, wanted.type))
        outputs = []
        for real, wanted in zip(node.outputs, candidate.outputs, strict=True):
            if wanted.type.quant is None:
                outputs.append(real)
                continue
            self._stored[real] = self._editor.graph.new_value(real.name, wanted.type, real.source_names)
            self._made.append(real)
            outputs.append(self._stored[real])
        self._editor.rebuild(node, node.op, operands, outputs)

    def store(self, node: Node, quant: QuantType) -> None:
        """The operand of a node as it is stored, in the place of the node."""
        real = node.outputs[0]
        self._stored[real] = self._editor.graph.new_value(real.name, _stored_type(real, quant), real.source_names)
        self._made.append(real)
        self._editor.rebuild(node, Requantize(), node.inputs, [self._stored[real]])

    def without(self, node: Node, candidate: Node) -> bool:
        """Takes a node out that does nothing to its operand once that is stored."""
        old, new = node.outputs[0], node.inputs[0]
        if self._editor.is_output(old):
            return False
        self._store(new, candidate.inputs[0].type)
        self._editor.replace(old, new)
        self._editor.remove(node)
        return True

    def _store(self, real: Value, type_: TensorType) -> Value:
        """The value as it is stored."""
        if real not in self._stored:
            assert type_.quant is not None
            maker = self._editor.producer(real)
            made = self._editor.insert_after(maker, Requantize(), [real], stored=[(type_.dtype, type_.quant)])
            self._stored[real] = made.outputs[0]
        return self._stored[real]

    def finish(self) -> None:
        """Real numbers for those who still read them."""
        for real in self._made:
            if self._editor.is_unused(real):
                continue
            stored = self._stored[real]
            made = self._editor.insert_after(self._editor.producer(stored), Requantize(), [stored], stored=[None])
            self._editor.replace(real, made.outputs[0])
