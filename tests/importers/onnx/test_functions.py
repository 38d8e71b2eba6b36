"""Local functions of ONNX: what they make is counted before it is made."""

from __future__ import annotations

import itertools
import time
from pathlib import Path

import onnx
import pytest
from onnx import FunctionProto, TensorProto, helper

from buildtool.errors import ModelFileError
from buildtool.importers.onnx import functions
from buildtool.importers.onnx.reading import read

OPSETS = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]


def level(number: int, calls: int, callee: str) -> FunctionProto:
    """A function `f<number>` that calls another a number of times, one call behind the other."""
    names = ["x", *(f"t{index}" for index in range(calls - 1)), "y"]
    domain = "own" if callee != "Relu" else ""
    nodes = [
        helper.make_node(callee, [before], [behind], domain=domain) for before, behind in itertools.pairwise(names)
    ]
    return helper.make_function("own", f"f{number}", ["x"], ["y"], nodes, OPSETS)


def saved(folder: Path, made: list[FunctionProto]) -> Path:
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 4]) for name in "xy")
    graph = helper.make_graph([helper.make_node(made[-1].name, ["x"], ["y"], domain="own")], "g", [x], [y])
    file = folder / "model.onnx"
    onnx.save(helper.make_model(graph, functions=made, opset_imports=OPSETS, ir_version=8), file)
    return file


def tower(levels: int, calls: int) -> list[FunctionProto]:
    return [level(number, calls, f"f{number - 1}" if number else "Relu") for number in range(levels)]


def test_a_bomb_of_functions_is_refused_at_once(tmp_path: Path) -> None:
    file = saved(tmp_path, tower(10, 10))
    assert file.stat().st_size < 6000
    began = time.process_time()
    with pytest.raises(ModelFileError) as caught:
        read(file, "bomb")
    assert time.process_time() - began < 2.0
    (problem,) = caught.value.problems
    assert problem.what.startswith("the local function 'f3' makes, with the calls before it, 111,100 nodes")
    assert problem.rule == f"local functions make at most {functions.MOST_NODES:,} nodes"
    assert problem.remedy == "export the model without local functions"


def test_functions_within_the_bounds_are_put_in_place(tmp_path: Path) -> None:
    assert len(read(saved(tmp_path, tower(3, 10)), "honest").nodes) == 1000


def test_constants_count_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(functions, "MOST_BYTES", 2000)
    with pytest.raises(ModelFileError, match="bytes or more"):
        read(saved(tmp_path, tower(2, 100)), "bomb")


def test_a_function_that_calls_itself(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="the local function 'f0' calls itself"):
        read(saved(tmp_path, [level(1, 1, "f0"), level(0, 1, "f1")]), "round")


def test_calls_that_are_too_deep(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="levels deep"):
        read(saved(tmp_path, tower(2000, 1)), "deep")
