"""Graphs for tests of the planner, the container and the builders."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from buildtool.ir.dims import Dim, Symbol, symbol
from buildtool.ir.graph import Graph, Region, Value
from buildtool.ir.operator import Operator
from buildtool.ir.types import DType, TensorType
from buildtool.ops.registry import builtin

OPS = builtin()


def make(name: str, **attributes: object) -> Operator:
    """An operator of Lathe by its name."""
    return OPS[name](**attributes)


def add_input(graph: Graph, name: str, shape: tuple[Dim, ...], dtype: DType = DType.F32) -> Value:
    value = Value(name, TensorType(dtype, shape))
    graph.inputs.append(value)
    return value


def apply(graph: Graph, op: Operator, *inputs: Value, name: str = "") -> Value:
    """Append a node and return its first output."""
    node = graph.new_node(op, inputs, name=name)
    graph.nodes.append(node)
    return node.outputs[0]


def small_network(name: str = "tiny", scale: float = 1.0, activation: str = "none") -> Graph:
    """Conv, relu, reshape, fully connected, softmax: views, results in place, constants."""
    random = np.random.default_rng(7)
    graph = Graph(name=name)
    x = add_input(graph, "x", (1, 8, 8, 3))
    weights = graph.new_constant("w", (random.standard_normal((4, 3, 3, 3)) * scale).astype(np.float32))
    conv = make(
        "conv2d",
        strides=(1, 1),
        pads=(1, 1, 1, 1),
        dilations=(1, 1),
        groups=1,
        activation=activation,
        activation_alpha=0.0,
        activation_beta=0.0,
    )
    y = apply(graph, conv, x, weights, name="conv")
    y = apply(graph, make("relu"), y, name="relu")
    y = apply(graph, make("reshape", shape=(1, 256)), y, name="flat")
    dense = graph.new_constant("d", (random.standard_normal((10, 256)) * scale).astype(np.float32))
    linear = make("fully_connected", activation="none", activation_alpha=0.0, activation_beta=0.0)
    y = apply(graph, linear, y, dense, name="dense")
    y = apply(graph, make("softmax", axis=1), y, name="prob")
    graph.outputs.append(y)
    return graph


Relu: Any = OPS["relu"]


class Repeat(Relu):
    """An operator with one region, as a loop has."""

    name = "repeat"
    regions = 1


def looping_network() -> Graph:
    """A region that reads a value of the graph around it, and makes one with its own input."""
    graph = Graph(name="loop")
    x = add_input(graph, "x", (4, 8))
    outer = apply(graph, make("abs"), x)
    start = apply(graph, make("relu"), x)
    body = Region(inputs=[Value("item", TensorType(DType.F32, (4, 8)))])
    linear = make("add", activation="none", activation_alpha=0.0, activation_beta=0.0)
    body.nodes.append(graph.new_node(linear, [body.inputs[0], outer], name="inner"))
    body.outputs = list(body.nodes[0].outputs)
    graph.nodes.append(graph.new_node(Repeat(), [start], name="again", regions=[body]))
    graph.outputs.append(apply(graph, make("relu"), graph.nodes[-1].outputs[0]))
    return graph


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Chains and bushes of element-wise operators, views and concatenations, with and without symbols."""
    graph = Graph(name=draw(st.sampled_from(["g", "model-1", "ä"])))
    first: Dim = 4
    if draw(st.booleans()):
        graph.symbols["n"] = Symbol("n", 1, 9)
        first = symbol("n", 1, 9)
    values = [add_input(graph, f"in{index}", (first, 6)) for index in range(draw(st.integers(1, 2)))]
    for _ in range(draw(st.integers(0, 14))):
        source = draw(st.sampled_from(values))
        kind = draw(st.sampled_from(["relu", "abs", "add", "mul", "reshape", "concat", "constant", "softmax"]))
        if kind == "reshape":
            shape = tuple(reversed(source.type.shape))
            values.append(apply(graph, make("reshape", shape=shape), source))
        elif kind in ("add", "mul", "concat"):
            other = draw(st.sampled_from([value for value in values if value.type.shape == source.type.shape]))
            attributes = {"concat": {"axis": 0}, "mul": {}}.get(
                kind, {"activation": "none", "activation_alpha": 0.0, "activation_beta": 0.0}
            )
            values.append(apply(graph, make(kind, **attributes), source, other))
        elif kind == "constant":
            if source.type.rank > 2:
                continue
            length = draw(st.sampled_from([1, 17, 40]))  # below and above one line of 64 bytes
            constant = graph.new_constant("c", np.linspace(-2, 2, length, dtype=np.float32).reshape(length, 1, 1))
            values.append(apply(graph, make("mul"), source, constant))
        elif kind == "softmax":
            values.append(apply(graph, make("softmax", axis=source.type.rank - 1), source))
        else:
            values.append(apply(graph, make(kind), source))
    graph.outputs = draw(st.lists(st.sampled_from(values), min_size=1, max_size=3, unique_by=id))
    return graph


@st.composite
def graphs_with_regions(draw: st.DrawFn) -> Graph:
    """Loops and branches in each other, whose regions read and return values from around them."""
    graph = Graph(name="g")
    flag, trips = add_input(graph, "flag", (), DType.BOOL), add_input(graph, "trips", (), DType.S64)
    values = [add_input(graph, "x", (4, 8))]
    _draw_nodes(draw, graph, graph, values, (flag, trips))
    graph.outputs = draw(st.lists(st.sampled_from(values), min_size=1, max_size=3, unique_by=id))
    return graph


def _draw_nodes(
    draw: st.DrawFn, graph: Graph, region: Region, values: list[Value], controls: tuple[Value, Value], depth: int = 0
) -> None:
    """Append nodes to a region. `values`: what they may read, to which those that they make are added."""
    flag, trips = controls
    kinds = ["relu", "abs", "add", *(["loop", "if_else"] if depth < 2 else [])]
    for kind in draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=5)):
        if kind == "loop":
            carried = draw(st.lists(st.sampled_from(values), min_size=1, max_size=2))
            inputs = [graph.new_value("carried", value.type) for value in carried]
            body = Region(inputs=[graph.new_value("number", trips.type), *inputs])
            seen = [*values, *inputs]
            _draw_nodes(draw, graph, body, seen, controls, depth + 1)
            given = [value for value in seen if value not in inputs]  # the verifier wants insert an identity
            body.outputs = [flag, *(draw(st.sampled_from(given)) for _ in carried)]
            node = graph.new_node(make("loop", most=(), size=()), [trips, flag, *carried], regions=[body])
        elif kind == "if_else":
            branches = [Region(), Region()]
            for branch in branches:
                seen = list(values)
                _draw_nodes(draw, graph, branch, seen, controls, depth + 1)
                branch.outputs = [draw(st.sampled_from(seen))]
            node = graph.new_node(make("if_else", sizes=()), [flag], regions=branches)
        elif kind == "add":
            linear = make("add", activation="none", activation_alpha=0.0, activation_beta=0.0)
            node = graph.new_node(linear, [draw(st.sampled_from(values)) for _ in range(2)])
        else:
            node = graph.new_node(make(kind), [draw(st.sampled_from(values))])
        region.nodes.append(node)
        values += node.outputs
