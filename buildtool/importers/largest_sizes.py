"""Whether a graph can compute at the largest of its declared sizes, for which memory is planned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from buildtool.errors import ModelFileError, Where
from buildtool.ir import quantised
from buildtool.ir.dims import UNBOUNDED, DimensionError, evaluate, symbols
from buildtool.ir.graph import Graph, Node, Value
from buildtool.ir.operator import OperatorError
from buildtool.ir.types import TensorType


def check_largest_sizes(graph: Graph, names: Mapping[Value, str], where: Where) -> None:
    """ModelFileError where a constant of the model, or a size inside of it, contradicts the largest declared sizes.

    `names`: what the model calls its constants.
    """
    found = {symbol.name for node in graph.walk() for symbol in node.op.defined_symbols()}
    sizes = {name: item.low if item.high == UNBOUNDED else item.high for name, item in graph.symbols.items()}
    if not sizes.keys() - found:
        return
    problem = _first_problem(graph, sizes, found)
    if problem is None:
        return
    node, what = problem
    concerned = [name for name in dict.fromkeys(_symbols_of(node)) if name not in found]
    declared = ", ".join(f"'{name}' {graph.symbols[name].low}..{graph.symbols[name].high}" for name in concerned)
    constants = ", ".join(f"'{names[value]}' {value.type}" for value in _constants(graph, node) if value in names)
    raise ModelFileError(
        f"{node.op.name}: {what}, which the largest declared sizes ask for ({declared})",
        where=replace(where, node=node.name),
        rule=f"the model fixes this size by its constant {constants}" if constants else "the model fixes this size",
        remedy=_remedy(graph, node, sizes, found, concerned),
    )


def _first_problem(graph: Graph, sizes: Mapping[str, int], found: set[str]) -> tuple[Node, str] | None:
    """The first node that cannot compute at these sizes, but for those of sizes that the data decides."""
    for node in graph.walk():
        if node.regions or quantised.is_quantised(node) or not found.isdisjoint(_symbols_of(node)):
            continue
        try:
            inferred = node.op.bound(sizes).infer([_at(value.type, sizes) for value in node.inputs])
            expected = [_at(value.type, sizes) for value in node.outputs]
        except (OperatorError, DimensionError) as problem:
            return node, str(problem)
        for made, wanted in zip(inferred, expected, strict=True):
            if made.shape != wanted.shape:
                return node, f"it makes {made}, where {wanted} is read"
    return None


def _at(type_: TensorType, sizes: Mapping[str, int]) -> TensorType:
    shape = tuple(evaluate(dim, sizes) for dim in type_.shape)
    if any(size < 0 for size in shape):
        raise DimensionError(f"a size of {min(shape)}")
    return type_.with_shape(shape)


def _symbols_of(node: Node) -> Iterator[str]:
    for value in (*node.inputs, *node.outputs):
        for dim in value.type.shape:
            yield from (symbol.name for symbol in symbols(dim))
    yield from (symbol.name for symbol in node.op.used_symbols())


def _constants(graph: Graph, node: Node) -> Iterator[Value]:
    """The constants that operands of a node are made of, if nothing else is."""
    makers = {value: maker for maker in graph.walk() for value in maker.outputs}
    for operand in node.inputs:
        waiting, seen = [operand], {operand}
        constants: list[Value] = []
        while waiting:
            value = waiting.pop()
            if value.is_constant:
                constants.append(value)
            elif value not in makers or makers[value].regions:
                break
            else:
                new = [item for item in makers[value].inputs if item not in seen]
                seen.update(new)
                waiting += new
        else:
            yield from constants


def _remedy(graph: Graph, node: Node, sizes: Mapping[str, int], found: set[str], concerned: list[str]) -> str:
    """The largest size of one symbol that fits, among those that occur as numbers beside it."""
    numbers = {dim for value in (*node.inputs, *node.outputs) for dim in value.type.shape if isinstance(dim, int)}
    numbers |= {dim for value in _constants(graph, node) for dim in value.type.shape if isinstance(dim, int)}
    for name in concerned:
        for size in sorted(numbers, reverse=True):
            fits = graph.symbols[name].low <= size < sizes[name]
            if fits and _first_problem(graph, {**sizes, name: size}, found) is None:
                return f"declare {graph.symbols[name].low}..{size} for '{name}', or {size} alone"
    return "declare smaller bounds in input_shapes"
