"""One HTML page that shows a model's graph before and after the passes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from buildtool.ir.attributes import format_attribute
from buildtool.ir.dims import bounds
from buildtool.ir.graph import Graph, Node, Value
from buildtool.ir.operator import Operator
from buildtool.ir.work import node_macs
from buildtool.reports import html_page
from buildtool.reports.graph_layout import BOX_HEIGHT, layout

_KINDS = (
    ("layer", ("conv", "matmul", "fully_connected", "attention")),
    ("norm", ("norm", "lrn")),
    ("type", ("quantize_linear", "cast")),
    ("reduction", ("pool", "reduce_", "softmax", "hardmax", "argm", "cum", "topk", "roi", "non_max")),
)  # the first whose words are part of the operator's name; the properties of an operator decide where none matches
_SHOWN_ELEMENTS = 8
_LONGEST_LABEL = 34


def page(name: str, graphs: Mapping[str, Graph], version: str) -> bytes:
    """The page of a model; `graphs` by the words on the switch, the last one is shown first. Reproducible."""
    data = {"name": name, "version": version, "graphs": [_graph(title, graph) for title, graph in graphs.items()]}
    return html_page.render("graph_page", name, data)


def _graph(title: str, graph: Graph) -> dict[str, Any]:
    """A graph as the page's script reads it. Constants are not drawn: they stand with the nodes that read them."""
    nodes = list(graph.walk())
    numbers = {value: number for number, value in enumerate(graph.values())}
    items = [_border("input", number, value) for number, value in ((numbers[v], v) for v in graph.inputs)]
    makers = {value: box for box, value in enumerate(graph.inputs)}
    for box, node in enumerate(nodes, start=len(items)):
        makers.update((value, box) for value in node.outputs)
    edges: dict[tuple[int, int], int] = {}
    for box, node in enumerate(nodes, start=len(items)):
        _connect(edges, makers, numbers, node.inputs, box)
    items += [_node(node, numbers) for node in nodes]
    for value in graph.outputs:
        _connect(edges, makers, numbers, [value], len(items))
        items.append(_border("output", numbers[value], value))
    widths = [_width(item) for item in items]
    drawing = layout(widths, list(edges))
    for item, width, (x, y) in zip(items, widths, drawing.boxes, strict=True):
        item["box"] = [x, y, width]
    return {
        "title": title,
        "items": items,
        "values": [_value(value) for value in numbers],
        "edges": [
            [start, end, value, [list(point) for point in route]]
            for ((start, end), value), route in zip(edges.items(), drawing.routes, strict=True)
        ],
        "size": [drawing.width, drawing.height, BOX_HEIGHT],
        "symbols": [f"{symbol.name}: {symbol.low} to {symbol.high}" for symbol in graph.symbols.values()],
        "nodes": len(nodes),
        "macs": sum(item["macs"] for item in items),
        "weights": sum(_bytes(value) for value in numbers if value.is_constant),
    }


def _connect(
    edges: dict[tuple[int, int], int],
    makers: Mapping[Value, int],
    numbers: Mapping[Value, int],
    values: Sequence[Value],
    reader: int,
) -> None:
    for value in values:
        maker = makers.get(value)
        if maker is not None and maker < reader:
            edges.setdefault((maker, reader), numbers[value])


def _border(kind: str, number: int, value: Value) -> dict[str, Any]:
    reads, makes = ([], [number]) if kind == "input" else ([number], [])
    return {
        "op": value.name,
        "name": "",
        "kind": kind,
        "sub": str(value.type),
        "attributes": [],
        "inputs": reads,
        "outputs": makes,
        "macs": 0,
        "weights": 0,
    }


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
        "weights": sum(_bytes(value) for value in constants),
    }


def kind_of(op: Operator) -> str:
    """What sort of work an operator does, for the colour of its box."""
    for kind, words in _KINDS:
        if any(word in op.name for word in words):
            return kind
    if op.is_elementwise:
        return "activation" if op.arity == (1, 1) else "arithmetic"
    return "movement"


def _value(value: Value) -> dict[str, Any]:
    shown: dict[str, Any] = {"name": value.name, "type": str(value.type), "bytes": _bytes(value)}
    if value.source_names:
        shown["from"] = list(value.source_names)
    if value.constant is not None:
        first = [_element(item) for item in value.constant.ravel()[:_SHOWN_ELEMENTS]]
        shown["constant"] = ", ".join(first) + (", \N{HORIZONTAL ELLIPSIS}" if value.constant.size > len(first) else "")
    return shown


def _element(item: np.generic) -> str:
    return f"{float(item):.6g}" if isinstance(item, np.floating) else str(item)


def _bytes(value: Value) -> int:
    """At the upper bounds of sizes that vary."""
    return math.prod(bounds(dim)[1] for dim in value.type.shape) * value.type.dtype.itemsize


def _width(item: Mapping[str, Any]) -> int:
    """Room for the longer of the two lines; the page shortens what is longer still."""
    head, below = (min(len(item[key]), _LONGEST_LABEL) for key in ("op", "sub"))
    return max(96, math.ceil(max(head * 8.0, below * 6.7)) + 30)
