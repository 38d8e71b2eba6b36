"""Half precision: what can be is computed in it, the borders keep their types, and casts stand only where both meet."""

from __future__ import annotations

import numpy as np
import pytest

from buildtool.ir.evaluate import evaluate
from buildtool.ir.graph import Graph, Node, Value
from buildtool.ir.types import DType
from buildtool.ir.verify import verify
from buildtool.passes.compute_in_half import ComputeInHalf, Kept, Objection
from buildtool.passes.pipeline import in_half
from tests.passes.harness import Maker, names, ops, random
from tests.passes.test_random_graphs import RandomGraph
from tests.passes.test_regions import if_else, loop


def agree(single: Node, half: Node) -> str:
    """Everything is as good in half precision."""
    return ""


def halved(graph: Graph, objection: Objection = agree) -> tuple[Kept, ...]:
    """Computes the graph in half precision; borders are the same, results about so."""
    before = graph.clone()
    kept = in_half(graph, objection)
    verify(graph)
    assert not ComputeInHalf(objection).run(graph.clone()), "a second run finds something to do"
    for now, was in ((graph.inputs, before.inputs), (graph.outputs, before.outputs)):
        assert [(value.name, value.type) for value in now] == [(value.name, value.type) for value in was]
    assert {name for value in before.outputs for name in value.source_names} <= names(graph)
    inputs = {}
    for seed, value in enumerate(graph.inputs):
        numbers = random(*(int(dim) for dim in value.type.shape), seed=seed)  # type: ignore[arg-type]
        inputs[value.name] = numbers if value.type.dtype.is_float else np.abs(numbers * 2).astype(np.int64)
    old, new = evaluate(before, inputs), evaluate(graph, inputs)
    for name, expected in old.items():
        largest = float(np.abs(expected).max(initial=1.0))
        np.testing.assert_allclose(new[name], expected, rtol=0, atol=2e-2 * largest)
    return kept


def dtypes(graph: Graph, op: str) -> list[str]:
    """The element types of what the nodes of an operator make."""
    return [node.outputs[0].type.dtype.value for node in graph.walk() if node.op.name == op]


def test_only_the_borders_are_cast() -> None:
    make = Maker()
    x = make("relu", make.conv(make.input(1, 5, 5, 3), 4, bias=True))
    graph = make.finish(make("sigmoid", make.conv(x, 2)), x)
    assert halved(graph) == ()
    assert sorted(ops(graph)) == ["cast", "cast", "cast", "conv2d", "conv2d", "relu", "sigmoid"]
    assert dtypes(graph, "conv2d") == ["f16", "f16"]
    constants = [value for value in graph.values() if value.constant is not None]
    assert {value.type.dtype for value in constants} == {DType.F16}


def test_excluded_nodes_stay_between_casts() -> None:
    make = Maker()
    graph = make.finish(make.conv(make("sigmoid", make.conv(make.input(1, 4, 4, 3), 4, 1)), 2, 1))
    asked: list[tuple[DType, DType]] = []

    def objection(single: Node, half: Node) -> str:
        asked.append((single.inputs[0].type.dtype, half.inputs[0].type.dtype))
        return "too slow" if half.op.name == "sigmoid" else ""

    assert halved(graph, objection) == (Kept("sigmoid_1", "sigmoid", "too slow"),)
    assert ops(graph) == ["cast", "conv2d", "cast", "sigmoid", "cast", "conv2d", "cast"]
    assert set(asked) == {(DType.F32, DType.F16)}


def test_casts_of_one_value_are_shared() -> None:
    make = Maker()
    x = make.input(1, 4, 4, 3)
    graph = make.finish(make("add", make.conv(x, 4, 1), make.conv(x, 4, 1)))
    halved(graph)
    assert sorted(ops(graph)) == ["add", "cast", "cast", "conv2d", "conv2d"]


@pytest.mark.parametrize(
    ("number", "fits"),
    [(65504.0, True), (1e5, False), (6.2e-5, True), (1e-6, False), (0.0, True), (np.inf, True)],
)
def test_constants_that_half_precision_does_not_hold(number: float, fits: bool) -> None:
    make = Maker()
    x = make.conv(make.input(1, 4, 4, 3), 4, 1)
    graph = make.finish(make.conv(make("maximum", x, make.constant(number)), 2, 1))
    kept = in_half(graph, agree)
    assert dtypes(graph, "maximum") == ["f16" if fits else "f32"]
    assert [node.op for node in kept] == ([] if fits else ["maximum"])
    assert fits or "half precision cannot represent the values of its constant" in kept[0].reason


@pytest.mark.parametrize(("number", "fits"), [(1e-9, True), (1e5, False)])
def test_a_small_bias_does_not_matter(number: float, fits: bool) -> None:
    """Folded normalisations of networks that were not trained leave such ones."""
    make = Maker()
    bias = make.graph.new_constant("bias", np.full(4, number, np.float32))
    x, filters = make.input(1, 4, 4, 3), make.random(4, 1, 1, 3)
    graph = make.finish(make("conv2d", x, filters, bias, pads=(0, 0, 0, 0), strides=(1, 1), dilations=(1, 1), groups=1))
    kept = in_half(graph, agree)
    assert dtypes(graph, "conv2d") == ["f16" if fits else "f32"]
    assert [node.op for node in kept] == ([] if fits else ["conv2d"])


def test_integers_are_left_alone() -> None:
    make = Maker()
    table, index = make.random(7, 6), make.input(3, dtype=DType.S64)
    rows = make("gather", table, make("add", index, make.graph.new_constant("one", np.array(1))), axis=0)
    values, places = make.all("topk", make("fully_connected", rows, make.random(5, 6)), k=(2,), axis=1, largest=True)
    graph = make.finish(values, places)
    halved(graph)
    assert dtypes(graph, "add") == ["s64"]
    assert [value.type.dtype for node in graph.nodes if node.op.name == "topk" for value in node.outputs] == [
        DType.F16,
        DType.S64,
    ]


def test_nodes_between_slow_ones_are_not_halved() -> None:
    make = Maker()
    x = make("sigmoid", make.input(1, 4, 4, 3))
    slow = make.conv(make("tanh", x), 4, 1)
    graph = make.finish(make("relu", slow))

    def objection(single: Node, half: Node) -> str:
        return "slow" if half.op.name == "conv2d" else ""

    kept = halved(graph, objection)
    assert [node.op for node in kept] == ["conv2d", "sigmoid", "tanh", "relu"]
    assert ops(graph) == ["sigmoid", "tanh", "conv2d", "relu"]


def test_regions_keep_their_borders() -> None:
    make = Maker()
    x = make.conv(make.input(1, 4, 4, 3), 3, 1)

    def body(inputs: list[Value]) -> list[Value]:
        made = make("tanh", make.conv(inputs[1], 3, 1))
        return [made, made]

    last, _ = loop(make, 2, [x], body)
    condition = make("less", make("reduce_max", x, axes=(0, 1, 2, 3), keepdims=False), make.constant(0.5))
    (either,) = if_else(make, condition, lambda _: [make.conv(last, 2, 1)], lambda _: [make.conv(x, 2, 1)])
    graph = make.finish(either)
    kept = halved(graph)
    assert [node.op for node in kept] == ["loop", "if_else"]
    assert dtypes(graph, "conv2d") == ["f16"] * 4


@pytest.mark.parametrize("seed", range(20))
def test_random_graphs(seed: int) -> None:
    halved(RandomGraph(seed).graph(), lambda single, half: "slow" if half.op.name == "sigmoid" else "")
