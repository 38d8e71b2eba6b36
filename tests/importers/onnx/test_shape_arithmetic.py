"""What exporters compute from shapes is known after the import, with run-time sizes too."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import helper

from buildtool.errors import LatheError, ModelFileError, UnsupportedError
from buildtool.importers.request import TensorRequest
from buildtool.ir.dims import evaluate as evaluate_dim
from buildtool.ir.dims import symbol
from buildtool.ir.evaluate import evaluate
from buildtool.ir.graph import Graph
from buildtool.ir.operator import Array
from buildtool.passes.pipeline import optimise
from tests.importers.onnx.harness import imported, model_of, random, reference, run

node = helper.make_node


def _ints(*numbers: int) -> Array:
    return np.array(numbers, np.int64)


FLATTENED = [  # Reshape(x, Concat(Shape(x)[0], -1)), as PyTorch writes view(x.size(0), -1)
    node("Shape", ["x"], ["shape"]),
    node("Gather", ["shape", "zero"], ["batch"], axis=0),
    node("Unsqueeze", ["batch", "axes"], ["batch1"]),
    node("Concat", ["batch1", "minus"], ["target"], axis=0),
    node("Reshape", ["x", "target"], ["y"]),
]
FLATTEN_WEIGHTS = {"zero": np.array(0), "axes": _ints(0), "minus": _ints(-1)}
HALVED = [  # channels split in two by computed bounds, as chunk() is written
    node("Shape", ["x"], ["shape"]),
    node("Gather", ["shape", "one"], ["channels"], axis=0),
    node("Add", ["channels", "one"], ["more"]),
    node("Div", ["more", "two"], ["half"]),
    node("Mul", ["half", "one"], ["end"]),
    node("Slice", ["x", "starts", "end", "axes"], ["y"]),
]
HALVE_WEIGHTS = {"one": _ints(1), "two": _ints(2), "starts": _ints(0), "axes": _ints(1)}
DOUBLED = [  # Resize to sizes that are computed with floats
    node("Shape", ["x"], ["shape"]),
    node("Slice", ["shape", "two", "four"], ["hw"]),
    node("Cast", ["hw"], ["floats"], to=1),
    node("Mul", ["floats", "scale"], ["larger"]),
    node("Floor", ["larger"], ["floored"]),
    node("Cast", ["floored"], ["sizes_hw"], to=7),
    node("Slice", ["shape", "zero", "two"], ["nc"]),
    node("Concat", ["nc", "sizes_hw"], ["sizes"], axis=0),
    node("Resize", ["x", "", "", "sizes"], ["y"], mode="nearest", coordinate_transformation_mode="asymmetric"),
]
DOUBLE_WEIGHTS = {"zero": _ints(0), "two": _ints(2), "four": _ints(4), "scale": np.array([2, 2], np.float32)}
EXPANDED = [  # Expand to a shape in which -1 means "as it is"
    node("Shape", ["x"], ["shape"]),
    node("ConstantOfShape", ["rank"], ["ones"], value=helper.make_tensor("v", 7, [1], [1])),
    node("Mul", ["ones", "minus"], ["negative"]),
    node("Equal", ["wanted", "negative"], ["kept"]),
    node("Where", ["kept", "shape", "wanted"], ["target"]),
    node("Expand", ["x", "target"], ["y"]),
]
EXPAND_WEIGHTS = {"rank": _ints(4), "minus": _ints(-1), "wanted": _ints(-1, -1, -1, 10)}
RANGED = [
    node("Shape", ["x"], ["shape"], start=-1),
    node("Squeeze", ["shape"], ["width"]),
    node("Range", ["zero", "width", "one"], ["positions"]),
    node("Cast", ["positions"], ["floats"], to=1),
    node("Mul", ["x", "floats"], ["y"]),
]
LONG_RANGE = [
    *RANGED[:2],
    node("Mul", ["width", "much"], ["limit"]),
    node("Range", ["zero", "limit", "three"], ["y"]),
]
RANGE_WEIGHTS = {"zero": np.array(0), "one": np.array(1), "much": np.array(2**17), "three": np.array(3)}
COPIED = [  # zeros of a run-time shape, with the input repeated as often as it is wide
    node("Shape", ["x"], ["shape"]),
    node("ConstantOfShape", ["shape"], ["zeros"]),
    node("Add", ["x", "zeros"], ["sum"]),
    node("Shape", ["x"], ["width"], start=-1),
    node("Concat", ["ones", "width"], ["repeats"], axis=0),
    node("Tile", ["sum", "repeats"], ["y"]),
]
COPY_WEIGHTS = {"ones": _ints(1, 2)}


def _import(nodes: list, weights: dict[str, Array], x: Array, folder: Path, shape: tuple | None = None) -> Graph:
    words = ["N", *x.shape[1:2], "H", "W"] if shape else x.shape
    model = model_of(nodes, {"x": x}, ["y"], weights, shapes={"x": words})
    requests = [TensorRequest("x", shape, "NCHW")] if shape else []
    return imported(model, folder, requests).graph


@pytest.mark.parametrize(
    ("nodes", "weights", "last"),
    [
        (FLATTENED, FLATTEN_WEIGHTS, 5),
        (HALVED, HALVE_WEIGHTS, 5),
        (DOUBLED, DOUBLE_WEIGHTS, 5),
        (EXPANDED, EXPAND_WEIGHTS, 1),
        (RANGED, RANGE_WEIGHTS, 6),
    ],
    ids=["flatten", "halve", "double", "expand", "range"],
)
def test_fixed_shapes(nodes: list, weights: dict[str, Array], last: int, tmp_path: Path) -> None:
    x = random(2, 3, 4, last)
    expected = reference(model_of(nodes, {"x": x}, ["y"], weights), {"x": x})
    graph = _import(nodes, weights, x, tmp_path)
    np.testing.assert_array_equal(run(graph, [x])[0], expected[0])
    optimise(graph)
    np.testing.assert_array_equal(run(graph, [x])[0], expected[0])
    assert len(graph.nodes) <= 3


def test_a_run_time_batch_goes_through_the_arithmetic(tmp_path: Path) -> None:
    x = random(1, 3, 4, 5)
    graph = _import(FLATTENED, FLATTEN_WEIGHTS, x, tmp_path, ((1, 8), 3, 4, 5))
    batch, flat = graph.outputs[0].type.shape
    assert batch == symbol("N", 1, 8)
    assert flat == 60
    assert list(graph.symbols) == ["N"]


def test_run_time_sizes_go_through_convolutions_and_resizes(tmp_path: Path) -> None:
    nodes = [
        node("Conv", ["x", "w"], ["c"], strides=[2, 2], pads=[1, 1, 1, 1]),
        node("Resize", ["c", "", "scales"], ["y"], mode="nearest", coordinate_transformation_mode="asymmetric"),
    ]
    weights = {"w": random(4, 3, 3, 3), "scales": np.array([1, 1, 2, 2], np.float32)}
    graph = _import(nodes, weights, random(1, 3, 8, 8), tmp_path, (1, 3, (8, 32), (8, 64)))
    optimise(graph)
    height, width = graph.outputs[0].type.shape[2:]
    for sizes in ({"H": 8, "W": 9}, {"H": 31, "W": 64}):
        assert evaluate_dim(height, sizes) == 2 * ((sizes["H"] + 1) // 2)
        assert evaluate_dim(width, sizes) == 2 * ((sizes["W"] + 1) // 2)


def test_sizes_that_are_multiples_of_run_time_sizes_are_scales(tmp_path: Path) -> None:
    graph = _import(DOUBLED, DOUBLE_WEIGHTS, random(1, 3, 8, 8), tmp_path, (1, 3, (8, 32), 8))
    resize = next(one for one in graph.nodes if one.op.name == "resize2d")
    assert resize.op.attributes()["scales"] == (2.0, 2.0)
    assert [str(dim) for dim in graph.outputs[0].type.shape] == ["1", "3", "(H * 2)", "16"]


def test_a_slice_up_to_a_run_time_end(tmp_path: Path) -> None:
    nodes = [node("Slice", ["x", "starts", "ends", "axes"], ["y"])]
    weights = {"starts": _ints(1), "ends": _ints(2**63 - 1), "axes": _ints(2)}
    graph = _import(nodes, weights, random(1, 3, 8, 8), tmp_path, (1, 3, (8, 32), 8))
    height = graph.outputs[0].type.shape[2]
    assert [evaluate_dim(height, {"H": size}) for size in (8, 20)] == [7, 19]


def test_shapes_given_at_run_time_are_refused(tmp_path: Path) -> None:
    inputs = {"x": random(1, 3, 4, 5), "shape": _ints(3, 20)}
    model = model_of([node("Reshape", ["x", "shape"], ["y"])], inputs, ["y"], {}, shapes={"x": [1, 3, 4, "W"]})
    requests = [TensorRequest("x", (1, 3, 4, (2, 9)), "NCHW"), TensorRequest("shape", None)]
    with pytest.raises(UnsupportedError, match="known only at run time"):
        imported(model, tmp_path, requests)


def test_a_long_range_is_no_constant(tmp_path: Path) -> None:
    model = model_of(LONG_RANGE, {"x": random(1, 3, 5)}, ["y"], RANGE_WEIGHTS, shapes={"x": [1, 3, "W"]})
    graph = imported(model, tmp_path, [TensorRequest("x", (1, 3, (0, 9)))]).graph
    optimise(graph)
    assert all(value.constant.size < 10 for value in graph.values() if value.constant is not None)
    for width in (0, 1, 3):
        x = random(1, 3, width)
        np.testing.assert_array_equal(evaluate(graph, {"x": x})["y"], reference(model, {"x": x})[0])


@pytest.mark.parametrize(
    ("nodes", "weights"),
    [(RANGED, RANGE_WEIGHTS), (COPIED, COPY_WEIGHTS)],
    ids=["range", "copies"],
)
def test_run_time_sizes_decide_what_is_made(nodes: list, weights: dict[str, Array], tmp_path: Path) -> None:
    x = random(1, 3, 5)
    model = model_of(nodes, {"x": x}, ["y"], weights, shapes={"x": [1, 3, "W"]})
    graph = imported(model, tmp_path, [TensorRequest("x", (1, 3, (2, 9)))]).graph
    optimise(graph)
    for width in (2, 5, 9):
        x = random(1, 3, width)
        np.testing.assert_array_equal(evaluate(graph, {"x": x})["y"], reference(model, {"x": x})[0])


def test_a_division_by_zero_is_reported(tmp_path: Path) -> None:
    nodes = [node("Div", ["a", "b"], ["c"]), node("Reshape", ["x", "c"], ["y"])]
    model = model_of(nodes, {"x": random(4)}, ["y"], {"a": _ints(4), "b": _ints(0)})
    with pytest.raises(ModelFileError, match="Div"):
        imported(model, tmp_path)


def test_unknown_sizes_need_a_declaration(tmp_path: Path) -> None:
    model = model_of([node("Relu", ["x"], ["y"])], {"x": random(1, 2)}, ["y"], {}, shapes={"x": ["N", 2]})
    with pytest.raises(LatheError, match="declare input_shapes"):
        imported(model, tmp_path)
