"""Sizes that grow with every node, and constants as long as an input is wide: told or left alone, and quickly."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper

from buildtool.errors import LatheError, ModelFileError, UnsupportedError
from buildtool.importers.request import TensorRequest
from buildtool.passes.pipeline import optimise
from tests.importers.onnx.harness import imported, model_of

_node = helper.make_node
_MOST_SECONDS = 5.0


def _chain(operators: Sequence[str], count: int, other: str = "") -> onnx.ModelProto:
    """The size of the input goes through operators again and again, together with itself or with 3."""
    nodes = [_node("Shape", ["x"], ["s0"])]
    for index in range(count):
        last = f"s{index}"
        nodes.append(_node(operators[index % len(operators)], [last, other or last], [f"s{index + 1}"]))
    nodes.append(_node("ConstantOfShape", [f"s{count}"], ["y"]))
    return model_of(nodes, {"x": np.zeros(2, np.float32)}, ["y"], {"three": np.array([3])}, shapes={"x": ["N"]})


@pytest.mark.parametrize(
    "model",
    [_chain(["Add"], 40), _chain(["Mul"], 40), _chain(["Div", "Mul", "Add"], 600, "three")],
    ids=["doubled", "squared", "nested"],
)
def test_intricate_sizes_are_told(model: onnx.ModelProto, tmp_path: Path) -> None:
    started = time.process_time()
    with pytest.raises(UnsupportedError, match=r"node 's\d+'.*an expression of"):
        imported(model, tmp_path, [TensorRequest("x", ((1, 8),))])
    assert time.process_time() - started < _MOST_SECONDS


def test_numbers_beside_sizes_do_not_grow_without_end(tmp_path: Path) -> None:
    """The number 3 stands in one list with the size, so that both are numbers of Python."""
    nodes = [_node("Shape", ["x"], ["n"]), _node("Concat", ["n", "three"], ["s0"], axis=0)]
    nodes += [_node("Mul", [f"s{index}", f"s{index}"], [f"s{index + 1}"]) for index in range(40)]
    model = model_of(nodes, {"x": np.zeros(2, np.float32)}, ["s40"], {"three": np.array([3])}, shapes={"x": ["N"]})
    started = time.process_time()
    with pytest.raises(LatheError):
        imported(model, tmp_path, [TensorRequest("x", ((1, 8),))])
    assert time.process_time() - started < _MOST_SECONDS


def test_absolute_values_beside_sizes(tmp_path: Path) -> None:
    nodes = [
        _node("Shape", ["x"], ["n"]),
        _node("Concat", ["n", "minus"], ["pair"], axis=0),
        _node("Abs", ["pair"], ["shape"]),
        _node("ConstantOfShape", ["shape"], ["y"]),
    ]
    model = model_of(nodes, {"x": np.zeros(2, np.float32)}, ["y"], {"minus": np.array([-3])}, shapes={"x": ["N"]})
    graph = imported(model, tmp_path, [TensorRequest("x", ((1, 8),))]).graph
    assert graph.outputs[0].type.shape[1] == 3


@pytest.mark.parametrize("operator", ["Mul", "Add"])
def test_no_constant_is_as_wide_as_the_input_says(operator: str, tmp_path: Path) -> None:
    """One number would become one for each of 2 thousand million channels."""
    nodes = [_node("MatMul", ["x", "w"], ["m"]), _node(operator, ["m", "k"], ["y"])]
    inputs = {"x": np.zeros((1, 2), np.float32), "w": np.zeros((2, 1), np.float32)}
    weights = {"k": np.array([2], np.float32)}
    model = model_of(nodes, inputs, ["y"], weights, shapes={"w": [2, 2**31 - 1]})
    started = time.process_time()
    try:
        optimise(imported(model, tmp_path).graph)
    except ModelFileError as problem:
        assert "not possible" in str(problem)
    assert time.process_time() - started < _MOST_SECONDS
