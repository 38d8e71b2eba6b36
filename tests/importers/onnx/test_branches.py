"""If: the branch that a known condition takes stands in its place; where it is not known, both are kept."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from buildtool.errors import UnsupportedError
from buildtool.importers.onnx import import_model
from buildtool.importers.request import ImportedModel, ImportRequest
from buildtool.ir.evaluate import evaluate
from buildtool.ops.registry import registry


def _branch(name: str, op: str, inner: list[onnx.NodeProto] | None = None) -> onnx.GraphProto:
    """Both branches call their tensors alike, and read x of the graph around them."""
    nodes = inner or [helper.make_node(op, ["x", "two"], ["inside"]), helper.make_node("Neg", ["inside"], ["result"])]
    two = helper.make_tensor("two", TensorProto.FLOAT, [], [2.0])
    return helper.make_graph(nodes, name, [], [helper.make_tensor_value_info("result", 1, None)], [two])


def _if(condition: str, output: str, inner: list[onnx.NodeProto] | None = None) -> onnx.NodeProto:
    return helper.make_node(
        "If", [condition], [output], then_branch=_branch("yes", "Add", inner), else_branch=_branch("no", "Sub")
    )


def _import(folder: Path, nodes: list[onnx.NodeProto], shape: tuple[int, ...] = (3,)) -> ImportedModel:
    graph = helper.make_graph(
        nodes,
        "branches",
        [helper.make_tensor_value_info("x", 1, shape)],
        [helper.make_tensor_value_info("y", 1, None)],
        [
            helper.make_tensor("three", TensorProto.INT64, [1], [3]),
            helper.make_tensor("yes", TensorProto.BOOL, [], [1]),
        ],
    )
    file = folder / "model.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)]), file)
    return import_model(ImportRequest("branches", file, None, (), (), registry(())))


def _result(imported: ImportedModel, x: np.ndarray[tuple[int, ...], np.dtype[np.float32]]) -> object:
    return evaluate(imported.graph, {"x": x})["y"].tolist()


_ARITHMETIC = [helper.make_node("Shape", ["x"], ["shape"]), helper.make_node("Equal", ["shape", "three"], ["is_three"])]


@pytest.mark.parametrize(("size", "wanted"), [(3, -3.0), (4, 1.0)])
def test_shape_arithmetic_chooses_the_branch(tmp_path: Path, size: int, wanted: float) -> None:
    imported = _import(tmp_path, [*_ARITHMETIC, _if("is_three", "y")], (size,))
    assert _result(imported, np.ones(size, np.float32)) == [wanted] * size


def test_branches_may_hold_branches_and_names_may_repeat(tmp_path: Path) -> None:
    inner = [_if("is_three", "of_inner"), helper.make_node("Mul", ["of_inner", "two"], ["result"])]
    nodes = [
        *_ARITHMETIC,
        _if("yes", "first", inner),
        _if("yes", "second"),
        helper.make_node("Add", ["first", "second"], ["y"]),
    ]
    imported = _import(tmp_path, nodes)
    assert _result(imported, np.ones(3, np.float32)) == [-9.0] * 3


def test_the_condition_need_not_be_known(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("ReduceMax", ["x"], ["most"], keepdims=0),
        helper.make_node("Cast", ["most"], ["any"], to=9),
    ]
    imported = _import(tmp_path, [*nodes, _if("any", "y")])
    assert _result(imported, np.ones(3, np.float32)) == [-3.0] * 3
    assert _result(imported, np.zeros(3, np.float32)) == [2.0] * 3


def test_nodes_of_a_branch_are_reported_under_its_name(tmp_path: Path) -> None:
    inner = [helper.make_node("NoSuchOperator", ["x"], ["result"], name="strange")]
    with pytest.raises(UnsupportedError, match=r"NoSuchOperator \(node 'y/strange'\)"):
        _import(tmp_path, [_if("yes", "y", inner)])
