"""The reference evaluator: values, symbols, and refusals."""

from __future__ import annotations

import numpy as np
import pytest

from buildtool.errors import GraphError
from buildtool.ir.dims import Symbol, symbol
from buildtool.ir.evaluate import bind_symbols, evaluate
from buildtool.ir.graph import Graph, Value
from buildtool.ir.operator import Array
from buildtool.ir.types import DType, TensorType
from buildtool.ops.add import Add
from buildtool.ops.cast import Cast
from buildtool.ops.gather import Gather
from buildtool.ops.mul import Mul
from buildtool.ops.slice import Slice
from tests.ir.graphs import N, branches, convolution, f32


def _picture(count: int) -> Array:
    return np.random.default_rng(1).standard_normal((count, 7, 7, 4)).astype(np.float32)


def test_values() -> None:
    graph = convolution()
    kept = evaluate(graph, {"x": _picture(3)}, keep=True)
    outputs = evaluate(graph, {"x": _picture(3)})
    assert set(outputs) == {value.name for value in graph.outputs}
    assert set(kept) == {"x"} | {value.name for node in graph.nodes for value in node.outputs}
    conv, (first, second) = graph.nodes[0].outputs[0], graph.nodes[1].outputs
    np.testing.assert_array_equal(kept[conv.name][..., :2], kept[first.name])
    np.testing.assert_array_equal(outputs[graph.outputs[0].name], kept[first.name].reshape(150))
    np.testing.assert_array_equal(outputs[graph.outputs[1].name], kept[second.name] ** 2)


def test_graph_outputs_may_be_inputs_and_constants() -> None:
    graph = Graph(inputs=[Value("x", f32(2))])
    graph.outputs = [graph.inputs[0], graph.new_constant("c", np.ones(3, np.float32))]
    outputs = evaluate(graph, {"x": np.zeros(2, np.float32)})
    assert {name: array.tolist() for name, array in outputs.items()} == {"x": [0, 0], "c.1": [1, 1, 1]}


def test_symbols_in_attributes() -> None:
    n = symbol("N", 1, 8)
    graph = Graph(inputs=[Value("x", f32(n))], symbols={"N": N})
    graph.nodes.append(graph.new_node(Slice((n - 1,), (-1,), (n,)), graph.inputs))
    graph.outputs = graph.nodes[0].outputs[:]
    x = np.arange(5, dtype=np.float32)
    assert next(iter(evaluate(graph, {"x": x}).values())).tolist() == [4, 3, 2, 1, 0]


def test_bf16_is_rounded_after_every_node() -> None:
    graph = Graph(inputs=[Value("x", f32(1))])
    graph.nodes.append(graph.new_node(Cast(DType.BF16), graph.inputs))
    low = graph.nodes[0].outputs[0]
    graph.nodes.append(graph.new_node(Mul(), [low, low]))
    graph.outputs = graph.nodes[1].outputs[:]
    assert graph.outputs[0].type == TensorType(DType.BF16, (1,))
    (result,) = evaluate(graph, {"x": np.array([1.01], np.float32)}).values()
    assert result.tolist() == [1.015625]  # 1.0078125 ** 2 is 1.01568604


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({}, "the input 'x' is missing"),
        ({"x": _picture(2), "y": _picture(2)}, "the graph has no input 'y'"),
        ({"x": _picture(9)}, "'N' is 9, which is outside 1..8"),
        ({"x": _picture(2)[:, :, 1:]}, r"the array has the shape \[2, 7, 6, 4\], but the graph needs \[2, 7, 7, 4\]"),
        ({"x": _picture(2)[0]}, r"the input has the shape \[7, 7, 4\], but the graph needs"),
        ({"x": _picture(2).astype(np.float64)}, "the array has type float64"),
    ],
)
def test_refused_inputs(inputs: dict[str, Array], message: str) -> None:
    with pytest.raises(GraphError, match=message):
        evaluate(convolution(), inputs)


def test_a_symbol_has_one_value() -> None:
    n = symbol("N", 1, 8)
    graph = Graph(inputs=[Value("a", f32(n)), Value("b", f32(n))], symbols={"N": N})
    with pytest.raises(GraphError, match="'N' is both 3 and 4"):
        bind_symbols(graph, {"a": (3,), "b": (4,)})
    assert bind_symbols(graph, {"a": (3,), "b": (3,)}) == {"N": 3}


def test_open_sizes_are_checked_with_numbers() -> None:
    n, m = symbol("N", 1, 8), symbol("M", 1, 8)
    graph = Graph(inputs=[Value("a", f32(n)), Value("b", f32(m))], symbols={"N": N, "M": Symbol("M", 1, 8)})
    graph.nodes.append(graph.new_node(Add(), graph.inputs, "Add_7"))
    graph.outputs = graph.nodes[0].outputs[:]
    ones = {count: np.ones(count, np.float32) for count in (1, 3, 4)}
    assert len(next(iter(evaluate(graph, {"a": ones[3], "b": ones[1]}).values()))) == 3
    with pytest.raises(GraphError, match=r"node 'Add_7': error: add: shapes \[3\] and \[4\] do not broadcast"):
        evaluate(graph, {"a": ones[3], "b": ones[4]})


def test_values_that_an_operator_refuses() -> None:
    graph = Graph(inputs=[Value("x", f32(3)), Value("i", TensorType(DType.S64, ()))])
    graph.nodes.append(graph.new_node(Gather(0), graph.inputs, "Gather_1"))
    graph.outputs = graph.nodes[0].outputs[:]
    with pytest.raises(GraphError, match="node 'Gather_1': error: gather: index 7 is outside"):
        evaluate(graph, {"x": np.zeros(3, np.float32), "i": np.array(7)})


def test_regions_without_a_meaning_are_refused() -> None:
    with pytest.raises(GraphError, match="'branch' does not define the effect of its regions"):
        evaluate(branches(), {"condition": np.array(True), "x": np.zeros(3, np.float32)})
