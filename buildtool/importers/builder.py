"""Makes graph nodes for source nodes, and computes at once what is known and small."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Real

import numpy as np

from buildtool import budget
from buildtool.errors import ModelFileError, UnsupportedError, Where
from buildtool.importers.sizes_as_data import computed, symbols_in
from buildtool.ir.dims import UNBOUNDED, Dim, DimensionError, DimExpr, Shape, bounds, symbol
from buildtool.ir.graph import Graph, Node, Region, Value
from buildtool.ir.operator import Array, AttrValue, Operator, OperatorError
from buildtool.ir.types import DType, TensorType, dtype_of

SMALL = 2**16  # elements: up to here content is computed during import, beyond it is left to constant folding
MOST_REPEATED = 2**13  # nodes of loops that are imported again, for another iteration or with other types
MOST_ELEMENTS = 2**40  # of any tensor; beyond, the model is nonsense
#: Operators that only move elements: they work on dimensions as on numbers, and cost nothing on weights.
_MOVES_ALL = frozenset({"reshape", "transpose", "identity"})
_MOVES_SOME = frozenset({"gather", "gather_elements", "gather_nd", "slice", "concat", "split", "broadcast_to", "tile"})
_BY_INDEX = frozenset({"gather", "gather_elements", "gather_nd"})  # run-time numbers may be moved, not indices
_EXPENSIVE = frozenset(
    {
        "conv2d",
        "conv3d",
        "dwconv2d",
        "deconv2d",
        "deconv3d",
        "max_pool2d",
        "max_pool_indices",
        "avg_pool2d",
        "resize2d",
        "resample",
        "grid_sample",
        "roi_align",
        "max_roi_pool",
        "deform_conv2d",
    }
)


def _fitting(numbers: Array, dtype: DType) -> Array:
    """Python's numbers, which grow without end, as elements of a type."""
    try:
        return numbers.astype(dtype.numpy)
    except OverflowError:
        raise DimensionError(f"a size or number beyond what {dtype.value} can hold") from None


@dataclass(eq=False)
class Tensor:
    """A tensor during import: a value of the graph, or content that is known, or both.

    Known content is a NumPy array; where run-time dimensions are among the elements it is an object array of ints and
    dimension expressions, and such content never becomes a constant of the graph.
    """

    type: TensorType
    known: Array | None = None
    value: Value | None = None

    @classmethod
    def of(cls, content: Array, dtype: DType | None = None) -> Tensor:
        """A tensor with known content. `dtype` says what the elements of an object array stand for (default: s64)."""
        if content.dtype == object:
            dtype = dtype or DType.S64
            if all(isinstance(item, Real) for item in content.reshape(-1)):
                content = _fitting(content, dtype)
        budget.made(content.nbytes)
        return cls(TensorType(dtype or dtype_of(content), tuple(content.shape)), content)

    @property
    def dtype(self) -> DType:
        return self.type.dtype

    @property
    def shape(self) -> Shape:
        return self.type.shape

    @property
    def rank(self) -> int:
        return self.type.rank

    @property
    def content(self) -> Array | None:
        """Known content that has no run-time dimensions in it."""
        return None if self.known is None or self.known.dtype == object else self.known


class Builder:
    """The graph under construction."""

    def __init__(self, graph: Graph, operators: Mapping[str, type[Operator]], where: Where) -> None:
        self.graph = graph
        self.operators = operators
        self.makers: dict[Value, Node] = {}  # of the values that nodes give
        self.intervals: dict[Value, tuple[float, float]] = {}  # between which numbers regions are given values
        self.repeated_nodes = 0
        self._where = where
        self._region: Region = graph
        self._inner_sizes: set[str] = set()  # symbols of sizes that nodes inside regions find out

    def at(self, node: str) -> Where:
        return Where(self._where.file, model=self._where.model, node=node)

    def value(self, tensor: Tensor, node: str) -> Value:
        """The tensor as a value of the graph; known content becomes a constant."""
        if tensor.value is None and tensor.content is not None:
            tensor.value = self.graph.new_constant("constant", tensor.content)
        return tensor.value or self._computed_sizes(tensor, node)

    def _computed_sizes(self, tensor: Tensor, node: str) -> Value:
        """Content with run-time dimensions, as nodes: before all regions, where the sizes are known there."""
        if tensor.known is None:  # lists.OpenList, which only operators of lists understand
            what = "a list whose tensors have no known shape stands where a tensor has to"
            raise ModelFileError(what, where=self.at(node), remedy="state the shape of its elements")
        inner = any(symbol.name in self._inner_sizes for symbol in symbols_in(tensor.known))
        with self.inside(self._region if inner else self.graph):
            value = self.value(computed(tensor.known, tensor.dtype, _Maker(self, node)), node)
        if not inner:
            tensor.value = value
        return value

    def emit(
        self, node: str, op: str, inputs: Sequence[Tensor], attributes: Mapping[str, AttrValue]
    ) -> tuple[Tensor, ...]:
        """The outputs of a new graph node, or their content where all inputs are known and the work is small."""
        operator, types = self._operator(node, op, inputs, attributes)
        for type_ in types:
            if math.prod(dim for dim in type_.shape if isinstance(dim, int)) > MOST_ELEMENTS:
                raise ModelFileError(f"{op}: a tensor of type {type_} is not possible", where=self.at(node))
        arrays = [tensor.known for tensor in inputs if tensor.known is not None]
        if len(arrays) == len(inputs) and not _needs_dims(operator) and _is_cheap(op, arrays, types):
            return tuple(
                Tensor.of(array, type_.dtype) if array.dtype == object else Tensor(type_, array)
                for array, type_ in zip(self._computed(operator, arrays, types), types, strict=True)
            )
        return self._insert(self.graph.new_node(operator, [self.value(tensor, node) for tensor in inputs], node))

    def emit_regions(
        self,
        node: str,
        op: str,
        inputs: Sequence[Tensor],
        regions: Sequence[Region],
        attributes: Mapping[str, AttrValue],
    ) -> tuple[Tensor, ...]:
        """The outputs of a new graph node that holds regions."""
        operands = [self.value(tensor, node) for tensor in inputs]
        try:
            return self._insert(self.graph.new_node(self.operators[op](**attributes), operands, node, regions=regions))
        except OperatorError as problem:
            raise ModelFileError(f"{op}: {problem}", where=self.at(node), remedy="the shapes do not fit") from problem

    def _insert(self, node: Node) -> tuple[Tensor, ...]:
        budget.nodes()
        self._region.nodes.append(node)
        self.makers.update(dict.fromkeys(node.outputs, node))
        return tuple(Tensor(value.type, None, value) for value in node.outputs)

    @contextmanager
    def inside(self, region: Region) -> Iterator[None]:
        """New nodes go into a region."""
        around, self._region = self._region, region
        try:
            yield
        finally:
            self._region = around

    def _operator(
        self, node: str, op: str, inputs: Sequence[Tensor], attributes: Mapping[str, AttrValue]
    ) -> tuple[Operator, tuple[TensorType, ...]]:
        """An operator, and the types of its outputs on these inputs."""
        try:
            operator = self.operators[op](**attributes)
            return operator, operator.infer([tensor.type for tensor in inputs])
        except OperatorError as problem:
            raise ModelFileError(
                f"{op}: {problem}", where=self.at(node), remedy="the shapes or attributes of the model do not fit"
            ) from problem

    def emit_sized(
        self, node: str, op: str, most: Dim, inputs: Sequence[Tensor], attributes: Mapping[str, AttrValue]
    ) -> tuple[Tensor, ...]:
        """As `emit`, for an operator whose `size` only the data decides; `most` is how large it can be."""
        bound = max(bounds(most)[1], 0)
        if bound >= UNBOUNDED:
            raise UnsupportedError(
                f"{op}: the number of elements that it finds is unbounded",
                where=self.at(node),
                remedy="declare input_shapes with smaller upper bounds",
            )
        arrays = [tensor.content for tensor in inputs if tensor.content is not None]
        if len(arrays) == len(inputs) and sum(array.size for array in arrays) <= SMALL:
            operator, types = self._operator(node, op, inputs, {**attributes, "size": (bound,)})
            return tuple(Tensor.of(array) for array in self._computed(operator, arrays, types))
        return self.emit(node, op, inputs, {**attributes, "size": (self.data_size(op, bound),)})

    def data_size(self, op: str, most: int) -> Dim:
        """A size that only the data decides, from 0 to `most`: a symbol that a node of this operator finds out."""
        size = symbol(self._symbol_name(op), 0, most)
        assert size.symbol is not None
        if self._region is not self.graph:
            self._inner_sizes.add(size.symbol.name)
        self.graph.symbols[size.symbol.name] = size.symbol
        return size

    def _symbol_name(self, op: str) -> str:
        name = self.graph.fresh_name(op)
        while name in self.graph.symbols:
            name = self.graph.fresh_name(op)
        return name

    @staticmethod
    def _computed(operator: Operator, arrays: Sequence[Array], types: Sequence[TensorType]) -> list[Array]:
        with np.errstate(all="ignore"):
            results = [np.asarray(result) for result in operator.reference(*arrays)]  # taking one element unpacks it
        budget.made(sum(array.nbytes for array in results))
        kept = [
            array if array.dtype == object else array.astype(type_.dtype.numpy, copy=False)
            for array, type_ in zip(results, types, strict=True)
        ]
        return [np.ascontiguousarray(array) if array.ndim else array for array in kept]


@dataclass(frozen=True)
class _Maker:
    """Nodes and constants, for a node of the source."""

    builder: Builder
    node: str

    def one(self, op: str, *inputs: Tensor, **attributes: AttrValue) -> Tensor:
        (output,) = self.builder.emit(self.node, op, inputs, attributes)
        return output

    def constant(self, content: Array) -> Tensor:
        return Tensor.of(content)


def _needs_dims(operator: Operator) -> bool:
    """Whether an attribute holds a run-time dimension: then nothing can be computed yet."""
    attributes = operator.attributes().values()
    return any(isinstance(item, DimExpr) for value in attributes if isinstance(value, tuple) for item in value)


def _is_cheap(op: str, arrays: Sequence[Array], types: Sequence[TensorType]) -> bool:
    with_dims = any(array.dtype == object for array in arrays)
    if op in _BY_INDEX and any(array.dtype == object for array in arrays[1:]):
        return False
    if op in _MOVES_ALL:
        return True
    if op in _EXPENSIVE or (with_dims and op not in _MOVES_SOME):
        return False
    made = sum(math.prod(dim for dim in type_.shape if isinstance(dim, int)) for type_ in types)
    return made <= SMALL and sum(array.size for array in arrays) <= SMALL
