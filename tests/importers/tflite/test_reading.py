"""What a file says beyond its operators: names, open sizes, sparse weights, inner graphs, parts of a model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from buildtool.errors import LatheError, UnsupportedError
from buildtool.importers.frameworks import importer
from buildtool.importers.request import ImportRequest, TensorRequest
from buildtool.importers.tflite import import_model
from buildtool.ir.operator import Array
from buildtool.ir.types import DType
from tests.importers.tflite.cases import RECURRENT
from tests.importers.tflite.harness import imported, litert, random, run, whole
from tests.importers.tflite.writer import GraphSpec, Level, NodeSpec, Quantisation, Sparsity, TensorSpec, write

_F = "float32"


def _two_layers(signature: tuple[int, ...] | None = None, names: tuple[str, str] = ("image", "result")) -> bytes:
    shape = (1, 4, 4, 2)
    tensors = [
        TensorSpec(names[0], _F, shape, signature=signature),
        TensorSpec("middle", _F, shape),
        TensorSpec(names[1], _F, shape),
    ]
    nodes = [NodeSpec("RELU", [0], [1]), NodeSpec("EXP", [1], [2], "ExpOptions")]
    return write(GraphSpec(tensors, nodes, [0], [2]))


def test_names_and_layout(tmp_path: Path) -> None:
    result = imported(_two_layers(), tmp_path)
    assert [value.name for value in result.graph.inputs] == ["image"]
    assert [value.name for value in result.graph.outputs] == ["result"]
    assert result.input_formats == result.output_formats == ("NHWC",)
    assert result.source_formats == {"image": "NHWC", "result": "NHWC"}
    assert result.platform == "tflite"
    assert result.source_nodes == 2


def test_tensors_of_one_name(tmp_path: Path) -> None:
    result = imported(_two_layers(names=("same", "same")), tmp_path)
    assert [value.name for value in result.graph.inputs] == ["same"]
    assert [value.name for value in result.graph.outputs] == ["same#2"]


def test_channels_first_on_request(tmp_path: Path) -> None:
    x = random(1, 2, 4, 4)
    asked = TensorRequest("image", (1, 2, 4, 4), "NCHW"), TensorRequest("result", None, "NCHW")
    graph = imported(_two_layers(), tmp_path, asked[:1], asked[1:]).graph
    (y,) = run(graph, {"image": x})
    np.testing.assert_allclose(y, np.exp(np.maximum(x, 0)), rtol=1e-6)


def test_the_other_order_is_named(tmp_path: Path) -> None:
    with pytest.raises(LatheError, match="input_data_formats: NCHW"):
        imported(_two_layers(), tmp_path, [TensorRequest("image", (1, 2, 4, 4), "NHWC")])


def test_open_sizes(tmp_path: Path) -> None:
    """Without a declared shape, the sizes are those that the file states; declared bounds may go beyond them."""
    file = _two_layers(signature=(-1, -1, 4, 2))
    assert imported(file, tmp_path).graph.inputs[0].type.shape == (1, 4, 4, 2)
    asked = TensorRequest("image", ((1, 8), (1, 9), 4, 2), "NHWC")
    graph = imported(file, tmp_path, [asked]).graph
    for shape in ((3, 5, 4, 2), (8, 1, 4, 2)):
        x = random(*shape)
        np.testing.assert_allclose(run(graph, {"image": x})[0], np.exp(np.maximum(x, 0)), rtol=1e-6)


def test_inner_tensors_as_borders(tmp_path: Path) -> None:
    graph = imported(_two_layers(), tmp_path, outputs=[TensorRequest("middle", None, "NHWC")]).graph
    assert [node.op.name for node in graph.nodes] == ["relu"]
    graph = imported(_two_layers(), tmp_path, [TensorRequest("middle", None, "NHWC")]).graph
    assert [node.op.name for node in graph.nodes] == ["exp"]


def test_all_unsupported_operators_at_once(tmp_path: Path) -> None:
    tensors = [TensorSpec(name, _F, (2, 2)) for name in "abcd"]
    nodes = [NodeSpec("SKIP_GRAM", [0], [1]), NodeSpec("MyOwn", [1], [2]), NodeSpec("MyOwn", [2], [3])]
    with pytest.raises(UnsupportedError) as caught:
        imported(write(GraphSpec(tensors, nodes, [0], [3])), tmp_path)
    assert "SKIP_GRAM (node 'b')" in str(caught.value)


def test_weight_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="no weight file"):
        import_model(ImportRequest("m", tmp_path / "m", weight_file=tmp_path / "w"))
    assert "CONV_2D" in importer("tflite").supported_operators()


def test_floats_at_quantised_borders(tmp_path: Path) -> None:
    """Who declares floats passes and gets what the bytes stand for; who declares nothing has the bytes."""
    quantised = Quantisation([0.05], [7])
    tensors = [TensorSpec(name, "int8", (2, 6), None, quantised) for name in "xy"]
    file = write(GraphSpec(tensors, [NodeSpec("RELU", [0], [1], version=2)], [0], [1]))
    held = whole(2, 6)
    (bytes_,) = run(imported(file, tmp_path).graph, {"x": held})
    np.testing.assert_array_equal(bytes_, litert(file, {"x": held})[0])
    asked = [[TensorRequest(name, (2, 6), "NONE", DType.F32)] for name in "xy"]
    graph = imported(file, tmp_path, *asked).graph
    (floats,) = run(graph, {"x": (held.astype(np.float32) - 7) * np.float32(0.05)})
    np.testing.assert_allclose(floats, (bytes_.astype(np.float32) - 7) * np.float32(0.05), rtol=1e-6)


# -- sparse weights ----------------------------------------------------------------------------------------------------
def _sparse(shape: tuple[int, ...], values: Array, sparsity: Sparsity) -> bytes:
    tensors = [
        TensorSpec("x", _F, shape),
        TensorSpec("sparse", _F, shape, values, sparsity=sparsity),
        TensorSpec("dense", _F, shape),
        TensorSpec("y", _F, shape),
    ]
    nodes = [NodeSpec("DENSIFY", [1], [2], "DensifyOptions"), NodeSpec("ADD", [0, 2], [3], "AddOptions")]
    return write(GraphSpec(tensors, nodes, [0], [3]))


def test_sparse_rows(tmp_path: Path) -> None:
    values = np.array([1, 2, 3], np.float32)
    layout = Sparsity([0, 1], [Level(3), Level(0, [0, 1, 1, 3], [2, 0, 3])])
    file = _sparse((3, 4), values, layout)
    x = random(3, 4)
    wanted = x + np.array([[0, 0, 1, 0], [0, 0, 0, 0], [2, 0, 0, 3]], np.float32)
    np.testing.assert_allclose(run(imported(file, tmp_path).graph, {"x": x})[0], wanted)
    np.testing.assert_allclose(litert(file, {"x": x})[0], wanted)


def test_sparse_blocks(tmp_path: Path) -> None:
    """Blocks of 2 x 2 in a matrix of 4 x 4: two of four are there."""
    values = np.arange(1, 9, dtype=np.float32)
    layout = Sparsity([0, 1, 2, 3], [Level(2), Level(0, [0, 1, 2], [1, 0]), Level(2), Level(2)], [0, 1])
    file = _sparse((4, 4), values, layout)
    x = random(4, 4)
    (y,) = run(imported(file, tmp_path).graph, {"x": x})
    wanted = np.array([[0, 0, 1, 2], [0, 0, 3, 4], [5, 6, 0, 0], [7, 8, 0, 0]], np.float32)
    np.testing.assert_allclose(y, x + wanted, rtol=1e-6)
    np.testing.assert_allclose(litert(file, {"x": x})[0], x + wanted, rtol=1e-6)


@pytest.mark.parametrize(
    "layout",
    [
        Sparsity([0, 0], [Level(3), Level(0, [0, 1, 1, 3], [2, 0, 3])]),
        Sparsity([0, 1], [Level(3), Level(0, [0, 1, 1, 3], [2, 0, 4])]),
        Sparsity([0, 1], [Level(3), Level(0, [0, 2, 1, 3], [2, 0, 3])]),
        Sparsity([0, 1], [Level(3), Level(0, [0, 1, 1, 2], [2, 0])]),
        Sparsity([0, 1], [Level(3), Level(4)]),
        Sparsity([0, 1], [Level(3)]),
        Sparsity([0, 1, 2], [Level(3), Level(4), Level(0)], [1]),
        Sparsity([0, 1, 2], [Level(3), Level(4), Level(2)], [7]),
    ],
)
def test_sparse_places_that_make_no_sense(layout: Sparsity, tmp_path: Path) -> None:
    with pytest.raises(LatheError, match=r"sparse|blocks"):
        imported(_sparse((3, 4), np.array([1, 2, 3], np.float32), layout), tmp_path)


# -- inner graphs ------------------------------------------------------------------------------------------------------
def _constant(name: str, number: float) -> TensorSpec:
    return TensorSpec(name, _F, (), np.array(number, np.float32))


def _loop() -> tuple[GraphSpec, GraphSpec, GraphSpec]:
    """Doubles x while it is below 100."""
    main = GraphSpec(
        [TensorSpec("x", _F, ()), TensorSpec("y", _F, ())],
        [NodeSpec("WHILE", [0], [1], "WhileOptions", {"CondSubgraphIndex": 1, "BodySubgraphIndex": 2})],
        [0],
        [1],
    )
    condition = GraphSpec(
        [TensorSpec("x", _F, ()), _constant("most", 100), TensorSpec("goes_on", "bool", ())],
        [NodeSpec("LESS", [0, 1], [2], "LessOptions")],
        [0],
        [2],
    )
    body = GraphSpec(
        [TensorSpec("x", _F, ()), TensorSpec("twice", _F, ())],
        [NodeSpec("ADD", [0, 0], [1], "AddOptions")],
        [0],
        [1],
    )
    return main, condition, body


def _branches() -> tuple[GraphSpec, GraphSpec, GraphSpec]:
    main = GraphSpec(
        [TensorSpec("which", "bool", ()), TensorSpec("x", _F, (3,)), TensorSpec("y", _F, (3,))],
        [NodeSpec("IF", [0, 1], [2], "IfOptions", {"ThenSubgraphIndex": 1, "ElseSubgraphIndex": 2})],
        [0, 1],
        [2],
    )
    then, other = (
        GraphSpec([TensorSpec("x", _F, (3,)), TensorSpec("y", _F, (3,))], [NodeSpec(op, [0], [1])], [0], [1])
        for op in ("RELU", "TANH")
    )
    return main, then, other


def test_loop(tmp_path: Path) -> None:
    file = write(*_loop())
    graph = imported(file, tmp_path).graph
    for start in (3.0, 150.0):
        x = np.array(start, np.float32)
        np.testing.assert_allclose(run(graph, {"x": x}), litert(file, {"x": x}))


def test_branches(tmp_path: Path) -> None:
    file, x = write(*_branches()), random(3)
    graph = imported(file, tmp_path).graph
    for which in (True, False):
        inputs = {"which": np.array(which), "x": x}
        np.testing.assert_allclose(run(graph, inputs)[0], litert(file, inputs)[0], rtol=1e-6)


def test_a_graph_inside_of_itself(tmp_path: Path) -> None:
    main, condition, _ = _loop()
    with pytest.raises(LatheError):
        imported(write(main, condition, main), tmp_path)


def test_a_body_that_is_not_there(tmp_path: Path) -> None:
    main, condition, _ = _loop()
    with pytest.raises(LatheError, match="no graph 2"):
        imported(write(main, condition), tmp_path)


def test_shapes_computed_from_open_sizes(tmp_path: Path) -> None:
    """The first size of x is only known at run time, and the model computes with it what it reshapes to."""
    numbers = {"zero": [0], "one": [1], "stride": [1], "rest": 2, "columns": 6}
    held = [TensorSpec(name, "int32", np.shape(value), np.array(value, np.int32)) for name, value in numbers.items()]  # type: ignore[call-overload]
    made = [
        TensorSpec("shape", "int32", (3,)),
        TensorSpec("first", "int32", ()),
        TensorSpec("rows", "int32", ()),
        TensorSpec("wanted", "int32", (2,)),
        TensorSpec("y", _F, (2, 6)),
    ]
    tensors = [TensorSpec("x", _F, (1, 4, 3), signature=(-1, 4, 3)), *held, *made]
    number = {tensor.name: index for index, tensor in enumerate(tensors)}

    def node(op: str, inputs: str, output: str, options: str, **values: int) -> NodeSpec:
        return NodeSpec(op, [number[name] for name in inputs.split()], [number[output]], options, values)

    nodes = [
        node("SHAPE", "x", "shape", "ShapeOptions", OutType=2),
        node("STRIDED_SLICE", "shape zero one stride", "first", "StridedSliceOptions", ShrinkAxisMask=1),
        node("MUL", "first rest", "rows", "MulOptions"),
        node("PACK", "rows columns", "wanted", "PackOptions", ValuesCount=2),
        node("RESHAPE", "x wanted", "y", "ReshapeOptions"),
    ]
    file = write(GraphSpec(tensors, nodes, [0], [number["y"]]))
    graph = imported(file, tmp_path, [TensorRequest("x", ((1, 5), 4, 3))]).graph
    assert [node.op.name for node in graph.nodes] == ["reshape"]
    for count in (1, 5):
        x = random(count, 4, 3)
        np.testing.assert_array_equal(run(graph, {"x": x})[0], x.reshape(2 * count, 6))


def test_a_layer_that_begins_at_a_run_time_end_is_refused(tmp_path: Path) -> None:
    """A backward layer with limits is a loop over its steps, whose number has to be known."""
    (case, *_) = [case for case in RECURRENT if case.op == "BIDIRECTIONAL_SEQUENCE_LSTM"]
    limited = replace(case, values={**case.values, "CellClip": 0.5})
    assert imported(limited.file(), tmp_path).graph.nodes
    shape = (2, (1, 9), 3)
    with pytest.raises(UnsupportedError, match="a layer that begins at a run-time end"):
        imported(limited.file(), tmp_path, [TensorRequest("x0", shape, "MODEL")])


def test_a_state_that_a_deployment_carries(tmp_path: Path) -> None:
    """LiteRT keeps it from run to run; here it is an input, and the new one is an output."""
    (case, *_) = [case for case in RECURRENT if case.op == "SVDF"]
    runtime = pytest.importorskip("ai_edge_litert.interpreter")
    interpreter = runtime.Interpreter(model_content=case.file(), num_threads=1)
    interpreter.allocate_tensors()
    state = np.zeros((2, 24), np.float32)
    asked = [TensorRequest("x0"), TensorRequest("x4")], [TensorRequest("y0"), TensorRequest("x4:next")]
    graph = imported(case.file(), tmp_path, *asked).graph
    for number in range(6):
        x = random(2, 3, seed=number)
        interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x)
        interpreter.invoke()
        y, state = run(graph, {"x0": x, "x4": state})
        wanted = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
        np.testing.assert_allclose(y, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("details", "told"),
    [
        (1, "custom quantisation is not supported"),
        (2, "quantisation in blocks is not supported"),
        (3, "quantisation along several axes is not supported"),
        (7, "quantisation of kind 7 is not supported"),
    ],
)
@pytest.mark.parametrize("scales", [[], [0.5]])
def test_other_ways_to_quantise_are_refused(details: int, told: str, scales: list[float], tmp_path: Path) -> None:
    """The scales beside them say nothing: to use them would be silently wrong."""
    held = Quantisation(scales, [0] * len(scales), details=details)
    tensors = [
        TensorSpec("held", "int8", (2, 2), np.ones((2, 2), np.int8), held),
        TensorSpec("x", _F, (2, 2)),
        TensorSpec("w", _F, (2, 2)),
        TensorSpec("y", _F, (2, 2)),
    ]
    nodes = [NodeSpec("DEQUANTIZE", [0], [2], "DequantizeOptions"), NodeSpec("ADD", [1, 2], [3], "AddOptions")]
    file = tmp_path / "model.tflite"
    file.write_bytes(write(GraphSpec(tensors, nodes, [1], [3])))
    with pytest.raises(UnsupportedError, match=told):
        import_model(ImportRequest("details", file))
