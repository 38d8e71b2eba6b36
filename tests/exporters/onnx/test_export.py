"""What an exported model is called, which operator set it needs, and what cannot be exported."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
import onnx
import pytest

from buildtool.errors import UnsupportedError
from buildtool.exporters.onnx import ExportRequest, export, export_models
from buildtool.ir.graph import Graph, Value
from buildtool.ir.operator import Operator
from buildtool.ir.types import DType, TensorType, round_to_bf16
from buildtool.ops.mul import Mul
from buildtool.ops.relu import Relu
from tests.exporters.onnx.harness import checked, run_fast
from tests.passes.harness import Maker


def _chain(*operators: str) -> Maker:
    maker = Maker()
    x = maker.input(2, 3)
    for operator in operators:
        x = maker(operator, x)
    maker.graph.outputs = [x]
    return maker


def test_names_are_those_of_the_source() -> None:
    graph = _chain("relu", "exp").graph
    model = onnx.load_from_string(export(graph, input_names=["a:0"], output_names=["b/out"], version="1.2").content)
    assert ([item.name for item in model.graph.input], [item.name for item in model.graph.output]) == (
        ["a:0"],
        ["b/out"],
    )
    assert [node.name for node in model.graph.node] == ["relu_0", "exp_1"]
    assert (model.producer_name, model.producer_version) == ("lathe", "1.2")
    assert model.graph.node[-1].output == ["b/out"]


def test_an_inner_value_gives_way_to_a_name_of_the_source() -> None:
    graph = _chain("relu", "exp").graph
    graph.nodes[0].outputs[0].name = "wanted"
    model = onnx.load_from_string(export(graph, output_names=["wanted"]).content)
    onnx.checker.check_model(model, full_check=True)
    assert model.graph.node[0].output[0] != "wanted"


def test_outputs_that_are_inputs_constants_or_twice_the_same() -> None:
    maker = Maker()
    x = maker.input(2, 3)
    y = maker("relu", x)
    constant = maker("identity", maker.constant(np.ones(4)))
    maker.graph.outputs = [y, maker("identity", y), maker("identity", x), constant]
    array = np.array([[1, -2, 3], [4, 5, -6]], np.float32)
    found = run_fast(checked(maker.graph).content, {x.name: array})
    for result, wanted in zip(found, (np.maximum(array, 0), np.maximum(array, 0), array, np.ones(4)), strict=True):
        np.testing.assert_array_equal(result, wanted)


def test_one_name_for_two_things_is_an_error() -> None:
    with pytest.raises(UnsupportedError, match="are called 'x'"):
        export(_chain("relu").graph, input_names=["x"], output_names=["x"])


def test_the_operator_set_is_as_old_as_can_be() -> None:
    assert export(_chain("relu").graph).opset == 21
    maker = Maker()
    maker.graph.outputs = [maker("rms_norm", maker.input(2, 3), axis=1, epsilon=1e-5)]
    assert checked(maker.graph).opset == 23
    maker = Maker()
    maker.graph.outputs = [maker("cumprod", maker.input(2, 3), axis=1, exclusive=False, reverse=False)]
    assert checked(maker.graph).opset == 26


def test_halves_stay_halves() -> None:
    graph = Graph(name="halves")
    x = Value("x", TensorType(DType.BF16, (2, 3)))
    numbers = round_to_bf16(np.array([1.5, 0.1, -2.25], np.float32))
    row = Value("row", TensorType(DType.BF16, (3,)), (), numbers)
    graph.inputs = [x]
    node = graph.new_node(Mul(), [x, row], "mul")
    graph.nodes, graph.outputs = [node], node.outputs
    model = onnx.load_from_string(checked(graph).content)
    (weights,) = model.graph.initializer
    assert weights.data_type == onnx.TensorProto.BFLOAT16
    assert np.array_equal(np.frombuffer(weights.raw_data, np.uint16), numbers.view(np.uint32) >> 16)
    assert model.opset_import[0].version == 22


@dataclass(frozen=True)
class Own(Operator):
    """Somebody's own operator."""

    name = "own"

    def infer(self, inputs):  # type: ignore[no-untyped-def]
        return (inputs[0],)


def _with_own(count: int) -> Graph:
    maker = _chain("relu")
    for index in range(count):
        node = maker.graph.new_node(Own(), maker.graph.inputs, f"own_{index}")
        maker.graph.nodes.append(node)
        after = maker.graph.new_node(Relu(), node.outputs, f"behind_{index}")
        maker.graph.nodes.append(after)
        maker.graph.outputs = [*maker.graph.outputs, *after.outputs]
    return maker.graph


def test_all_nodes_without_a_counterpart_are_told_at_once() -> None:
    with pytest.raises(UnsupportedError) as error:
        export_models([ExportRequest(_with_own(2)), ExportRequest(_chain("exp").graph), ExportRequest(_with_own(1))])
    assert [problem.where.node for problem in error.value.problems] == ["own_0", "own_1", "own_0"]
    assert "own cannot be written as ONNX" in str(error.value)


def test_models_of_2_gib_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    maker = Maker()
    maker.graph.outputs = [maker("add", maker.input(100), maker.random(100))]
    monkeypatch.setattr(sys.modules["buildtool.exporters.onnx.export"], "_LARGEST", 300)
    with pytest.raises(UnsupportedError, match="400 bytes"):
        export(maker.graph)


def test_recurrent_layers_take_the_weights_of_their_input() -> None:
    maker = Maker()
    x = maker.input(5, 2, 4)
    share = maker("fully_connected", x, maker.random(24, 4), maker.random(24))
    common = {"function_f": "sigmoid", "linear_before_reset": True}
    y, _ = maker.all("gru", share, maker.random(24, 8), maker.constant(np.zeros((1, 8))), maker.random(8), **common)
    maker.graph.outputs = [y]
    assert dict(checked(maker.graph).operators) == {"GRU": 1, "Squeeze": 1}


@pytest.mark.parametrize(("size", "pad", "kernel", "rounds_up"), [(2, 1, 3, False), (6, 0, 2, False), (7, 0, 2, True)])
def test_pools_round_up_only_where_a_window_is_won(size: int, pad: int, kernel: int, rounds_up: bool) -> None:
    """Of a last window that would start in the padding, versions of ONNX have different opinions."""
    maker = Maker()
    window = {"kernel": (kernel, kernel), "strides": (kernel, kernel), "pads": (pad,) * 4, "dilations": (1, 1)}
    x = maker.input(1, size, size, 1)
    maker.graph.outputs = [maker("avg_pool2d", x, **window, ceil_mode=True, count_include_pad=False)]
    model = onnx.load_from_string(checked(maker.graph).content)
    (pool,) = [node for node in model.graph.node if node.op_type == "AveragePool"]
    assert any(item.name == "ceil_mode" for item in pool.attribute) == rounds_up
