"""Drawings of graphs as the script of a page reads them: boxes, what they say, and the edges between them.

Constants are not drawn: they stand with the nodes that read them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from buildtool.importers.outline import Outline, OutlinedNode
from buildtool.ir.attributes import format_attribute
from buildtool.ir.graph import Graph, Node, Value
from buildtool.ir.operator import Operator
from buildtool.ir.work import node_macs
from buildtool.reports.graph_layout import BOX_HEIGHT, layout
from buildtool.reports.graph_values import Values, size

_KINDS = (
    ("layer", ("conv", "matmul", "gemm", "fully_connected", "dense", "innerproduct", "attention", "lstm", "gru")),
    ("norm", ("norm", "lrn")),
    ("type", ("quantize", "cast")),
    ("reduction", ("pool", "reduce", "softmax", "hardmax", "argm", "cum", "topk", "roi", "non_max")),
)  # the first whose words are part of the operator's name
_SOURCE_KINDS = (
    ("activation", ("relu", "sigmoid", "tanh", "clip", "swish", "gelu", "elu", "softplus", "mish", "activation")),
    ("arithmetic", ("add", "sub", "mul", "div", "pow", "sqrt", "exp", "max", "min", "mean", "eltwise", "where")),
)  # of files: they say nothing else about an operator
_LONGEST_LABEL = 34


@dataclass(frozen=True)
class Drawing:
    """What a box says (`nodes`), and in `rest` where the boxes and edges are, and sums."""

    nodes: list[dict[str, Any]]
    rest: dict[str, Any]


def drawing_of_graph(graph: Graph, values: Values) -> Drawing:
    """A graph of Lathe, nodes of regions included."""
    numbers = {value: values.number(value, graph) for value in graph.values()}
    inner = list(graph.walk())
    nodes = [_border("input", numbers[value], value.name, str(value.type)) for value in graph.inputs]
    nodes += [_node(node, numbers) for node in inner]
    nodes += [_border("output", numbers[value], value.name, str(value.type)) for value in graph.outputs]
    made: list[Sequence[Value]] = [[value] for value in graph.inputs]
    made += [node.outputs for node in inner] + [[] for _ in graph.outputs]
    read: list[Sequence[Value]] = [[] for _ in graph.inputs]
    read += [node.inputs for node in inner] + [[value] for value in graph.outputs]
    edges = _edges(made, read)
    return _drawing(
        nodes,
        {pair: numbers[value] for pair, value in edges.items()},
        symbols=[f"{symbol.name}: {symbol.low} to {symbol.high}" for symbol in graph.symbols.values()],
        nodes=len(inner),
        macs=sum(node["macs"] for node in nodes),
        weights=sum(size(value) for value in numbers if value.is_constant),
    )


def drawing_of_outline(outline: Outline, values: Values) -> Drawing:
    """A model as its file has it."""
    names = dict.fromkeys([*outline.inputs, *outline.outputs])
    names.update((name, None) for node in outline.nodes for name in (*node.inputs, *node.outputs))
    numbers = {name: values.outlined(name, outline.tensors.get(name)) for name in names}
    types = {name: tensor.type for name, tensor in outline.tensors.items()}
    constants = {name: tensor.bytes for name, tensor in outline.tensors.items() if tensor.is_constant}
    nodes = [_border("input", numbers[name], name, types.get(name, "")) for name in outline.inputs]
    nodes += [_outlined(node, numbers, types, constants) for node in outline.nodes]
    nodes += [_border("output", numbers[name], name, types.get(name, "")) for name in outline.outputs]
    made: list[Sequence[str]] = [[name] for name in outline.inputs]
    made += [node.outputs for node in outline.nodes] + [[] for _ in outline.outputs]
    read: list[Sequence[str]] = [[] for _ in outline.inputs]
    read += [node.inputs for node in outline.nodes] + [[name] for name in outline.outputs]
    edges = _edges(made, read)
    weights = sum(constants[name] for name in names if name in constants)
    return _drawing(
        nodes,
        {pair: numbers[name] for pair, name in edges.items()},
        symbols=[],
        nodes=len(outline.nodes),
        macs=0,
        weights=weights,
    )


def kind_of(op: Operator) -> str:
    """What sort of work an operator does, for the colour of its box."""
    if kind := _kind(op.name, _KINDS):
        return kind
    if op.is_elementwise:
        return "activation" if op.arity == (1, 1) else "arithmetic"
    return "movement"


def _kind(name: str, kinds: Iterable[tuple[str, Iterable[str]]]) -> str:
    return next((kind for kind, words in kinds if any(word in name for word in words)), "")


def _edges(made: Sequence[Sequence[Any]], read: Sequence[Sequence[Any]]) -> dict[tuple[int, int], Any]:
    """From the maker of each value to its readers, by the numbers of the boxes."""
    makers = {value: box for box, outputs in enumerate(made) for value in outputs}
    edges: dict[tuple[int, int], Any] = {}
    for box, inputs in enumerate(read):
        for value in inputs:
            maker = makers.get(value, box)
            if maker < box:
                edges.setdefault((maker, box), value)
    return edges


def _drawing(boxes: list[dict[str, Any]], edges: Mapping[tuple[int, int], int], /, **sums: object) -> Drawing:
    widths = [_width(box) for box in boxes]
    placed = layout(widths, list(edges))
    rest = {
        "boxes": [[x, y, width] for width, (x, y) in zip(widths, placed.boxes, strict=True)],
        "edges": [
            [start, end, value, [list(point) for point in route]]
            for ((start, end), value), route in zip(edges.items(), placed.routes, strict=True)
        ],
        "size": [placed.width, placed.height, BOX_HEIGHT],
        **sums,
    }
    return Drawing(boxes, rest)


def _border(kind: str, number: int, name: str, type_: str) -> dict[str, Any]:
    reads, makes = ([], [number]) if kind == "input" else ([number], [])
    told = {"op": name, "name": "", "kind": kind, "sub": type_, "attributes": []}
    return {**told, "inputs": reads, "outputs": makes, "macs": 0, "weights": 0}


def _node(node: Node, numbers: Mapping[Value, int]) -> dict[str, Any]:
    constants = dict.fromkeys(value for value in node.inputs if value.is_constant)
    return {
        "op": node.op.name,
        "name": node.name,
        "kind": kind_of(node.op),
        "sub": ", ".join(str(value.type) for value in node.outputs),
        "attributes": [[key, format_attribute(value)] for key, value in node.op.attributes().items()],
        "inputs": [numbers[value] for value in node.inputs],
        "outputs": [numbers[value] for value in node.outputs],
        "macs": node_macs(node),
        "weights": sum(size(value) for value in constants),
    }


def _outlined(
    node: OutlinedNode, numbers: Mapping[str, int], types: Mapping[str, str], constants: Mapping[str, int]
) -> dict[str, Any]:
    return {
        "op": node.op,
        "name": node.name,
        "kind": _kind(node.op.lower(), (*_KINDS, *_SOURCE_KINDS)) or "movement",
        "sub": ", ".join(filter(None, (types.get(name, "") for name in node.outputs))) or node.name,
        "attributes": [list(pair) for pair in node.attributes],
        "inputs": [numbers[name] for name in node.inputs],
        "outputs": [numbers[name] for name in node.outputs],
        "macs": 0,
        "weights": sum(constants.get(name, 0) for name in dict.fromkeys(node.inputs)),
    }


def _width(node: Mapping[str, Any]) -> int:
    """Room for the longer of the two lines; the page shortens what is longer still."""
    head, below = (min(len(node[key]), _LONGEST_LABEL) for key in ("op", "sub"))
    return max(96, math.ceil(max(head * 8.0, below * 6.7)) + 30)
