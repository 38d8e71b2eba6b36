"""What a handler works with: one source node, what is known of its inputs, and the means to emit graph nodes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import NoReturn, Protocol, TypeVar

import numpy as np

from buildtool import budget
from buildtool.errors import ModelFileError, UnsupportedError, Where
from buildtool.importers.bounds import upper_bound
from buildtool.importers.builder import MOST_REPEATED, Builder, Tensor
from buildtool.importers.model import AttributeValue, SourceBody, SourceNode
from buildtool.ir.dims import Dim, DimExpr, Shape
from buildtool.ir.graph import Node, Region, StoredLayer, Value
from buildtool.ir.operator import Array, AttrValue
from buildtool.ir.types import DType, QuantType, TensorType

_Kind = TypeVar("_Kind")
MOST_MADE = 2**24  # elements of what a handler makes out of sizes alone: tables, constants, masks


class Bodies(Protocol):
    """What imports the graphs inside of a node."""

    def run_body(self, body: SourceBody, inputs: Sequence[Tensor]) -> Sequence[Tensor] | None:
        """The outputs of an inner graph, whose nodes are emitted; None where it holds an operator without a handler.

        UnsupportedError with all that is in the way otherwise.
        """

    def tensor(self, name: str) -> Tensor:
        """A tensor around the node."""


class Step:
    """The import of one source node. Handlers read it, emit nodes through it and return the output tensors."""

    def __init__(
        self, node: SourceNode, inputs: Sequence[Tensor | None], opset: int, builder: Builder, bodies: Bodies
    ) -> None:
        self.node = node
        self.inputs = inputs
        self.opset = opset
        self._builder = builder
        self._bodies = bodies

    # -- inputs ------------------------------------------------------------------------------------------------------
    def input(self, index: int) -> Tensor:
        """An input that the operator cannot do without."""
        tensor = self.optional(index)
        if tensor is None:
            self.malformed(f"input {index} is missing")
        return tensor

    def optional(self, index: int) -> Tensor | None:
        return self.inputs[index] if 0 <= index < len(self.inputs) else None

    def present(self) -> list[Tensor]:
        """All inputs of a variadic operator, at least one."""
        tensors = [tensor for tensor in self.inputs if tensor is not None]
        if not tensors:
            self.malformed("the node has no inputs")
        return tensors

    def known(self, index: int, what: str) -> Array:
        """The content of an input that has to be known at build time."""
        tensor = self.input(index)
        if tensor.known is None:
            self.unsupported(f"its {what} (input {index}) is known only at run time", "make it a constant in the model")
        return tensor.known

    def known_dims(self, index: int, what: str) -> tuple[Dim, ...]:
        """The content of an input that is a list of whole numbers or dimensions."""
        array = self.known(index, what)
        if array.dtype.kind not in "iuO" or array.ndim > 1:
            self.malformed(f"its {what} (input {index}) is not a list of integers")
        items = tuple(array.astype(object).reshape(-1))
        if not all(isinstance(item, int | DimExpr) for item in items):
            self.malformed(f"its {what} (input {index}) is not a list of integers")
        return items

    def known_ints(self, index: int, what: str) -> tuple[int, ...]:
        """The content of an input that is a list of whole numbers, none of them a run-time dimension."""
        dims = self.known_dims(index, what)
        if not all(isinstance(dim, int) for dim in dims):
            self.unsupported(f"its {what} (input {index}) depends on a run-time dimension", "fix the input shapes")
        return tuple(dim for dim in dims if isinstance(dim, int))

    def known_dim(self, index: int, what: str) -> Dim:
        """The content of an input that is one whole number or dimension."""
        dims = self.known_dims(index, what)
        if len(dims) != 1:
            self.malformed(f"its {what} (input {index}) is not a single integer")
        return dims[0]

    def known_int(self, index: int, what: str) -> int:
        """The content of an input that is one whole number, and no run-time dimension."""
        numbers = self.known_ints(index, what)
        if len(numbers) != 1:
            self.malformed(f"its {what} (input {index}) is not a single integer")
        return numbers[0]

    def known_number(self, index: int, what: str) -> float:
        """The content of an input that is one number."""
        array = self.known(index, what)
        if array.dtype == object:
            self.unsupported(f"its {what} (input {index}) depends on a run-time dimension", "fix the input shapes")
        if array.size != 1:
            self.malformed(f"its {what} (input {index}) is not a single number")
        return float(array.reshape(-1)[0])

    def known_whole(self, index: int, what: str) -> int:
        """As `known_number`, without the fraction."""
        return self.whole(self.known_number(index, what), what)

    def check_rank(self, tensor: Tensor, *ranks: int, what: str = "its input") -> Tensor:
        """The tensor, after a check that it has one of these ranks."""
        if tensor.rank not in ranks:
            self.malformed(f"{what} has rank {tensor.rank}, not {' or '.join(map(str, ranks))}")
        return tensor

    def size(self, tensor: Tensor, axis: int) -> Dim:
        """The size along an axis, which may count from the end."""
        return tensor.shape[self.axis(axis, tensor.rank)]

    def made_dtype(self, index: int) -> DType:
        """The element type that the file states for an output."""
        outputs = self.node.outputs
        name = outputs[index] if -len(outputs) <= index < len(outputs) else ""
        dtype = self.node.dtypes.get(name)
        if dtype is None:
            self.malformed(f"the type of its output {index} is not stated")
        return dtype

    # -- attributes --------------------------------------------------------------------------------------------------
    def integer(self, name: str, default: int | None = None) -> int:
        return self._attribute(name, int, default)

    def real(self, name: str, default: float | None = None) -> float:
        return self._attribute(name, float, default)

    def text(self, name: str, default: str | None = None) -> str:
        return self._attribute(name, str, default)

    def integers(self, name: str, default: Sequence[int] | None = None) -> tuple[int, ...]:
        return self._list(name, int, default)

    def reals(self, name: str, default: Sequence[float] | None = None) -> tuple[float, ...]:
        return self._list(name, float, default)

    def has(self, name: str) -> bool:
        return name in self.node.attributes

    def attribute(self, name: str) -> AttributeValue | None:
        return self.node.attributes.get(name)

    def axis(self, value: int, rank: int) -> int:
        """An axis as a number from 0."""
        if not -rank <= value < rank:
            self.malformed(f"there is no axis {value} in a tensor of rank {rank}")
        return value % rank

    def axes(self, values: Sequence[int], rank: int) -> tuple[int, ...]:
        """Axes as numbers from 0, in the order given."""
        axes = tuple(self.axis(value, rank) for value in values)
        if len(set(axes)) != len(axes):
            self.malformed(f"an axis appears twice in {list(values)}")
        return axes

    def _attribute(self, name: str, kind: type[_Kind], default: _Kind | None) -> _Kind:
        value = self.node.attributes.get(name)
        if value is None:
            if default is None or name in self.node.unreadable:
                self.malformed(f"the attribute '{name}' is missing or has the wrong type")
            return default
        if not isinstance(value, kind):
            self.malformed(f"the attribute '{name}' is not a {kind.__name__}")
        return value

    def _list(self, name: str, kind: type[_Kind], default: Sequence[_Kind] | None) -> tuple[_Kind, ...]:
        value = self.node.attributes.get(name)
        if value is None:
            if default is None or name in self.node.unreadable:
                self.malformed(f"the attribute '{name}' is missing or has the wrong type")
            return tuple(default)
        if not isinstance(value, tuple):
            self.malformed(f"the attribute '{name}' is not a list")
        items = [item for item in value if isinstance(item, kind)]
        if len(items) != len(value):
            self.malformed(f"the attribute '{name}' is not a list of {kind.__name__}")
        return tuple(items)

    # -- output ------------------------------------------------------------------------------------------------------
    def emit(self, op: str, *inputs: Tensor, **attributes: AttrValue) -> Tensor:
        """The output of a new graph node; or its content, where all inputs are known and small."""
        (output,) = self._builder.emit(self.node.name, op, inputs, attributes)
        return output

    def emit_all(self, op: str, *inputs: Tensor, **attributes: AttrValue) -> tuple[Tensor, ...]:
        """As `emit`, for operators with several outputs."""
        return self._builder.emit(self.node.name, op, inputs, attributes)

    def emit_sized(self, op: str, most: Dim, *inputs: Tensor, **attributes: AttrValue) -> tuple[Tensor, ...]:
        """As `emit_all`, for operators whose `size` only the data decides; `most` is how large it can be."""
        return self._builder.emit_sized(self.node.name, op, most, inputs, attributes)

    # -- graphs inside of the node -----------------------------------------------------------------------------------
    def body(self, name: str, outputs: int | None = None) -> SourceBody:
        """The graph that an attribute holds; `outputs`: how many it must have."""
        read = self.node.bodies.get(name)
        if read is None:
            self.malformed(f"its graph '{name}' is missing")
        body = read()
        if outputs is not None and len(body.outputs) != outputs:
            self.malformed(f"its graph '{name}' has {len(body.outputs)} outputs instead of {outputs}")
        return body

    def captured(self) -> list[Tensor]:
        """What the graphs inside of the node read from around it."""
        return [self._bodies.tensor(name) for name in self.node.captured]

    def run_body(self, body: SourceBody, inputs: Sequence[Tensor]) -> Sequence[Tensor] | None:
        """The outputs of a graph on these inputs: its nodes stand where the node does. See `Bodies`."""
        if len(body.inputs) != len(inputs):
            self.malformed(f"its graph has {len(body.inputs)} inputs instead of {len(inputs)}")
        return self._bodies.run_body(body, inputs)

    def inside(self, region: Region) -> AbstractContextManager[None]:
        """What is emitted goes into a region."""
        return self._builder.inside(region)

    def give(self, region: Region, outputs: Sequence[Tensor]) -> None:
        """Makes tensors the outputs of a region."""
        with self._builder.inside(region):
            for tensor in outputs:
                value = self._builder.value(tensor, self.node.name)
                region.outputs.append(self._copied(tensor) if value in region.inputs else value)

    def _copied(self, tensor: Tensor) -> Value:
        return self._builder.value(self.emit("identity", tensor), self.node.name)

    def taken(self, region: Region, type_: TensorType) -> Tensor:
        """A new input of a region."""
        region.inputs.append(self._builder.graph.new_value("input", type_))
        return Tensor(type_, None, region.inputs[-1])

    def emit_regions(
        self, op: str, inputs: Sequence[Tensor], regions: Sequence[Region], **attributes: AttrValue
    ) -> tuple[Tensor, ...]:
        """The outputs of a new graph node that holds regions."""
        return self._builder.emit_regions(self.node.name, op, inputs, regions, attributes)

    def data_size(self, op: str, most: int) -> Dim:
        """A size from 0 to `most` that only a node of this operator finds out."""
        return self._builder.data_size(op, most)

    def most(self, tensor: Tensor) -> int | None:
        """A number that no element of a tensor of numbers is above; None where nothing says so."""
        return upper_bound(tensor, self._builder.makers, self._builder.intervals)

    def bound(self, tensor: Tensor, low: float, high: float) -> None:
        """Says between which numbers the elements of an input of a region are."""
        if tensor.value is not None:
            self._builder.intervals[tensor.value] = (low, high)

    def may_repeat(self, body: SourceBody) -> bool:
        """Asked before the graph of a loop is imported again: what a model makes of loops in loops has an end."""
        self._builder.repeated_nodes += len(body.nodes) + 1
        return self._builder.repeated_nodes <= MOST_REPEATED

    def maker(self, tensor: Tensor) -> Node | None:
        """The node that gives a tensor; None where it is an input or known."""
        return None if tensor.value is None else self._builder.makers.get(tensor.value)

    def keep_stored(
        self,
        kind: str,
        inputs: Sequence[Tensor],
        outputs: Sequence[Tensor],
        arrays: Mapping[str, Array],
        numbers: Mapping[str, float],
    ) -> None:
        """Notes that nodes compute in floats what the file stores as a layer of integers."""
        given, made = ([tensor.value for tensor in tensors if tensor.value] for tensors in (inputs, outputs))
        if len(given) == len(inputs) and len(made) == len(outputs):
            layer = StoredLayer(kind, tuple(given), tuple(made), arrays, numbers)
            self._builder.graph.stored_layers.append(layer)

    def has_range(self, quant: QuantType) -> None:
        """Training for quantisation found this of the first output of the node."""
        self._builder.graph.ranges[self.node.outputs[0]] = quant

    def constant(self, array: Array) -> Tensor:
        """A tensor with this content."""
        return Tensor.of(np.ascontiguousarray(array) if array.ndim else array)

    def filled(self, shape: Sequence[int], number: float, dtype: DType) -> Tensor:
        """A tensor that holds one number everywhere."""
        if any(size < 0 for size in shape):
            self.malformed(f"it needs a table of the shape {list(shape)}")
        self.check_table(*shape)
        return self.constant(np.full(shape, number, dtype.numpy))

    def check_table(self, *sizes: int) -> None:
        """Asked before anything of these sizes is made on import: they come from the model, and may be any number."""
        if math.prod(sizes) > MOST_MADE:
            self.unsupported(
                f"a table of {' x '.join(map(str, sizes))} numbers would be created on import",
                "the shapes or attributes of the model are wrong, or too large for this operator",
            )
        budget.made(8 * math.prod(sizes))

    def transpose(self, tensor: Tensor, perm: Sequence[int]) -> Tensor:
        return tensor if list(perm) == sorted(perm) else self.emit("transpose", tensor, perm=tuple(perm))

    def reshape(self, tensor: Tensor, shape: Shape) -> Tensor:
        return tensor if shape == tensor.shape else self.emit("reshape", tensor, shape=tuple(shape))

    def supports(self, op: str) -> bool:
        """Whether the graph has this operator (a user's registry may bring more)."""
        return op in self._builder.operators

    def whole(self, number: float, what: str) -> int:
        """A number that a size or a place is made of, without its fraction."""
        if not math.isfinite(number):
            self.malformed(f"its {what} is {number}")
        return int(number)

    # -- mistakes ----------------------------------------------------------------------------------------------------
    @property
    def where(self) -> Where:
        return self._builder.at(self.node.name)

    def malformed(self, what: str) -> NoReturn:
        """The node breaks a rule of its framework."""
        raise ModelFileError(
            f"{self.node.title}: {what}", where=self.where, remedy="the model is invalid at this node: export it again"
        )

    def unsupported(self, what: str, remedy: str = "") -> NoReturn:
        """The node is right but asks for something that no operator of the graph does."""
        raise UnsupportedError(f"{self.node.title}: {what}", where=self.where, remedy=remedy)
