"""How values flow between the outermost nodes of a graph, by number: what placement counts on."""

from __future__ import annotations

from dataclasses import dataclass

from buildtool.ir.dims import Symbol, symbols
from buildtool.ir.graph import Graph, Node, Value

AROUND = -1  # the maker of what comes from outside the graph


@dataclass(frozen=True)
class Carried:
    """A value that is not constant: which node makes it, which nodes read it, and whether the graph gives it away."""

    value: Value
    maker: int
    readers: tuple[int, ...]
    leaves: bool


@dataclass(frozen=True)
class Flow:
    """The values that some node reads or makes, and what has to run before what."""

    nodes: tuple[Node, ...]
    values: tuple[Carried, ...]
    before: tuple[tuple[int, ...], ...]  # by node: the nodes whose results it reads, in tensors or in sizes


def read(node: Node) -> tuple[Value, ...]:
    """What a node and its regions read from around it, once each. Constants are not among it."""
    return tuple(value for value in dict.fromkeys((*node.inputs, *node.captured())) if not value.is_constant)


def flow_of(graph: Graph) -> Flow:
    makers = {value: index for index, node in enumerate(graph.nodes) for value in node.outputs}
    sizes = {item: index for index, node in enumerate(graph.nodes) for item in node.op.defined_symbols()}
    readers: dict[Value, list[int]] = {value: [] for value in (*graph.inputs, *makers)}
    before: list[tuple[int, ...]] = []
    for index, node in enumerate(graph.nodes):
        earlier: dict[int, None] = {}
        for value in read(node):
            readers[value].append(index)
            if value in makers:
                earlier[makers[value]] = None
        if sizes:
            earlier.update(dict.fromkeys(_size_makers(node, sizes)))
        before.append(tuple(number for number in earlier if number != index))
    given = set(graph.outputs)
    values = tuple(
        Carried(value, makers.get(value, AROUND), tuple(numbers), value in given) for value, numbers in readers.items()
    )
    return Flow(tuple(graph.nodes), values, tuple(before))


def _size_makers(node: Node, sizes: dict[Symbol, int]) -> list[int]:
    """The nodes that find out the sizes which a node mentions, in attributes or in the types of its results."""
    mentioned: list[Symbol] = []
    for one in (node, *(inner for region in node.regions for inner in region.walk())):
        mentioned += one.op.used_symbols()
        mentioned += [item for value in one.outputs for dim in value.type.shape for item in symbols(dim)]
    return [sizes[item] for item in dict.fromkeys(mentioned) if item in sizes]


def unfit(node: Node) -> str:
    """Why a node cannot be in the region of another one, whatever kernels there are; empty where it can."""
    if node.op.defined_symbols():
        return "the size of its result depends on its data"
    return ""
