"""What a handler sees of its node: operands in the order that it wants, nodes to emit, outputs to give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from buildtool.exporters.onnx.elements import COMPUTED_IN, code
from buildtool.exporters.onnx.errors import NotExportableError
from buildtool.exporters.onnx.forms import Forms
from buildtool.exporters.onnx.orders import Order, arranged, composed, plain
from buildtool.exporters.onnx.sizes import Sizes
from buildtool.exporters.onnx.writer import OnnxBody, Writer
from buildtool.ir.dims import Dim
from buildtool.ir.graph import Node, Region, Value
from buildtool.ir.operator import Array, Operator
from buildtool.ir.types import DType, TensorType


@dataclass
class Step:
    """One node on its way into the ONNX graph.

    `order` is the order in which its operands of full rank are read and its outputs are given; `op` is the operator
    that fits it. What the methods below call an order comes on top of it.
    """

    node: Node
    op: Any  # the handler knows which operator it is
    order: Order
    writer: Writer
    sizes: Sizes
    forms: Forms
    makers: dict[Value, Node]
    channels_first_wanted: bool
    #: Writes a region of the node. Of a loop: whose first operand and result are one number each.
    body: Callable[[Region, bool], OnnxBody]

    # -- operands ----------------------------------------------------------------------------------------------------
    def has(self, index: int) -> bool:
        return index < len(self.node.inputs)

    def value(self, index: int) -> Value:
        return self.node.inputs[index]

    def input(self, index: int, order: Order | None = None) -> str:
        """The name of an operand, "" where it is left out; with `order`, transposed by it."""
        value = self.node.input(index)
        if value is None:
            return ""
        if value.type.rank == len(self.order):
            return self.forms.name(value, composed(self.order, order) if order else self.order)
        if order is None and isinstance(self.op, Operator) and self.op.is_elementwise:
            return self._broadcast(value)
        return self.forms.name(value, order)

    def inputs(self) -> list[str]:
        return [self.input(index) for index in range(len(self.node.inputs))]

    def _broadcast(self, value: Value) -> str:
        """An operand of fewer axes in the order of the others: missing axes come in front, and move with the rest."""
        name = self.forms.name(value)
        if self.order == plain(len(self.order)) or not value.type.rank:
            return name
        missing = len(self.order) - value.type.rank
        whole = arranged((*(1,) * missing, *value.type.shape), self.order)
        first = next((axis for axis, dim in enumerate(whole) if dim != 1), len(whole) - 1)
        where = tuple(axis - missing for axis in self.order if axis >= missing)
        turned = self.writer.transposed(name, where, value.name)
        kept = whole[first:]
        if kept == arranged(value.type.shape, where):
            return turned
        goal, allow = self.sizes.reshape_target(arranged(value.type.shape, where), kept)
        array, shape = self.writer.array(turned), self.writer.array(goal)
        if array is not None and shape is not None:
            return self.writer.reshaped(turned, [int(size) for size in shape], value.name)
        return self.writer.emit("Reshape", [turned, goal], value.name, allowzero=allow)[0]

    def constant(self, index: int) -> Array | None:
        """The content of an operand that is a constant, in the order of the graph."""
        value = self.node.input(index)
        return None if value is None else value.constant

    def type(self, index: int = 0) -> TensorType:
        """The type of an operand, in this step's order."""
        type_ = self.node.inputs[index].type
        return type_.with_shape(arranged(type_.shape, self.order)) if type_.rank == len(self.order) else type_

    def output_type(self, index: int = 0) -> TensorType:
        type_ = self.node.outputs[index].type
        return type_.with_shape(arranged(type_.shape, self.order)) if type_.rank == len(self.order) else type_

    @property
    def dtype(self) -> DType:
        return self.node.inputs[0].type.dtype

    def known_shape(self, index: int) -> tuple[int, ...]:
        """The shape of an operand that has to be numbers."""
        shape = self.type(index).shape
        if not all(isinstance(dim, int) for dim in shape):
            self.refuse(f"operand {index} has a shape that is known only at run time")
        return tuple(dim for dim in shape if isinstance(dim, int))

    # -- nodes -------------------------------------------------------------------------------------------------------
    def emit(self, op: str, *inputs: str, **attributes: Any) -> str:
        """Appends a node of one output and gives its name."""
        return self.writer.emit(op, inputs, self._hint(), **attributes)[0]

    def emit_many(self, op: str, count: int, *inputs: str, **attributes: Any) -> list[str]:
        return self.writer.emit(op, inputs, self._hint(), count, **attributes)

    def compute(self, op: str, *inputs: str, dtype: DType | None = None, **attributes: Any) -> str:
        """As `emit`, in a wider element type where ONNX's operator does not take that of the operands."""
        dtype = dtype or self.dtype
        wide = COMPUTED_IN.get(op, {}).get(dtype)
        if wide is None:
            return self.emit(op, *inputs, **attributes)
        raised = [self.cast(name, wide) if name else "" for name in inputs]
        return self.cast(self.emit(op, *raised, **attributes), dtype)

    def cast(self, name: str, dtype: DType) -> str:
        return self.emit("Cast", name, to=code(dtype))

    def number(self, number: float, dtype: DType | None = None) -> str:
        """A constant of rank 0, in the element type of the first operand where none is given."""
        dtype = dtype or self.dtype
        return self.writer.constant(np.asarray(number).astype(dtype.numpy), dtype, "number")

    def integers(self, numbers: Sequence[int]) -> str:
        return self.writer.integers(numbers)

    def dims(self, dims: Sequence[Dim]) -> str:
        return self.sizes.vector(dims)

    def transposed(self, name: str, perm: Order) -> str:
        return self.writer.transposed(name, perm, self._hint())

    def reshaped(self, name: str, before: Sequence[Dim], after: Sequence[Dim]) -> str:
        """A value of the shape `before` in the shape `after`."""
        if tuple(before) == tuple(after):
            return name
        goal, allow = self.sizes.reshape_target(before, after)
        if self.writer.array(name) is not None and all(isinstance(dim, int) for dim in after):
            return self.writer.reshaped(name, [dim for dim in after if isinstance(dim, int)], self._hint())
        return self.emit("Reshape", name, goal, allowzero=allow)

    def _hint(self) -> str:
        return self.node.outputs[0].name

    # -- results -----------------------------------------------------------------------------------------------------
    def give(self, name: str, index: int = 0, order: Order | None = None) -> None:
        """An output; with `order`, what is given is the output transposed by it."""
        value = self.node.outputs[index]
        base = self.order if len(self.order) == value.type.rank else plain(value.type.rank)
        self.forms.give(value, composed(base, order) if order else base, name)

    def refuse(self, why: str) -> NoReturn:
        """This node cannot be expressed."""
        raise NotExportableError(why)
