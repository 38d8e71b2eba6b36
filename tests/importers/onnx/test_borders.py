"""Inputs and outputs: formats, declared shapes, types, and parts of a model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from buildtool.errors import LatheError, ModelFileError, UnsupportedError, Where
from buildtool.importers.frameworks import import_model, platforms
from buildtool.importers.onnx import supported_operators
from buildtool.importers.request import ImportRequest, TensorRequest
from buildtool.ir import text
from buildtool.ir.types import DType
from buildtool.ops.registry import registry
from buildtool.passes.pipeline import optimise
from tests.importers.onnx.harness import compare, imported, model_of, random, reference, run, save

PLACE = Where(file="deploy.yml", line=7, column=9)
node = helper.make_node


def _network(shape: list[int | str] | None = None) -> onnx.ModelProto:
    nodes = [
        node("Conv", ["image", "w"], ["features"], name="conv"),
        node("Relu", ["features"], ["active"], name="relu"),
        node("MaxPool", ["active"], ["pooled"], name="pool", kernel_shape=[2, 2]),
    ]
    shapes = {"image": shape} if shape else None
    return model_of(nodes, {"image": random(1, 3, 8, 10)}, ["pooled"], {"w": random(4, 3, 3, 3)}, shapes=shapes)


def _request(name: str, shape: tuple | None, data_format: str, dtype: DType | None = None) -> TensorRequest:
    return TensorRequest(name, shape, data_format, dtype, PLACE)


def test_channels_last_on_both_sides_leaves_no_transposes(tmp_path: Path) -> None:
    picture = random(1, 8, 10, 3)
    (expected,) = reference(_network(), {"image": picture.transpose(0, 3, 1, 2).copy()})
    result = imported(
        _network(), tmp_path, [_request("image", (1, 8, 10, 3), "NHWC")], [_request("pooled", (1, 5, 7, 4), "NHWC")]
    )
    assert (result.input_formats, result.output_formats) == (("NHWC",), ("NHWC",))
    optimise(result.graph)
    assert [one.op.name for one in result.graph.nodes] == ["conv2d", "max_pool2d"]
    assert result.graph.inputs[0].name == "image"
    assert result.graph.outputs[0].name == "pooled"
    compare(result.graph, [picture], [expected.transpose(0, 2, 3, 1)])


def test_the_models_own_order_is_kept_where_nothing_is_declared(tmp_path: Path) -> None:
    picture = random(1, 3, 8, 10)
    result = imported(_network(), tmp_path)
    assert (result.input_formats, result.output_formats) == (("NCHW",), ("NCHW",))
    optimise(result.graph)
    assert [one.op.name for one in result.graph.nodes] == ["transpose", "conv2d", "max_pool2d", "transpose"]
    compare(result.graph, [picture], reference(_network(), {"image": picture}))


def test_a_model_that_converts_its_input_at_once_is_channels_last_itself(tmp_path: Path) -> None:
    nodes = [
        node("Transpose", ["image"], ["moved"], perm=[0, 3, 1, 2]),
        node("Conv", ["moved", "w"], ["made"]),
        node("Transpose", ["made"], ["y"], perm=[0, 2, 3, 1]),
    ]
    picture, weights = random(1, 8, 10, 3), {"w": random(4, 3, 3, 3)}
    model = model_of(nodes, {"image": picture}, ["y"], weights)
    requests = [_request("image", (1, 8, 10, 3), "NHWC")]
    result = imported(model, tmp_path, requests, [_request("y", None, "NHWC")])
    optimise(result.graph)
    assert [one.op.name for one in result.graph.nodes] == ["conv2d"]
    compare(result.graph, [picture], reference(model, {"image": picture}), atol=1e-4)
    turned = imported(model, tmp_path, [_request("image", (1, 3, 8, 10), "NCHW")])
    assert turned.input_formats == ("NCHW",)
    np.testing.assert_allclose(
        run(turned.graph, [picture.transpose(0, 3, 1, 2).copy()])[0], run(result.graph, [picture])[0]
    )


def test_a_tensor_that_is_transposed_may_be_declared_as_it_stands_in_the_file(tmp_path: Path) -> None:
    """Whoever declares every tensor of ONNX as NCHW means the shape of the file."""
    nodes = [
        node("Transpose", ["x"], ["moved"], perm=[0, 3, 1, 2]),
        node("Relu", ["moved"], ["active"]),
        node("Transpose", ["active"], ["y"], perm=[0, 2, 3, 1]),
    ]
    x = random(1, 5, 6, 3)
    model = model_of(nodes, {"x": x}, ["y"], {})
    result = imported(model, tmp_path, [_request("x", x.shape, "NCHW")], [_request("y", x.shape, "NCHW")])
    assert (result.input_formats, result.output_formats) == (("NCHW",), ("NCHW",))
    compare(result.graph, [x], reference(model, {"x": x}))
    with pytest.raises(ModelFileError, match=r"\[1, 5, 3, 6\], but the model has \[1, 3, 5, 6\]"):
        imported(model, tmp_path, [_request("x", (1, 5, 3, 6), "NCHW")])


@pytest.mark.parametrize(
    ("shape", "declared", "advice"),
    [((1, 3, 8, 10), "NHWC", "input_data_formats: NCHW"), ((1, 8, 10, 3), "NCHW", "input_data_formats: NHWC")],
)
def test_a_shape_in_the_other_order_says_which_format_to_declare(
    shape: tuple, declared: str, advice: str, tmp_path: Path
) -> None:
    with pytest.raises(ModelFileError) as caught:
        imported(_network(), tmp_path, [_request("image", shape, declared)])
    (problem,) = caught.value.problems
    assert advice in problem.remedy
    assert problem.where == PLACE


def test_an_output_shape_in_the_other_order_says_so_too(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="output_data_formats: NCHW"):
        imported(_network(), tmp_path, (), [_request("pooled", (1, 4, 5, 7), "NHWC")])


@pytest.mark.parametrize("shape", [(1, 9, 10, 3), (8, 10, 3), (1, 8, 10, 4), ((1, 2), 8, 10, 5)])
def test_a_shape_that_is_not_the_models_is_refused(shape: tuple, tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="is declared with the shape"):
        imported(_network(), tmp_path, [_request("image", shape, "NHWC")])


def test_bounds_become_symbols_and_share_the_models_names(tmp_path: Path) -> None:
    model = _network([1, 3, "H", "W"])
    result = imported(model, tmp_path, [_request("image", (1, (8, 16), (8, 32), 3), "NHWC")])
    assert [str(dim) for dim in result.graph.inputs[0].type.shape] == ["1", "H", "W", "3"]
    assert {name: (one.low, one.high) for name, one in result.graph.symbols.items()} == {"H": (8, 16), "W": (8, 32)}


def test_one_name_has_one_pair_of_bounds(tmp_path: Path) -> None:
    shapes: dict = {"a": ["N", 2], "b": ["N", 2]}
    model = model_of([node("Add", ["a", "b"], ["y"])], {"a": random(1, 2), "b": random(1, 2)}, ["y"], {}, shapes=shapes)
    good = [_request("a", ((1, 4), 2), "NONE"), _request("b", ((1, 4), 2), "NONE")]
    assert list(imported(model, tmp_path, good).graph.symbols) == ["N"]
    with pytest.raises(ModelFileError, match="equal at run time"):
        imported(model, tmp_path, [good[0], _request("b", ((1, 5), 2), "NONE")])


def test_types_are_converted_at_the_borders(tmp_path: Path) -> None:
    model = model_of(
        [node("Gather", ["table", "ids"], ["y"])], {"ids": np.array([1, 0])}, ["y"], {"table": random(4, 3)}
    )
    result = imported(
        model, tmp_path, [_request("ids", (2,), "NONE", DType.S32)], [_request("y", None, "NONE", DType.F16)]
    )
    assert result.graph.inputs[0].type.dtype is DType.S32
    assert result.graph.outputs[0].type.dtype is DType.F16
    assert run(result.graph, [np.array([1, 0], np.int32)])[0].dtype == np.float16


def test_half_precision_is_widened_inside(tmp_path: Path) -> None:
    model = model_of(
        [node("Mul", ["x", "w"], ["y"])],
        {"x": random(3).astype(np.float16)},
        ["y"],
        {"w": random(3).astype(np.float16)},
    )
    graph = imported(model, tmp_path).graph
    assert graph.inputs[0].type.dtype is DType.F16
    assert {value.type.dtype for value in graph.values() if value not in graph.inputs} == {DType.F32}
    model.graph.output[0].type.tensor_type.elem_type = TensorProto.FLOAT16
    assert imported(model, tmp_path).graph.outputs[0].type.dtype is DType.F16
    asked = imported(
        model, tmp_path, [_request("x", (3,), "NONE", DType.F32)], [_request("y", None, "NONE", DType.F32)]
    )
    assert {value.type.dtype for value in asked.graph.values()} == {DType.F32}


def test_missing_names_are_reported_together_with_a_suggestion(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError) as caught:
        imported(_network(), tmp_path, [_request("imag", None, "NHWC"), _request("zzz", None, "NHWC")])
    first, second = caught.value.problems
    assert first.remedy == "did you mean 'image'?"
    assert first.where == PLACE
    assert "zzz" in second.what


def test_a_tensor_named_twice_is_refused(tmp_path: Path) -> None:
    twice = [_request("image", (1, 8, 10, 3), "NHWC")] * 2
    with pytest.raises(ModelFileError, match="named twice"):
        imported(_network(), tmp_path, twice)


def test_inner_tensors_can_be_inputs_and_outputs(tmp_path: Path) -> None:
    result = imported(
        _network(), tmp_path, [_request("features", (1, 6, 8, 4), "NHWC")], [_request("active", None, "NHWC")]
    )
    optimise(result.graph)
    assert [one.op.name for one in result.graph.nodes] == ["relu"]
    x = random(1, 6, 8, 4)
    np.testing.assert_array_equal(run(result.graph, [x])[0], np.maximum(x, 0))


def test_an_inner_input_needs_a_shape(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="declare input_shapes"):
        imported(_network(), tmp_path, [_request("features", None, "NHWC")])


def test_inputs_that_are_needed_and_not_named_are_reported(tmp_path: Path) -> None:
    model = model_of([node("Add", ["a", "b"], ["y"])], {"a": random(2), "b": random(2)}, ["y"], {})
    with pytest.raises(ModelFileError, match="also depend on the input b"):
        imported(model, tmp_path, [_request("a", (2,), "NONE")])


def test_outputs_that_are_inputs_constants_or_twice_the_same_get_values_of_their_own(tmp_path: Path) -> None:
    nodes = [node("Identity", ["x"], ["same"]), node("Relu", ["x"], ["y"]), node("Identity", ["y"], ["again"])]
    model = model_of(nodes, {"x": random(3)}, ["same", "y", "again", "w"], {"w": random(2)})
    graph = imported(model, tmp_path).graph
    optimise(graph)
    assert [value.name for value in graph.outputs] == ["same", "y", "again", "w"]
    x = random(3)
    same, y, again, weights = run(graph, [x])
    np.testing.assert_array_equal(same, x)
    np.testing.assert_array_equal(y, again)
    np.testing.assert_array_equal(weights, random(2))


def test_names_that_end_with_numbers_do_not_clash(tmp_path: Path) -> None:
    nodes = [node("Relu", ["add.1"], ["relu.2"]), node("Neg", ["relu.2"], ["relu.3"])]
    graph = imported(model_of(nodes, {"add.1": random(3)}, ["relu.3"], {}), tmp_path).graph
    assert graph.inputs[0].name == "add.1"
    assert graph.outputs[0].name == "relu.3"


def test_all_unsupported_operators_are_one_error(tmp_path: Path) -> None:
    nodes = [node("Foo", ["x"], [f"f{index}"], name=f"foo_{index}", domain="my") for index in range(6)]
    nodes += [
        node("TfIdfVectorizer", ["f0"], ["d"], name="after"),
        node("Resize", ["x", "", "s"], ["r"], name="resize", mode="lanczos"),
    ]
    model = model_of(
        nodes, {"x": random(1, 1, 4, 4)}, [*(f"f{i}" for i in range(6)), "d", "r"], {"s": random(4, low=1)}
    )
    with pytest.raises(UnsupportedError) as caught:
        imported(model, tmp_path)
    first, second = caught.value.problems
    assert "TfIdfVectorizer (node 'after'), my.Foo (nodes 'foo_0', 'foo_1', 'foo_2', 'foo_3' and 2 more)" in first.what
    assert "op_paths" in first.remedy
    assert "lanczos" in second.what
    assert second.where.node == "resize"


def test_only_the_part_that_is_needed_must_be_supported(tmp_path: Path) -> None:
    nodes = [node("Relu", ["x"], ["y"]), node("Foo", ["y"], ["z"], domain="my")]
    model = model_of(nodes, {"x": random(3)}, ["z"], {})
    graph = imported(model, tmp_path, (), [_request("y", None, "NONE")]).graph
    assert [one.op.name for one in graph.nodes] == ["relu"]


def test_functions_of_the_model_are_put_in_place(tmp_path: Path) -> None:
    model = model_of([node("Double", ["x"], ["y"], domain="local")], {"x": random(3)}, ["y"], {})
    body = [node("Add", ["a", "a"], ["b"])]
    model.functions.append(helper.make_function("local", "Double", ["a"], ["b"], body, [helper.make_opsetid("", 17)]))
    model.opset_import.append(helper.make_opsetid("local", 1))
    graph = imported(model, tmp_path).graph
    np.testing.assert_array_equal(run(graph, [random(3)])[0], 2 * random(3))


@pytest.mark.parametrize("opset", [27, 28])
def test_the_newest_opsets_are_known(opset: int, tmp_path: Path) -> None:
    model = _network()
    model.opset_import[0].version = opset
    assert len(imported(model, tmp_path).graph.nodes) == 7


def test_an_opset_from_the_future_is_refused(tmp_path: Path) -> None:
    model = _network()
    model.opset_import[0].version = 99
    with pytest.raises(UnsupportedError, match="operator set 99"):
        imported(model, tmp_path)


def test_external_data_beside_the_model(tmp_path: Path) -> None:
    model = _network()
    picture = random(1, 3, 8, 10)
    expected = reference(model, {"image": picture})
    file = tmp_path / "big.onnx"
    onnx.save(model, file, save_as_external_data=True, location="big.data", size_threshold=0)
    graph = import_model("onnx", ImportRequest("big", file)).graph
    compare(graph, [picture], expected, atol=1e-4)


def test_platforms(tmp_path: Path) -> None:
    assert platforms() == ("caffe", "keras", "onnx", "paddle", "pytorch", "tensorflow", "tflite")
    with pytest.raises(UnsupportedError, match="did you mean 'onnx'"):
        import_model("onx", ImportRequest("m", tmp_path / "m"))
    with pytest.raises(LatheError, match="no weight file"):
        import_model("onnx", ImportRequest("m", save(_network(), tmp_path), weight_file=tmp_path / "w"))


def test_the_list_of_operators_is_sorted_and_complete() -> None:
    names = supported_operators()
    assert list(names) == sorted(names)
    assert {"Conv", "Gemm", "Shape", "Where", "BatchNormalization", "Resize"} <= set(names)


def test_an_old_opset_is_converted(tmp_path: Path) -> None:
    picture, weights = random(1, 3, 5, 5), {"w": random(2, 3, 3, 3)}
    nodes = [node("Conv", ["x", "w"], ["c"]), node("Relu", ["c"], ["y"])]
    model = model_of(nodes, {"x": picture}, ["y"], weights, opset=6)
    model.ir_version = 3  # then, all weights were inputs too
    model.graph.input.append(helper.make_tensor_value_info("w", 1, [2, 3, 3, 3]))
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", 1, [1, 2, 3, 3]))
    result = imported(model, tmp_path)
    assert [value.name for value in result.graph.inputs] == ["x"]
    compare(result.graph, [picture], reference(model, {"x": picture}), atol=1e-4)


@pytest.mark.parametrize("word", ["max", "min", "batch size", "1st", "größe", "?"])
def test_sizes_may_have_any_name_in_the_model(word: str, tmp_path: Path) -> None:
    x = np.zeros((2, 3), np.float32)
    model = model_of([helper.make_node("Relu", ["x"], ["y"])], {"x": x}, ["y"], {}, shapes={"x": [word, 3]})
    graph = imported(model, tmp_path, [TensorRequest("x", ((1, 8), 3))]).graph
    (name,) = graph.symbols
    assert text.read(*text.write(graph), registry()).symbols == graph.symbols, name
