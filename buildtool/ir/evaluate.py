"""The reference evaluator: runs a graph with the NumPy meaning of its operators.

It is the oracle of passes, kernels and the validation of models where the source framework is not installed. It trades
speed for plainness, and checks on the way that every array has the type that the graph promises.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from buildtool.errors import GraphError, Where
from buildtool.ir import dims, quantised
from buildtool.ir.dims import DimExpr, Symbol
from buildtool.ir.graph import Graph, Node, Region, Value
from buildtool.ir.operator import Array, Body, OperatorError, RegionType
from buildtool.ir.types import DType, TensorType, round_to_bf16


def evaluate(graph: Graph, inputs: Mapping[str, Array], *, keep: bool = False) -> dict[str, Array]:
    """The outputs of a graph by name, for inputs by name; with `keep` every value that its own nodes computed as well.

    The sizes of the inputs give the symbols their values. GraphError where an input is missing, of another type or
    outside the bounds, or where an operator fails.
    """
    unknown = sorted(set(inputs) - {value.name for value in graph.inputs})
    if unknown:
        raise GraphError(f"the graph has no input '{unknown[0]}'", where=Where(model=graph.name, value=unknown[0]))
    symbols = bind_symbols(graph, {name: np.asarray(array).shape for name, array in inputs.items()})
    values: dict[Value, Array] = {}
    for value in graph.inputs:
        values[value] = np.asarray(inputs[value.name])
        _check(values[value], value, symbols, graph)
    kept = dict(values)
    reads = {node: [*node.inputs, *node.captured()] for node in graph.nodes}
    remaining = Counter(value for values_read in reads.values() for value in values_read)
    wanted = set(graph.outputs)
    for node in graph.nodes:
        results = _run(node, values, symbols, graph)
        values.update(results)
        if keep:
            kept.update(results)
        remaining.subtract(reads[node])
        for value in {*reads[node], *node.outputs}:
            if not remaining[value] and value not in wanted:
                values.pop(value, None)  # the largest models do not fit in memory with all values alive
    answer = {value.name: array for value, array in kept.items()} if keep else {}
    return answer | {value.name: _read(value, values, graph) for value in graph.outputs}


def bind_symbols(graph: Graph, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, int]:
    """The values of the symbols when the inputs have these shapes. GraphError where they do not fit the graph."""
    symbols: dict[str, int] = {}
    for value in graph.inputs:
        where = Where(model=graph.name, value=value.name)
        if value.name not in shapes:
            raise GraphError(f"the input '{value.name}' is missing", where=where)
        shape = shapes[value.name]
        if len(shape) != value.type.rank:
            raise GraphError(f"the input has the shape {list(shape)}, but the graph needs {value.type}", where=where)
        for dim, size in zip(value.type.shape, shape, strict=True):
            if not isinstance(dim, DimExpr) or dim.symbol is None:
                continue  # checked as part of the whole type, once all symbols are known
            symbol = dim.symbol
            if symbols.setdefault(symbol.name, size) != size:
                what = f"'{symbol.name}' is both {symbols[symbol.name]} and {size}"
                raise GraphError(what, where=where, rule="a symbol has one value")
            if not symbol.low <= size <= symbol.high:
                what = f"'{symbol.name}' is {size}, which is outside {symbol.low}..{symbol.high}"
                raise GraphError(what, where=where)
    return symbols


def _read(value: Value, values: Mapping[Value, Array], graph: Graph) -> Array:
    if value.constant is not None:
        return value.constant
    if value not in values:
        raise GraphError("the value is read, but nothing defines it", where=Where(model=graph.name, value=value.name))
    return values[value]


def _check(array: Array, value: Value, symbols: Mapping[str, int], graph: Graph) -> None:
    where = Where(model=graph.name, value=value.name)
    if array.dtype != value.type.dtype.numpy:
        what = f"the array has type {array.dtype}, but {value.type} is represented by {value.type.dtype.numpy}"
        raise GraphError(what, where=where)
    try:
        shape = tuple(dims.evaluate(dim, symbols) for dim in value.type.shape)
    except (KeyError, ValueError) as problem:
        raise GraphError(f"the shape of {value.type} cannot be computed: {problem}", where=where) from problem
    if array.shape != shape:
        raise GraphError(f"the array has the shape {list(array.shape)}, but the graph needs {list(shape)}", where=where)


def _run(node: Node, values: Mapping[Value, Array], symbols: dict[str, int], graph: Graph) -> dict[Value, Array]:
    """The results of a node. Sizes that its data decides become values of `symbols`."""
    where = Where(model=graph.name, node=node.name or node.op.name)
    operands = [_read(value, values, graph) for value in node.inputs]
    try:
        bounds = {symbol.name: symbol.high for symbol in node.op.defined_symbols()}
        operator = node.op.bound({**symbols, **bounds})
        bodies = [_body(region, values, symbols, graph) for region in node.regions]
        types = [value.type.with_shape(item.shape) for value, item in zip(node.inputs, operands, strict=True)]
        results: tuple[Any, ...]
        if quantised.is_quantised(node) and not operator.gives_as_stored:
            operator.infer([type_.real for type_ in types])
            results = quantised.reference(replace(node, op=operator), operands)
        else:
            if not bodies:  # what the symbols left open is checked now, with the numbers
                operator.infer(types)
            results = operator.reference_node(operands, bodies)
    except (OperatorError, ArithmeticError, KeyError, ValueError, MemoryError) as problem:
        raise GraphError(f"{node.op.name}: {problem}", where=where) from problem
    if len(results) != len(node.outputs):
        what = f"{node.op.name} returned {len(results)} results for {len(node.outputs)} outputs"
        raise GraphError(what, where=where)
    found: dict[Value, Array] = {}
    for symbol in node.op.defined_symbols():
        symbols[symbol.name] = _found_size(symbol, node, results, where)
    for value, array in zip(node.outputs, results, strict=True):
        found[value] = round_to_bf16(array) if value.type.dtype is DType.BF16 else np.asarray(array)
        _check(found[value], value, symbols, graph)
    return found


def _body(region: Region, values: Mapping[Value, Array], symbols: dict[str, int], graph: Graph) -> Body:
    """A region as a function of its inputs. What it reads from around it has been computed."""

    def run(inputs: Sequence[Array]) -> tuple[Array, ...]:
        inner = dict(values)
        for value, array in zip(region.inputs, inputs, strict=True):
            inner[value] = np.asarray(array)
            _check(inner[value], value, symbols, graph)
        for node in region.nodes:
            inner.update(_run(node, inner, symbols, graph))
        return tuple(_read(value, inner, graph) for value in region.outputs)

    within = {symbol.name: symbol.high for node in region.walk() for symbol in node.op.defined_symbols()}
    known = {**symbols, **within}  # before it runs, what its own data decides is as large as it can be

    def with_numbers(type_: TensorType) -> TensorType:
        return type_.with_shape(tuple(dims.evaluate(dim, known) for dim in type_.shape))

    return Body(
        RegionType(
            tuple(with_numbers(type_) for type_ in region.type.inputs),
            tuple(with_numbers(type_) for type_ in region.type.outputs),
        ),
        run,
    )


def _found_size(symbol: Symbol, node: Node, results: tuple[Any, ...], where: Where) -> int:
    """The size that the data decided, read off the first result that has the symbol as a dimension."""
    for value, array in zip(node.outputs, results, strict=True):
        for dim, size in zip(value.type.shape, np.shape(array), strict=False):
            if isinstance(dim, DimExpr) and dim.symbol == symbol:
                if not symbol.low <= size <= symbol.high:
                    what = f"{node.op.name} found {size} elements, outside {symbol.low}..{symbol.high}"
                    raise GraphError(what, where=where)
                return int(size)
    raise GraphError(f"no result of {node.op.name} has the size '{symbol.name}'", where=where)


def evaluate_node(
    node: Node, values: Mapping[Value, Array], symbols: dict[str, int], graph: Graph
) -> dict[Value, Array]:
    """The results of one node for these operands. `symbols`: see `bind_symbols`; what the data decides is added."""
    return _run(node, values, symbols, graph)
