"""The types of inputs and outputs: the model's own, a declared one that keeps the values, or an error."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, save

from buildtool.errors import ModelFileError
from buildtool.importers.onnx import import_model
from buildtool.importers.request import ImportRequest, TensorRequest
from buildtool.ir.evaluate import evaluate
from buildtool.ir.operator import Array
from buildtool.ir.types import DType


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Probabilities and the place of the largest, of floats; and the same places plus one, of numbers of 64 bits."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4])
    ids = helper.make_tensor_value_info("ids", TensorProto.INT64, [1])
    outputs = [
        helper.make_tensor_value_info("s", TensorProto.FLOAT, [1, 4]),
        helper.make_tensor_value_info("y", TensorProto.INT64, [1]),
    ]
    nodes = [
        helper.make_node("Softmax", ["x"], ["s"]),
        helper.make_node("ArgMax", ["s"], ["best"], axis=1, keepdims=0),
        helper.make_node("Add", ["best", "ids"], ["y"]),
    ]
    graph = helper.make_graph(nodes, "g", [x, ids], outputs)
    file = tmp_path / "model.onnx"
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), file)
    return file


def run(file: Path, types: dict[str, DType | None], x: Array | None = None) -> tuple[list[DType], dict[str, Array]]:
    requests = {name: TensorRequest(name, dtype=dtype) for name, dtype in types.items()}
    inputs = tuple(requests.get(name, TensorRequest(name)) for name in ("x", "ids"))
    outputs = tuple(requests.get(name, TensorRequest(name)) for name in ("s", "y"))
    graph = import_model(ImportRequest("m", file, inputs=inputs, outputs=outputs)).graph
    given = np.array([[1, 2, 9, 3]], np.float32) if x is None else x
    ids = np.array([2], graph.inputs[1].type.dtype.numpy)
    results = evaluate(graph, {"x": given.astype(graph.inputs[0].type.dtype.numpy), "ids": ids})
    return [value.type.dtype for value in graph.outputs], results


def test_undeclared_types_are_those_of_the_model(model: Path) -> None:
    types, results = run(model, {})
    assert types == [DType.F32, DType.S64]
    assert results["y"].dtype == np.int64
    assert results["y"].item() == 4


@pytest.mark.parametrize(
    ("name", "declared"),
    [("x", DType.U8), ("x", DType.F16), ("ids", DType.S32), ("y", DType.S32), ("y", DType.F64), ("s", DType.BF16)],
)
def test_declared_types_that_hold_the_values(model: Path, name: str, declared: DType) -> None:
    types, results = run(model, {name: declared})
    assert results["y"].item() == 4
    assert results["s"].sum() == pytest.approx(1, abs=1e-2)
    if name in ("s", "y"):
        assert types["sy".index(name)] is declared


@pytest.mark.parametrize(
    ("name", "declared", "kind", "own"),
    [
        ("s", DType.S8, "output", "float32"),
        ("s", DType.S32, "output", "float32"),
        ("y", DType.S16, "output", "int64"),
        ("y", DType.F32, "output", "int64"),
        ("x", DType.S32, "input", "float32"),
        ("ids", DType.F32, "input", "int64"),
    ],
)
def test_types_that_lose_what_the_values_mean(model: Path, name: str, declared: DType, kind: str, own: str) -> None:
    with pytest.raises(ModelFileError) as caught:
        run(model, {name: declared})
    text = str(caught.value)
    assert f"the {kind} '{name}' is {declared.word} here, and {own} in the model" in text
    assert f"declare {kind}_data_types: [{own}]" in text
