"""Computes on the real numbers that quantised ones stand for; the ranges stay with the graph.

What quantises and dequantises goes, and so do operators for quantised operands: `Graph.ranges` keeps how tensors were
stored. All other passes then see an ordinary network, whatever it was quantised with, and whoever lowers the graph
decides anew which values are stored, and how (see store_quantised).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from buildtool.ir import quantised
from buildtool.ir.graph import Graph, Node, Value
from buildtool.ir.operator import Array, Operator
from buildtool.ir.types import DType, QuantType, TensorType
from buildtool.ops.add import Add
from buildtool.ops.cast import Cast
from buildtool.ops.clip import Clip
from buildtool.ops.conv2d import Conv2d
from buildtool.ops.dequantize_linear import DequantizeLinear
from buildtool.ops.dwconv2d import DwConv2d
from buildtool.ops.fully_connected import FullyConnected
from buildtool.ops.matmul import Matmul
from buildtool.ops.pad import Pad
from buildtool.ops.qlinear_conv import QlinearConv
from buildtool.ops.qlinear_matmul import QlinearMatmul
from buildtool.ops.quantize_linear import QuantizeLinear
from buildtool.passes.base import Pass
from buildtool.passes.editor import Editor


@dataclass(frozen=True)
class _Stored:
    """How numbers are stored, and the value that holds what they stand for."""

    real: Value
    dtype: DType
    quant: QuantType


class RealNumbers(Pass):
    name = "real_numbers"
    summary = "replace quantised values by the floating-point values that they represent, and keep their ranges"

    def run(self, graph: Graph) -> bool:
        return _Rewrite(graph).run()


class _Rewrite:
    """One walk. What reads stored numbers and is understood gets a twin on real ones, and is dead then."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._editor = Editor(graph)
        self._stored: dict[Value, _Stored] = {}
        self._twinned: set[Node] = set()
        self._quants: dict[Value, QuantType] = {}  # of real numbers: how they are stored, as signed numbers
        self._cut: list[tuple[Value, DType, QuantType]] = []  # what loses its ends where it is stored
        self._names: dict[Value, tuple[str, ...]] = {}  # of real numbers: what is called so has been rounded

    def run(self) -> bool:
        for node in list(self._graph.nodes):  # bodies of nodes go on reading what is stored
            handler = _HANDLERS.get(type(node.op))
            if handler is not None:
                handler(self, node)
            elif node.op.keeps_numbers and not node.regions:
                self._moved(node)
        for value in reversed(self._stored):
            maker = self._editor.producer(value)
            if maker is not None and isinstance(maker.op, Cast) and self._is_wanted(value):
                self._twinned.discard(maker)
        for value, stored in self._stored.items():
            self._give(value, stored)
        for node in reversed(list(self._graph.nodes)):
            if node in self._twinned:
                self._editor.remove_if_unused(node)
        for node in list(self._graph.nodes):
            self._keep_apart(node)
        for real, dtype, quant in self._cut:
            if self._editor.is_private(real):  # all see it cut off: that can be done where it is stored
                self._range(real, dtype, quant)
        for real, names in self._names.items():
            real.source_names = tuple(dict.fromkeys(names + real.source_names))
        return self._editor.changed

    # -- what the operators are on real numbers ----------------------------------------------------------------------
    def _quantize(self, node: Node) -> None:
        quant = parameters(node.inputs[1:], node.op)
        if quant is None or node.inputs[0].type.dtype is not DType.F32 or node.inputs[0].is_constant:
            return
        assert isinstance(node.op, QuantizeLinear)
        real = self._within(node, self._apart(node, quant), node.op.to, quant)
        self._remember(node, real, node.op.to, quant)

    def _apart(self, node: Node, quant: QuantType) -> Value:
        """What a node quantises, as a value of its own where others read the same numbers as the floats that they are.

        Whatever computed them from stored numbers alone may store its result, for all that read it.
        """
        assert isinstance(node.op, QuantizeLinear)
        real = source = node.inputs[0]
        reads_floats = self._read_otherwise(source, quant)
        while (maker := self._editor.producer(source)) is not None and maker.op.keeps_numbers:
            source = maker.inputs[0]
            reads_floats = reads_floats or len(self._editor.readers(source)) > 1
        known = {stored.real for stored in self._stored.values()}
        read = [] if maker is None else [value for value in maker.inputs if not value.is_constant]
        computed = bool(read) and all(value in known for value in read)
        if not reads_floats or computed or source in known or quant.axis is not None or self._graph.range_of(source):
            return real
        low, high = (_real_number(end, quant) for end in quantised.limits(node.op.to, quant.bits))
        return self._editor.insert_before(node, Clip(low=low, high=high), [real]).outputs[0]

    def _read_otherwise(self, value: Value, quant: QuantType) -> bool:
        return any(
            not isinstance(reader.op, QuantizeLinear) or parameters(reader.inputs[1:], reader.op) != quant
            for reader in self._editor.readers(value)
        )

    def _dequantize(self, node: Node) -> None:
        value, quant = node.inputs[0], parameters(node.inputs[1:], node.op)
        if quant is None or node.outputs[0].type.dtype is not DType.F32:
            return
        self._twinned.add(node)
        if value.constant is not None:
            real = self._constant(value, value.constant, quant)
            real.source_names = node.outputs[0].source_names
            self._editor.replace(node.outputs[0], real)
            return
        stored = self._stored.get(value)
        if stored is None:  # stored numbers come from elsewhere: this is where they become real ones
            self._stored[value] = _Stored(node.outputs[0], value.type.dtype, quant)
            self._range(node.outputs[0], value.type.dtype, quant)
        elif stored.quant == quant:
            names = node.outputs[0].source_names
            if self._editor.replace(node.outputs[0], stored.real):
                self._names[stored.real] = (*self._names.get(stored.real, ()), *names)

    def _convolution(self, node: Node) -> None:
        op, (x, w) = node.op, (node.inputs[0], node.inputs[3])
        assert isinstance(op, QlinearConv)
        quants = [parameters(node.inputs[at : at + 2], op, axis=0) for at in (1, 4, 6)]
        of_x, of_w, of_y = quants
        bias = node.inputs[8].constant if len(node.inputs) > 8 else np.zeros(1, np.int32)
        if of_x is None or of_w is None or of_y is None or w.constant is None or bias is None:
            return
        filters = quantised.dequantised(w.constant, TensorType(w.type.dtype, w.type.shape, of_w)).astype(np.float32)
        scales = np.asarray(of_x.scales, np.float32).astype(np.float64) * np.asarray(of_w.scales, np.float32)
        sums = np.broadcast_to((bias * scales).astype(np.float32), filters.shape[:1])
        rest = [self._editor.constant(None, np.ascontiguousarray(sums))] if len(node.inputs) > 8 else []
        real = self._real(node, x, of_x)
        if op.groups > 1 and filters.shape[3] == 1:
            filters = np.ascontiguousarray(np.moveaxis(filters[..., 0], 0, -1))
            twin: Operator = DwConv2d(
                multiplier=filters.shape[2] // op.groups, strides=op.strides, pads=op.pads, dilations=op.dilations
            )
        elif op.groups == 1 and x.type.shape[1:3] == filters.shape[1:3] == (1, 1) and not any(op.pads):
            filters = filters.reshape(filters.shape[0], filters.shape[3])
            twin = FullyConnected()  # how products with a bias are imported
        else:
            twin = Conv2d(groups=op.groups, strides=op.strides, pads=op.pads, dilations=op.dilations)
        self._twin(node, twin, [real, self._editor.constant(w, filters), *rest], of_y)

    def _product(self, node: Node) -> None:
        a, b = node.inputs[0], node.inputs[3]
        of_a, of_b, of_y = (parameters(node.inputs[at : at + 2], node.op, axis=b.type.rank - 1) for at in (1, 4, 6))
        if of_a is None or of_b is None or of_y is None or of_a.axis is not None:
            return
        self._twin(node, Matmul(), [self._real(node, a, of_a), self._real(node, b, of_b)], of_y)

    def _moved(self, node: Node) -> None:
        """Operators that move numbers: on whatever they stand for."""
        found = [self._stored.get(value) for value in node.inputs]
        operands = list(zip(found, node.inputs, strict=True))
        known = [stored for stored in found if stored is not None]
        if not known or any(stored.quant != known[0].quant for stored in known):
            return
        if any(stored is None and value.type.dtype is known[0].dtype for stored, value in operands):
            return
        if known[0].quant.axis is not None or any(value.type.quant is not None for value in node.outputs):
            return
        op = node.op
        if isinstance(op, Pad) and op.mode == "constant":  # of stored numbers
            op = replace(op, value=_real_number(op.value, known[0].quant))
        inputs = [value if stored is None else stored.real for stored, value in operands]
        twin = self._editor.insert_before(node, op, inputs)
        self._twinned.add(node)
        for old, new in zip(node.outputs, twin.outputs, strict=True):
            self._stored[old] = _Stored(new, known[0].dtype, known[0].quant)
            self._names[new] = old.source_names
            self._range(new, known[0].dtype, known[0].quant)

    def _clipped(self, node: Node) -> None:
        """Bounds in the scale of what is stored: an activation."""
        stored = self._stored.get(node.inputs[0])
        assert isinstance(node.op, Clip)
        if stored is None:
            self._clipped_relu(node, node.op)
            return
        if stored.quant.axis is not None:
            return
        low, high = (_real_number(end, stored.quant) for end in (node.op.low, node.op.high))
        x, before = stored.real, self._editor.producer(stored.real)
        if before is not None and isinstance(before.op, Clip):  # two in a row are one
            x, low, high = before.inputs[0], max(low, before.op.low), min(high, before.op.high)
            if low > high:
                return
            self._twinned.add(before)
        twin = self._editor.insert_before(node, Clip(low=low, high=high), [x])
        self._remember(node, twin.outputs[0], stored.dtype, stored.quant)

    def _clipped_relu(self, node: Node, op: Clip) -> None:
        """Where the least number is left out, real ones are cut off: with a relu before it that is one activation."""
        relu = self._editor.private_maker(node.inputs[0], "relu")
        if relu is None or node.inputs[0].type.dtype is not DType.F32 or op.high < 0:
            return
        self._editor.substitute(node, Clip(low=max(op.low, 0.0), high=op.high), relu.inputs)
        self._editor.remove(relu)

    def _cast(self, node: Node) -> None:
        """Whole numbers as floats, and back: pools have no other way to take stored numbers."""
        assert isinstance(node.op, Cast)
        stored = self._stored.get(node.inputs[0])
        if stored is not None and node.op.to in (DType.F32, stored.dtype) and stored.quant.axis is None:
            self._twinned.add(node)
            self._stored[node.outputs[0]] = stored
            self._names[stored.real] = (*self._names.get(stored.real, ()), *node.outputs[0].source_names)

    # -- what rounding in between decides ----------------------------------------------------------------------------
    def _keep_apart(self, node: Node) -> None:
        """Bounds between convolutions and the additions behind them: what they give is cut off before it is added.

        A convolution that added at once would differ by more than a step, where it is stored in coarser steps than the
        sum or leaves its range.
        """
        if not isinstance(node.op, Add):
            return
        for value in dict.fromkeys(node.inputs):
            quant, maker = self._moved_quant(value), self._editor.producer(value)
            while maker is not None and maker.op.keeps_numbers:
                maker = self._editor.producer(maker.inputs[0])
            if quant is None or maker is None or not isinstance(maker.op, Conv2d) or not self._editor.is_private(value):
                continue
            low, high = (_real_number(end, quant) for end in quantised.limits(DType.S8, quant.bits))
            bounded = self._editor.insert_before(node, Clip(low=low, high=high), [value]).outputs[0]
            bounded.source_names, value.source_names = value.source_names, ()
            self._names[bounded] = self._names.pop(value, ())
            self._range(bounded, DType.S8, quant)
            self._editor.set_inputs(node, [bounded if one is value else one for one in node.inputs])

    def _moved_quant(self, value: Value) -> QuantType | None:
        """How what only moved to a value is stored."""
        if value not in self._quants:
            maker = self._editor.producer(value)
            if maker is None or not maker.op.keeps_numbers:
                return None
            found = {self._moved_quant(one) for one in maker.inputs if one.type.dtype is DType.F32}
            return found.pop() if len(found) == 1 else None
        return self._quants[value]

    # -- bookkeeping -------------------------------------------------------------------------------------------------
    def _real(self, node: Node, value: Value, quant: QuantType) -> Value:
        """What a stored operand stands for."""
        stored = self._stored.get(value)
        if stored is not None and stored.quant == quant:
            return stored.real
        if value.constant is not None:
            return self._constant(value, value.constant, quant)
        scale, zero = _constants(self._editor, _Stored(value, value.type.dtype, quant))
        made = self._editor.insert_before(node, DequantizeLinear(axis=quant.axis or 0, block=0), [value, scale, zero])
        self._twinned.add(made)
        real = made.outputs[0]
        if stored is None:
            self._stored[value] = _Stored(real, value.type.dtype, quant)
            self._names[real] = value.source_names
            self._range(real, value.type.dtype, quant)
        return real

    def _constant(self, like: Value, array: Array, quant: QuantType) -> Value:
        type_ = TensorType(like.type.dtype, like.type.shape, quant)
        return self._editor.constant(like, quantised.dequantised(array, type_).astype(np.float32))

    def _twin(self, node: Node, op: Operator, inputs: list[Value], quant: QuantType) -> None:
        twin = self._editor.insert_before(node, op, inputs)
        dtype = node.outputs[0].type.dtype
        self._remember(node, self._within(node, twin.outputs[0], dtype, quant), dtype, quant)

    def _within(self, node: Node, real: Value, dtype: DType, quant: QuantType) -> Value:
        """The value without what storing cuts off, where that is the network's meaning: numbers of one sign.

        A range that ends with 0 says that an activation stood there which the storing does for it. What is stored in
        another way already is another value.
        """
        low, high = (_real_number(end, quant) for end in quantised.limits(dtype, quant.bits))
        stored_so = self._moved_quant(real) in (None, signed(dtype, quant))
        is_whole = quant.axis is not None or (low < 0 < high) or (low == 0 and _is_positive(self._editor, real))
        if is_whole and stored_so and (quant.bits <= 8 or quant.axis is not None):  # 16 bits may stay real
            return real
        relu = self._editor.private_maker(real, "relu") if stored_so and low <= 0 <= high else None
        start, low = (real, low) if relu is None else (relu.inputs[0], 0.0)
        clipped = self._editor.insert_before(node, Clip(low=low, high=high), [start]).outputs[0]
        if stored_so:
            clipped.source_names, real.source_names = real.source_names, ()
            self._cut.append((real, dtype, quant))
        return clipped

    def _remember(self, node: Node, real: Value, dtype: DType, quant: QuantType) -> None:
        self._twinned.add(node)
        self._stored[node.outputs[0]] = _Stored(real, dtype, quant)
        self._names[real] = (*self._names.get(real, ()), *node.outputs[0].source_names)
        self._range(real, dtype, quant)

    def _range(self, value: Value, dtype: DType, quant: QuantType) -> None:
        """Remembers how a value is stored, by a name that stays with it: as signed numbers, whatever it was."""
        self._quants[value] = signed(dtype, quant)
        value.source_names = value.source_names or (value.name,)
        for name in (*value.source_names, *self._names.get(value, ())):
            self._graph.ranges[name] = self._quants[value]

    def _is_wanted(self, value: Value) -> bool:
        """Whether someone still reads stored numbers."""
        return self._editor.is_output(value) or any(node not in self._twinned for node in self._editor.readers(value))

    def _give(self, value: Value, stored: _Stored) -> None:
        """Stored numbers for those who still want them."""
        maker = self._editor.producer(value)
        if maker is None or isinstance(maker.op, QuantizeLinear) or maker not in self._twinned:
            return
        if not self._is_wanted(value):
            return
        parameters = _constants(self._editor, stored)
        op = QuantizeLinear(axis=stored.quant.axis or 0, block=0, to=stored.dtype)
        made = self._editor.insert_after(maker, op, [stored.real, *parameters])
        if value.type.dtype is not stored.dtype:
            made = self._editor.insert_after(made, Cast(to=value.type.dtype), made.outputs)
        self._editor.replace(value, made.outputs[0])


def _is_positive(editor: Editor, value: Value) -> bool:
    """Whether the operators that made the value say that nothing in it is negative."""
    maker = editor.producer(value)
    if maker is None:
        return False
    if isinstance(maker.op, Clip):
        return maker.op.low >= 0
    if maker.op.name in _POSITIVE:
        return True
    return (maker.op.keeps_numbers or maker.op.name in _BETWEEN) and all(
        _is_positive(editor, operand) for operand in maker.inputs if operand.type.dtype.is_float
    )


def parameters(values: list[Value], op: Operator, axis: int | None = None) -> QuantType | None:
    """Scale and zero point as a type; None where they are not constants, or cannot be one."""
    scale, block = values[0].constant, op.attributes().get("block", 0)
    zero = values[1].constant if len(values) > 1 else None
    if scale is None or (len(values) > 1 and zero is None) or block or scale.ndim > 1:
        return None
    scales = np.asarray(scale, np.float32).reshape(-1)
    zeros = np.zeros(scales.shape, int) if zero is None else np.broadcast_to(zero.reshape(-1).astype(int), scales.shape)
    if not (np.isfinite(scales) & (scales > 0)).all():
        return None
    along = (getattr(op, "axis", 0) if axis is None else axis) if scale.ndim else None
    bits = 16 if values[-1].type.dtype in (DType.S16, DType.U16) else 8
    return QuantType(tuple(map(float, scales)), tuple(map(int, zeros)), along, bits)


def _constants(editor: Editor, stored: _Stored) -> tuple[Value, Value]:
    shape = () if stored.quant.axis is None else (-1,)
    scale = np.asarray(stored.quant.scales, np.float32).reshape(shape)
    zero = np.asarray(stored.quant.zero_points, stored.dtype.numpy).reshape(shape)
    return editor.constant(None, scale), editor.constant(None, zero)


def signed(dtype: DType, quant: QuantType) -> QuantType:
    """The same numbers, stored with a sign."""
    if dtype not in (DType.U8, DType.U16):
        return quant
    middle = 1 << (quant.bits - 1)
    return replace(quant, zero_points=tuple(zero - middle for zero in quant.zero_points))


def _real_number(stored: float, quant: QuantType) -> float:
    return float((stored - quant.zero_points[0]) * np.float32(quant.scales[0]))


#: Operators that give no negative number; and those whose results lie between the numbers that they read.
_POSITIVE = frozenset({"relu", "sigmoid", "hard_sigmoid", "softmax", "softplus", "exp", "abs"})
_BETWEEN = frozenset({"max_pool2d", "avg_pool2d", "reduce_mean", "reduce_max", "reduce_min"})
_HANDLERS: Mapping[type[Operator], Callable[[_Rewrite, Node], None]] = {
    QuantizeLinear: _Rewrite._quantize,
    DequantizeLinear: _Rewrite._dequantize,
    QlinearConv: _Rewrite._convolution,
    QlinearMatmul: _Rewrite._product,
    Clip: _Rewrite._clipped,
    Cast: _Rewrite._cast,
}
