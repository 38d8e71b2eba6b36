"""Operators whose results are as large as the data says, alone and with what models do with such results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper

from buildtool.errors import UnsupportedError
from buildtool.importers.request import TensorRequest
from buildtool.ir.evaluate import evaluate
from buildtool.ir.operator import Array
from buildtool.ir.verify import verify
from buildtool.passes.pipeline import optimise
from tests.importers.onnx.harness import Case, imported, model_of, random, reference

node = helper.make_node
_X = np.round(random(2, 3, 4))
_BOXES, _SCORES = random(1, 20, 4), np.abs(random(1, 2, 20))
_LIMITS = (np.array([5]), np.array([0.3], np.float32), np.array([0.1], np.float32))
_SOME = np.array([True, False, True])

ALONE = [
    Case("NonZero", [_X], opset=9),
    Case("NonZero", [_X > 0]),
    Case("Compress", [_X, _SOME], {"axis": 1}, opset=9),
    Case("Compress", [_X, _SOME], {}),
    Case("Compress", [_X, _SOME], {"axis": -2}, (1,)),
    *(Case("Unique", [_X], {"sorted": rises}, outputs=4, opset=11) for rises in (0, 1)),
    Case("Unique", [_X], {"axis": -1}, outputs=1),
    Case("Unique", [np.round(random(30)).astype(np.int64)], {}, outputs=2),
    Case("TopK", [_X, np.array([2])], {"axis": 1}, outputs=2, opset=10),
    Case("TopK", [_X, np.array([2])], {"axis": 1, "largest": 0}, outputs=2),
    Case("NonMaxSuppression", [_BOXES, _SCORES, *_LIMITS], {}, (2, 3, 4), opset=10),
    Case("NonMaxSuppression", [_BOXES, _SCORES, *_LIMITS[:2]], {"center_point_box": 1}, (2, 3)),
]

# The rows of x[W, 4] whose sum is positive, twice as large; and how many they are.
ROWS = [
    node("ReduceSum", ["x", "one"], ["sums"], keepdims=0),
    node("NonZero", ["kept"], ["places"]),
    node("Transpose", ["places"], ["columns"]),
    node("GatherND", ["x", "columns"], ["rows"]),
    node("Add", ["rows", "rows"], ["y"]),
]
ROWS.insert(1, node("Relu", ["sums"], ["kept"]))
# As many ones as there are different numbers in x, made of the shape alone.
ONES = [
    node("Unique", ["x"], ["different"]),
    node("Shape", ["different"], ["shape"]),
    node("ConstantOfShape", ["shape"], ["y"]),
]
# The selected boxes, as exporters write the end of a detector.
DETECTED = [
    node("NonMaxSuppression", ["boxes", "x", "most", "overlap", "score"], ["selected"]),
    node("Slice", ["selected", "two", "three", "one"], ["index"]),
    node("Squeeze", ["index", "one"], ["indices"]),
    node("Squeeze", ["boxes", "zero"], ["table"]),
    node("Gather", ["table", "indices"], ["picked"], axis=0),
    node("Cast", ["index"], ["floats"], to=1),
    node("Concat", ["picked", "floats"], ["y"], axis=1),
]
# One frame after the other up to the sum of the durations (text to speech), and times in steps of three quarters.
FRAMES = [
    node("Abs", ["x"], ["lengths"]),
    node("Clip", ["lengths", "none", "few"], ["durations"]),
    node("ReduceSum", ["durations"], ["total"], keepdims=0),
    node("Ceil", ["total"], ["whole"]),
    node("Cast", ["whole"], ["end"], to=7),
    node("Range", ["start", "end", "by"], ["frames"]),
    node("Range", ["level", "total", "half"], ["times"]),
    node("Cast", ["frames"], ["floats"], to=1),
    node("Concat", ["floats", "times"], ["y"], axis=0),
]
# Downwards, from where the data says.
DOWN = [
    node("ArgMax", ["x"], ["place"], axis=0, keepdims=0),
    node("Range", ["place", "low", "down"], ["y"]),
]
WEIGHTS: dict[str, Array] = {
    "none": np.array(0, np.float32),
    "few": np.array(1.5, np.float32),
    "start": np.array(1),
    "by": np.array(1),
    "level": np.array(-0.5, np.float32),
    "half": np.array(0.75, np.float32),
    "low": np.array(-2),
    "down": np.array(-3),
    "zero": np.array([0]),
    "one": np.array([1]),
    "two": np.array([2]),
    "three": np.array([3]),
    "boxes": _BOXES,
    "most": _LIMITS[0],
    "overlap": _LIMITS[1],
    "score": _LIMITS[2],
}


@pytest.mark.parametrize("case", ALONE, ids=str)
def test_selects(case: Case, tmp_path: Path) -> None:
    model = case.model()
    expected = reference(model, case.fed())
    graph = imported(model, tmp_path).graph
    for _ in range(2):
        results = evaluate(graph, case.fed())
        for value, wanted in zip(graph.outputs, expected, strict=True):
            np.testing.assert_array_equal(results[value.name], wanted)
            assert results[value.name].dtype == wanted.dtype
        optimise(graph)


@pytest.mark.parametrize(
    ("nodes", "inputs", "shape"),
    [
        (ROWS, [np.round(random(size, 4, seed=size)) for size in (1, 7, 20)], (("W", (1, 20)), 4)),
        (ONES, [np.round(random(size, seed=size)) for size in (1, 7, 20)], (("W", (1, 20)),)),
        (DETECTED, [np.abs(random(1, 2, 20, seed=seed)) - 1 for seed in range(3)], (1, 2, 20)),
        (FRAMES, [*(random(size, seed=size) for size in (1, 7, 20)), np.zeros(9, np.float32)], (("W", (1, 20)),)),
        (DOWN, [random(20, seed=seed) for seed in range(4)], (20,)),
    ],
    ids=["rows", "ones", "boxes", "frames", "down"],
)
def test_nodes_after_a_data_dependent_size_have_that_size(
    nodes: list[Any], inputs: list[Array], shape: Any, tmp_path: Path
) -> None:
    used = {name for one in nodes for name in one.input}
    weights = {name: array for name, array in WEIGHTS.items() if name in used}
    words = [dim[0] if isinstance(dim, tuple) else dim for dim in shape]
    bounds = tuple(dim[1] if isinstance(dim, tuple) else dim for dim in shape)
    model = model_of(nodes, {"x": inputs[0]}, ["y"], weights, shapes={"x": words})
    graph = imported(model, tmp_path, [TensorRequest("x", bounds)]).graph
    for _ in range(2):
        for x in inputs:
            np.testing.assert_array_equal(evaluate(graph, {"x": x})["y"], reference(model, {"x": x})[0])
        optimise(graph)
        verify(graph)


def test_known_data_needs_no_symbol(tmp_path: Path) -> None:
    nodes = [node("NonZero", ["zero"], ["places"]), node("Concat", ["places", "x"], ["y"], axis=1)]
    weights = {"zero": np.array([0, 3, 4])}
    x = np.array([[7]])
    graph = imported(model_of(nodes, {"x": x}, ["y"], weights), tmp_path).graph
    assert not graph.symbols
    assert evaluate(graph, {"x": x})["y"].tolist() == [[1, 2, 7]]


def test_a_size_without_a_bound_is_refused(tmp_path: Path) -> None:
    model = model_of([node("NonZero", ["x"], ["y"])], {"x": random(4)}, ["y"], {}, shapes={"x": ["N"]})
    with pytest.raises(UnsupportedError, match="the number of elements"):
        imported(model, tmp_path, [TensorRequest("x", ((1, 2**31 - 1),))])


@pytest.mark.parametrize(
    ("change", "what", "remedy"),
    [
        ({}, "the data decides how many numbers there are, and nothing in the model bounds it", "Min or Clip"),
        ({"by": "end"}, "its step is known only at run time", "make it a constant"),
    ],
)
def test_a_range_without_a_bound_is_told(change: dict[str, str], what: str, remedy: str, tmp_path: Path) -> None:
    names = {"by": "by", **change}
    nodes = [node("Cast", ["x"], ["end"], to=7), node("Range", ["start", "end", names["by"]], ["y"])]
    weights = {name: WEIGHTS[name] for name in ("start", "by") if name in nodes[1].input}
    model = model_of(nodes, {"x": np.array(7, np.float32)}, ["y"], weights)
    with pytest.raises(UnsupportedError, match=f"Range.*{what}") as raised:
        imported(model, tmp_path)
    assert remedy in (raised.value.problems[0].remedy or "")
