"""Resource variables, which streaming models keep their past in: compared with LiteRT over several runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from buildtool.errors import ModelFileError, UnsupportedError
from buildtool.importers.request import TensorRequest
from buildtool.ir import text
from buildtool.ir.types import DType
from buildtool.ops.registry import registry
from tests.importers.tflite.harness import imported, ints, random, run
from tests.importers.tflite.writer import GraphSpec, NodeSpec, Quantisation, TensorSpec, write

_PAST = np.full((1, 3, 2), -4, np.int8)
BY_FOUR = Quantisation([0.25], [-4])


def _handle(name: str, tensor: int) -> NodeSpec:
    return NodeSpec("VAR_HANDLE", [], [tensor], "VarHandleOptions", {"Container": "", "SharedName": name})


def bytes_(name: str, rows: int) -> TensorSpec:
    return TensorSpec(name, "int8", (1, rows, 2), quantisation=BY_FOUR)


def _streaming() -> bytes:
    """The sum of the last five rows: two new ones, and three that were kept, in bytes."""
    tensors = [
        bytes_("x", 2),
        TensorSpec("past", "resource", ()),
        bytes_("before", 3),
        bytes_("rows", 5),
        *(
            TensorSpec(f"c{i}", "int32", (3,), ints(*values))
            for i, values in enumerate([(0, 2, 0), (1, 5, 2), (1, 1, 1)])
        ),
        bytes_("after", 3),
        TensorSpec("real", "float32", (1, 5, 2)),
        TensorSpec("axis", "int32", (1,), ints(1)),
        TensorSpec("y", "float32", (1, 2)),
        TensorSpec("never", "resource", ()),
        TensorSpec("constant", "float32", (1, 2)),
        TensorSpec("z", "float32", (1, 2)),
        TensorSpec("inner", "resource", ()),
        TensorSpec("again", "float32", (1, 2)),
    ]
    nodes = [
        NodeSpec("CALL_ONCE", [], [], "CallOnceOptions", {"InitSubgraphIndex": 1}),
        _handle("past", 1),
        _handle("never", 11),
        _handle("inner", 14),
        NodeSpec("READ_VARIABLE", [1], [2]),
        NodeSpec("CONCATENATION", [2, 0], [3], "ConcatenationOptions", {"Axis": 1}),
        NodeSpec("STRIDED_SLICE", [3, 4, 5, 6], [7], "StridedSliceOptions", {"BeginMask": 5, "EndMask": 5}),
        NodeSpec("ASSIGN_VARIABLE", [1, 7], []),
        NodeSpec("DEQUANTIZE", [3], [8]),
        NodeSpec("SUM", [8, 9], [10], "ReducerOptions", {"KeepDims": 0}),
        NodeSpec("READ_VARIABLE", [11], [12]),
        NodeSpec("MUL", [10, 12], [13], "MulOptions"),
        NodeSpec("ASSIGN_VARIABLE", [14, 13], []),
        NodeSpec("READ_VARIABLE", [14], [15]),
    ]
    first = [
        TensorSpec("a", "resource", ()),
        TensorSpec("zeros", "int8", (1, 3, 2), _PAST, BY_FOUR),
        TensorSpec("b", "resource", ()),
        TensorSpec("two", "float32", (1, 2), np.array([[2.0, -3.0]], np.float32)),
    ]
    once = [
        _handle("past", 0),
        NodeSpec("ASSIGN_VARIABLE", [0, 1], []),
        _handle("never", 2),
        NodeSpec("ASSIGN_VARIABLE", [2, 3], []),
    ]
    return write(GraphSpec(tensors, nodes, [0], [10, 15]), GraphSpec(first, once, [], []))


@pytest.mark.parametrize("dtype", ["int8", "float32"])
def test_the_past_is_an_input_and_an_output(tmp_path: Path, dtype: str) -> None:
    file = _streaming()
    runtime = pytest.importorskip("ai_edge_litert.interpreter")
    without = runtime.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    interpreter = runtime.Interpreter(model_content=file, num_threads=1, experimental_op_resolver_type=without)
    interpreter.allocate_tensors()
    bytes_ = DType.S8 if dtype == "int8" else DType.F32
    inputs = [TensorRequest(name, dtype=bytes_) for name in ("x", "past")]
    outputs = [TensorRequest(name) for name in ("y", "again")] + [TensorRequest("past:next", dtype=bytes_)]
    graph = imported(file, tmp_path, inputs, outputs).graph
    past = _PAST if dtype == "int8" else np.zeros(_PAST.shape, np.float32)
    for number in range(4):
        x = np.round(random(1, 2, 2, seed=number) * 20).astype(np.int8)
        interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x)
        interpreter.invoke()
        given = x if dtype == "int8" else (x.astype(np.float32) + 4) / 4
        *found, past = run(graph, {"x": given, "past": past})
        for detail, result in zip(interpreter.get_output_details(), found, strict=True):
            np.testing.assert_allclose(result, interpreter.get_tensor(detail["index"]), rtol=1e-6)


def test_all_inputs_and_outputs_by_default(tmp_path: Path) -> None:
    graph = imported(_streaming(), tmp_path).graph
    assert [value.name for value in graph.inputs] == ["x", "past"]
    assert [value.name for value in graph.outputs] == ["y", "again", "past:next"]


def test_what_the_past_begins_with(tmp_path: Path) -> None:
    """In the type that the user passes; the text form keeps it."""
    graph = imported(_streaming(), tmp_path).graph
    assert graph.clone().initial["past"].shape == (1, 3, 2)
    declared = [TensorRequest("x"), TensorRequest("past", dtype=DType.F32)]
    real = imported(_streaming(), tmp_path, declared, []).graph.initial["past"]
    assert real.dtype == np.float32
    assert np.allclose(real * 4 - 4, graph.initial["past"])
    again = text.read(*text.write(graph), registry(()))
    assert np.array_equal(again.initial["past"], graph.initial["past"])


def test_a_computed_beginning(tmp_path: Path) -> None:
    first = GraphSpec(
        [TensorSpec("a", "resource", ()), bytes_("b", 2), TensorSpec("c", "int8", (1, 2, 2))],
        [_handle("past", 0), NodeSpec("NEG", [1], [2]), NodeSpec("ASSIGN_VARIABLE", [0, 2], [])],
        [],
        [],
    )
    nodes = [NodeSpec("CALL_ONCE", [], [], "CallOnceOptions", {"InitSubgraphIndex": 1}), NodeSpec("NEG", [0], [1])]
    data = write(GraphSpec([bytes_("x", 2), bytes_("y", 2)], nodes, [0], [1]), first)
    with pytest.raises(UnsupportedError, match="the initial value of the variable 'a' is computed"):
        imported(data, tmp_path)


def test_the_past_is_not_forgotten_in_silence(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="the outputs also depend on the input past"):
        imported(_streaming(), tmp_path, [TensorRequest("x")], [TensorRequest("y")])


def test_a_variable_without_a_value(tmp_path: Path) -> None:
    """As the converter writes weights that it was not given."""
    tensors = [TensorSpec("weights", "resource", ()), TensorSpec("y", "float32", (2,))]
    nodes = [_handle("weights", 0), NodeSpec("READ_VARIABLE", [0], [1])]
    with pytest.raises(ModelFileError, match="the variable 'weights' has no value"):
        imported(write(GraphSpec(tensors, nodes, [], [1])), tmp_path)


def test_a_model_without_nodes(tmp_path: Path) -> None:
    """An output may be an input or a constant."""
    tensors = [TensorSpec("x", "float32", (2, 3)), TensorSpec("c", "float32", (2,), random(2))]
    graph = imported(write(GraphSpec(tensors, [], [0], [0, 1])), tmp_path).graph
    x = random(2, 3)
    for found, wanted in zip(run(graph, {"x": x}), (x, random(2)), strict=True):
        np.testing.assert_array_equal(found, wanted)
