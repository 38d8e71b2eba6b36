"""The rules of a graph. The pipeline checks them after every pass; everything that reads a graph may rely on them.

1.  Every name (of a value) occurs once in the graph, regions included, and is not empty.
2.  Every value has one definition: an input of a region, a constant, or an output of a node.
3.  A value is read after its definition, in the region that defines it or one inside that.
4.  A node has as many inputs, outputs and regions as its operator says.
5.  The types of a node's outputs are those that its operator infers from its inputs and regions. Where a value of the
    node is quantised (see `quantised`), the operator sees real numbers, and decides the shape of quantised outputs.
6.  A constant's array has the shape and element type of its value; bf16 is carried by float32 arrays of bf16 values.
7.  Symbols in types and attributes are declared by the graph, with the same bounds.
8.  Ranks are at most 8, dimensions are never certainly negative, and element counts stay below 2**40.
9.  Quantisation along an axis names an axis of the value and has a scale for each of its elements.
10. Graph outputs are values of the graph; outputs of regions are visible where the region ends.
11. A symbol for a size that data decides is defined by one node, occurs in no graph input, and is read behind its node
    and in the region of its node.
12. An output of a region of a node is no input of that region: kernels give them places that are apart.
13. Regions nest at most 8 deep, those of devices not counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from buildtool.errors import GraphError, Problem, Where
from buildtool.ir import quantised
from buildtool.ir.dims import Dim, DimExpr, Symbol, bounds, product, symbols
from buildtool.ir.graph import Graph, Node, Region, Value
from buildtool.ir.operator import OperatorError
from buildtool.ir.types import DType, TensorType, round_to_bf16

MAX_RANK = 8
MAX_ELEMENTS = 2**40
MAX_REGION_DEPTH = 8


def verify(graph: Graph) -> None:
    """Raises GraphError with all problems of the graph."""
    problems = tuple(_Verifier(graph).problems())
    if problems:
        raise GraphError(problems)


class _Verifier:
    """One walk through a graph. `_defined` holds what has a definition, `_visible` what may be read just now."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._names: dict[str, Value] = {}
        self._defined: set[Value] = set()
        self._sizes_of_data = {item: node for node in graph.walk() for item in node.op.defined_symbols()}
        self._found_sizes: set[Symbol] = set()
        self._depth = 0

    def problems(self) -> Iterator[Problem]:
        for name, symbol in self._graph.symbols.items():
            if name != symbol.name:
                yield self._problem(f"the symbol '{symbol.name}' is declared under the name '{name}'")
        yield from self._region(self._graph, frozenset(), None)

    def _problem(self, what: str, node: Node | None = None, value: Value | None = None, rule: str = "") -> Problem:
        label = "" if node is None else node.name or (node.outputs[0].name if node.outputs else node.op.name)
        where = Where(model=self._graph.name, node=label, value="" if value is None else value.name)
        return Problem(what if node is None else f"{node.op.name}: {what}", where, rule)

    def _region(self, region: Region, outer: frozenset[Value], owner: Node | None) -> Iterator[Problem]:
        visible = set(outer)
        for value in region.inputs:
            if value.is_constant:
                yield self._problem("an input is a constant", owner, value)
            if owner is None and any(item in self._sizes_of_data for dim in value.type.shape for item in symbols(dim)):
                yield self._problem("an input has a size that a node computes", owner, value)
            yield from self._define(value, owner)
            visible.add(value)
        for node in region.nodes:
            yield from self._node(node, visible)
            yield from self._sizes(node)
            for value in node.outputs:
                if value.is_constant:
                    yield self._problem("the output of a node is a constant", node, value)
                yield from self._define(value, node)
                visible.add(value)
        for value in region.outputs:
            yield from self._read(value, visible, owner, "an output")
            if owner is not None and value in region.inputs:
                yield self._problem("an output of a region is an input of it", owner, value, "insert an identity")

    def _sizes(self, node: Node) -> Iterator[Problem]:
        """Rule 11, once per node."""
        for symbol in node.op.defined_symbols():
            if self._sizes_of_data[symbol] is not node:
                yield self._problem(f"the size '{symbol.name}' is defined by another node as well", node)
            self._found_sizes.add(symbol)
        of_types = (symbol for value in node.outputs for dim in value.type.shape for symbol in symbols(dim))
        for symbol in dict.fromkeys((*node.op.used_symbols(), *of_types)):
            if symbol in self._sizes_of_data and symbol not in self._found_sizes:
                yield self._problem(f"the size '{symbol.name}' is read before a node has computed it", node)

    def _node(self, node: Node, visible: set[Value]) -> Iterator[Problem]:
        readable = True
        for position, value in enumerate(node.inputs):
            for problem in self._read(value, visible, node, f"input {position}"):
                readable = False
                yield problem
        if len(node.regions) != node.op.regions:
            yield self._problem(f"the node has {len(node.regions)} regions, but needs {node.op.regions}", node)
        if self._depth >= MAX_REGION_DEPTH and node.op.name != "device_region" and node.regions:
            rule = f"branches and bodies of loops nest at most {MAX_REGION_DEPTH} deep"
            yield self._problem("the node is nested too deeply to have regions", node, rule=rule)
            return
        for region in node.regions:
            outside = frozenset(self._found_sizes)
            self._depth += node.op.name != "device_region"
            yield from self._region(region, frozenset(visible), node)
            self._depth -= node.op.name != "device_region"
            self._found_sizes.intersection_update(outside)
        yield from self._symbols(_attribute_dims(node), node)
        if readable:
            yield from self._inference(node)

    def _inference(self, node: Node) -> Iterator[Problem]:
        try:
            node.op.operands([value.type for value in node.inputs])
            inferred = self._inferred(node)
        except OperatorError as problem:
            yield self._problem(str(problem), node)
            return
        except Exception as problem:  # an operator of the user's may have defects
            yield self._problem(f"type inference failed: {type(problem).__name__}: {problem}", node)
            return
        if len(inferred) != len(node.outputs):
            yield self._problem(f"the node has {len(node.outputs)} outputs, but needs {len(inferred)}", node)
            return
        for value, type_ in zip(node.outputs, inferred, strict=True):
            if value.type.quant is not None:
                type_ = replace(type_, dtype=value.type.dtype, quant=value.type.quant)
            if value.type != type_:
                what = f"the output has the type {_show(value.type)}, but the operator returns {_show(type_)}"
                yield self._problem(what, node, value)

    @staticmethod
    def _inferred(node: Node) -> tuple[TensorType, ...]:
        if node.op.gives_as_stored or not quantised.is_quantised(node):
            return node.op.infer_node([value.type for value in node.inputs], [region.type for region in node.regions])
        if node.regions:
            raise OperatorError("a node with regions cannot compute with quantised values")
        return node.op.infer([value.type.real for value in node.inputs])

    def _define(self, value: Value, node: Node | None) -> Iterator[Problem]:
        if value in self._defined:
            yield self._problem("the value is defined twice", node, value, "every value has one definition")
            return
        self._defined.add(value)
        yield from self._name(value, node)
        yield from self._type(value, node)

    def _name(self, value: Value, node: Node | None) -> Iterator[Problem]:
        if not value.name:
            yield self._problem("a value has no name", node)
        elif self._names.setdefault(value.name, value) is not value:
            yield self._problem("two values have this name", node, value, "names are unique in a graph")

    def _read(self, value: Value, visible: set[Value], node: Node | None, what: str) -> Iterator[Problem]:
        if value.is_constant:
            if value not in self._defined:  # a constant is defined by its first use
                yield from self._define(value, node)
                yield from self._constant(value, node)
        elif value not in visible:
            reason = "is not visible here" if value in self._defined else "is read before it is defined"
            yield self._problem(f"{what} {reason}", node, value, "a value is defined before use, in an outer region")

    def _type(self, value: Value, node: Node | None) -> Iterator[Problem]:
        type_ = value.type
        if type_.rank > MAX_RANK:
            yield self._problem(f"the rank {type_.rank} is above {MAX_RANK}", node, value)
        for dim in type_.shape:
            if bounds(dim)[1] < 0:
                yield self._problem(f"the dimension {dim} is negative", node, value)
        if bounds(product(type_.shape))[0] >= MAX_ELEMENTS:
            yield self._problem(f"{product(type_.shape)} elements are too many", node, value, "fewer than 2**40")
        yield from self._symbols(type_.shape, node, value)
        if type_.quant is not None and type_.dtype not in quantised.STORES:
            yield self._problem(f"{type_.dtype.value} cannot store quantised values", node, value)
        if type_.quant is not None and type_.quant.axis is not None:
            axis, scales = type_.quant.axis, len(type_.quant.scales)
            if not 0 <= axis < type_.rank:
                yield self._problem(f"quantised along axis {axis}, but the rank is {type_.rank}", node, value)
            elif type_.shape[axis] != scales:
                yield self._problem(f"{scales} scales for the {type_.shape[axis]} elements of axis {axis}", node, value)

    def _symbols(self, dims: Iterable[Dim], node: Node | None, value: Value | None = None) -> Iterator[Problem]:
        used: dict[Symbol, None] = dict.fromkeys(symbol for dim in dims for symbol in symbols(dim))
        for symbol in used:
            declared = self._graph.symbols.get(symbol.name)
            if declared is None:
                yield self._problem(f"the symbol '{symbol.name}' is not declared", node, value)
            elif declared != symbol:
                here, there = f"{symbol.low}..{symbol.high}", f"{declared.low}..{declared.high}"
                what = f"the symbol '{symbol.name}' has the bounds {here} here, but is declared with {there}"
                yield self._problem(what, node, value)

    def _constant(self, value: Value, node: Node | None) -> Iterator[Problem]:
        array = value.constant
        assert array is not None
        if array.dtype != value.type.dtype.numpy:
            needed = value.type.dtype.numpy
            what = f"the array of the constant has type {array.dtype}, but {value.type.dtype.value} needs {needed}"
            yield self._problem(what, node, value)
        elif value.type.dtype is DType.BF16 and not np.array_equal(round_to_bf16(array), array, equal_nan=True):
            yield self._problem("the array of the constant has values that bf16 cannot represent", node, value)
        if array.shape != value.type.shape:
            what = f"the constant's array has the shape {list(array.shape)}, its value {_show(value.type)}"
            yield self._problem(what, node, value)


def _attribute_dims(node: Node) -> Iterator[Dim]:
    for attribute in node.op.attributes().values():
        if isinstance(attribute, tuple):
            yield from (item for item in attribute if isinstance(item, DimExpr))


def _show(type_: TensorType) -> str:
    return f"{type_} with {type_.quant}" if type_.quant is not None else str(type_)
