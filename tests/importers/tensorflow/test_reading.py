"""What the reader makes of graphs: names, parts, functions, variables, constants, branches."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from buildtool.errors import ModelFileError, UnsupportedError, Where
from buildtool.importers.request import ImportRequest, TensorRequest
from buildtool.importers.tensorflow import declared_inputs
from buildtool.importers.tensorflow.table import read_table
from buildtool.importers.tensorflow.tensors import array_of
from buildtool.ir.operator import Array
from buildtool.schemas import tensorflow_graph_pb2 as pb
from tests.importers.tensorflow.harness import (
    bundle,
    called,
    constant,
    function,
    imported,
    network,
    node,
    placeholder,
    requests,
    run,
    shape,
    table,
    written,
)

_X = np.array([[1, -2, 3]], np.float32)


def _result(file: Path, **fed: Array) -> Array:
    (result,) = run(imported(file).graph, fed or {"x": _X}).values()
    return result


# -- names and parts ---------------------------------------------------------------------------------------------------
def _chain(folder: Path) -> Path:
    return written(
        folder,
        placeholder("x", 1, 3),
        node("a", "Neg", "x"),
        node("b", "Abs", "a:0"),
        node("c", "Split", "axis", "b", num_split=3),
        constant("axis", np.array(1, np.int32)),
        node("d", "Exp", "c:2"),
        node("nothing", "NoOp", "^d"),
    )


@pytest.mark.parametrize(
    ("inputs", "outputs", "expected"),
    [
        ((), (), {"d": np.exp([[3]])}),
        (("x:0",), ("d:0",), {"d:0": np.exp([[3]])}),
        (("x",), ("c:1",), {"c:1": [[2]]}),
        (("a",), ("b",), {"b": np.abs(_X)}),
        (("b:0",), ("c:0", "d"), {"c:0": [[1]], "d": np.exp([[3]])}),
        (("x",), ("a", "a:0"), {"a": -_X, "a:0": -_X}),
    ],
)
def test_names_and_parts(
    inputs: tuple[str, ...], outputs: tuple[str, ...], expected: dict[str, Array], tmp_path: Path
) -> None:
    sized = [TensorRequest(name, (1, 3), "NONE") for name in inputs]
    graph = imported(_chain(tmp_path), sized, requests(*outputs)).graph
    results = run(graph, {value.name: _X for value in graph.inputs})
    assert results.keys() == expected.keys()
    for name, wanted in expected.items():
        np.testing.assert_allclose(results[name], wanted, rtol=1e-6)


def test_a_name_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="no tensor 'axes'"):
        imported(_chain(tmp_path), (), requests("axes"))
    with pytest.raises(UnsupportedError, match="imported without it"):
        imported(_chain(tmp_path), (), requests("b:7"))


@pytest.mark.parametrize("sizes", [(3, 11777), (2, 1, -4)])
def test_shapes_that_do_not_broadcast(sizes: tuple[int, ...], tmp_path: Path) -> None:
    """Found by fuzzing: it was an error of NumPy."""
    shapes = (constant("a", np.array((2, 1, 4), np.int32)), constant("b", np.array(sizes, np.int32)))
    made = (node("c", "BroadcastArgs", "a", "b"), node("d", "BroadcastTo", "x", "c"))
    with pytest.raises(ModelFileError, match="do not broadcast"):
        imported(written(tmp_path, placeholder("x", 1, 3), *shapes, *made))


@pytest.mark.parametrize(
    ("given", "result"),
    [
        ("x", "branch"),
        ("serving_default_x", "StatefulPartitionedCall"),
        ("serving_default_x:0", "StatefulPartitionedCall:0"),
        ("x", "StatefulPartitionedCall/StatefulPartitionedCall/add_2"),
    ],
)
def test_names_of_a_saved_model(given: str, result: str, tmp_path: Path) -> None:
    file, inputs, outputs = network("saved_module", tmp_path)
    graph = imported(file, requests(given, "places"), requests(result)).graph
    results = run(graph, {given: inputs["x"], "places": inputs["places"]})
    np.testing.assert_allclose(results[result], outputs["branch"], rtol=1e-5)


def test_the_file_of_a_saved_model_stands_for_its_folder(tmp_path: Path) -> None:
    file, _, _ = network("saved_keras", tmp_path)
    for path in (file, file / "saved_model.pb"):
        assert declared_inputs(ImportRequest("test", path)) == {"image": (None, 16, 16, 3)}


def test_channels_first(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        placeholder("x", 1, 2, 4, 5),
        node("y", "AvgPool", "x", ksize=(1, 1, 2, 2), strides=(1, 1, 2, 2), padding="VALID", data_format="NCHW"),
    )
    result = imported(file, [TensorRequest("x", (1, 4, 5, 2), "NHWC")], requests("y"))
    assert result.input_formats == ("NHWC",)
    assert result.source_formats == {"x": "NCHW", "y": "NCHW"}
    assert result.graph.outputs[0].type.shape == (1, 2, 2, 2)


# -- functions ---------------------------------------------------------------------------------------------------------
def test_functions_in_functions(tmp_path: Path) -> None:
    inner = function("inner", "a", {"r": "n:y:0", "s": "a"}, node("n", "Neg", "a"))
    outer = function(
        "outer",
        ["a", "b"],
        {"r": "call:output:0"},
        node("call", "StatefulPartitionedCall", "sum:z:0", f=called("inner")),
        node("sum", "AddV2", "a", "b"),
    )
    file = written(
        tmp_path,
        placeholder("x", 1, 3),
        node("y", "outer", "x", "z:1"),
        node("z", "inner", "x"),
        functions=(inner, outer),
    )
    np.testing.assert_array_equal(_result(file), -2 * _X)


def test_outputs_with_names_in_functions(tmp_path: Path) -> None:
    body = function(
        "body",
        "a",
        {"r": "sum:z:0"},
        node("top", "TopKV2", "a", "two"),
        constant("two", np.array(2, np.int32)),
        node("places", "Cast", "top:indices:0", DstT="DT_FLOAT"),
        node("sum", "AddV2", "top:values:0", "places:y:0"),
    )
    file = written(
        tmp_path, placeholder("x", 1, 3), node("y", "PartitionedCall", "x", f=called("body")), functions=[body]
    )
    np.testing.assert_array_equal(_result(file), [[5, 1]])


@pytest.mark.parametrize(
    ("functions", "message"),
    [
        ([], "function 'f' is missing"),
        ([function("f", "a", {"r": "n"}, node("n", "f", "a"))], "calls itself"),
        ([function("f", "ab", {"r": "a"})], "has 2 arguments and gets 1"),
        ([function("f", "a", {})], "nothing defines 'y'"),
        ([function("f", "a", {"r": "n:y:y"})], "names no tensor"),
    ],
)
def test_functions_that_are_wrong(functions: list[pb.FunctionDef], message: str, tmp_path: Path) -> None:
    file = written(
        tmp_path,
        placeholder("x", 1, 3),
        node("y", "PartitionedCall", "x", f=called("f")),
        node("z", "Neg", "y"),
        functions=functions,
    )
    with pytest.raises((ModelFileError, UnsupportedError), match=message):
        imported(file)


def test_functions_that_double_at_every_level(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("buildtool.importers.tensorflow.functions._MOST_NODES", 3000)
    functions = [
        function(
            f"f{level}",
            "a",
            {"r": "two:r:0"},
            node("one", f"f{level + 1}", "a"),
            node("two", f"f{level + 1}", "one:r:0"),
        )
        for level in range(40)
    ]
    file = written(
        tmp_path, placeholder("x", 1, 3), node("y", "f0", "x"), functions=[*functions, function("f40", "a", {"r": "a"})]
    )
    with pytest.raises(UnsupportedError, match="more than 3000 nodes"):
        imported(file)


# -- variables ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("sharing", [True, False])
def test_variables_by_their_names(sharing: bool, tmp_path: Path) -> None:
    variables = {f"scope/weight_{number}": np.full((2, 3), number, np.float32) for number in range(8)}
    variables["other"] = np.arange(6, dtype=np.float32).reshape(2, 3)
    bundle(tmp_path / "variables", variables, sharing)
    file = written(
        tmp_path,
        placeholder("x", 1, 2, dtype="DT_INT32"),
        node("scope/weight_7", "Variable", dtype="DT_FLOAT"),
        node("handle", "VarHandleOp", shared_name="other", dtype="DT_RESOURCE"),
        node("element", "ResourceGatherNd", "handle", "x"),
        node("read", "ReadVariableOp", "handle"),
        node("sum", "AddV2", "read", "scope/weight_7"),
        node("y", "AddV2", "sum", "element"),
    )
    result = _result(file, x=np.array([[1, 2]], np.int32))
    np.testing.assert_array_equal(result, variables["other"] + 7 + 5)


def test_variables_that_are_not_there(tmp_path: Path) -> None:
    file = written(
        tmp_path, placeholder("x", 1), node("v", "VariableV2", dtype="DT_FLOAT"), node("y", "AddV2", "x", "v")
    )
    with pytest.raises(ModelFileError, match="variable 'v' is not stored"):
        imported(file)
    bundle(tmp_path / "variables", {"v": np.ones(1, np.float32)})
    assert _result(file, x=np.ones(1, np.float32)) == [2]
    (tmp_path / "variables" / "variables.data-00000-of-00001").write_bytes(b"abc")
    with pytest.raises(ModelFileError, match="bytes 0 to 4 of 'variables"):
        imported(file)


def test_variables_that_change(tmp_path: Path) -> None:
    bundle(tmp_path / "variables", {"v": np.ones(1, np.float32)})
    body = function(
        "body",
        ["a", "handle"],
        {"r": "sum:z:0"},
        node("more", "AssignAddVariableOp", "handle", "a"),
        node("read", "ReadVariableOp", "handle", "^more"),
        node("sum", "AddV2", "a", "read:value:0"),
    )
    file = written(
        tmp_path,
        placeholder("x", 1),
        node("v", "VarHandleOp", dtype="DT_RESOURCE"),
        node("y", "StatefulPartitionedCall", "x", "v", f=called("body")),
        functions=[body],
    )
    with pytest.raises(UnsupportedError, match="changes a variable when it runs, 'v'"):
        imported(file)


_ENTRIES = {b"": b"head", b"a/b": b"1", b"a/bc": b"22", b"a/bcd": b"333", b"b": b""}


@pytest.mark.parametrize("sharing", [True, False])
def test_tables(sharing: bool) -> None:
    assert read_table(table(_ENTRIES, sharing), Where()) == _ENTRIES


def test_damaged_tables() -> None:
    whole = table(_ENTRIES)
    for size in range(len(whole)):
        with pytest.raises(ModelFileError):
            read_table(whole[:size], Where())
    for position in range(len(whole)):
        for value in (0, 1, 127, 128, 255):
            data = bytearray(whole)
            data[position] = value
            try:
                read_table(bytes(data), Where())
            except (ModelFileError, UnsupportedError):
                continue


# -- constants ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("tensor", "expected"),
    [
        (pb.TensorProto(dtype=pb.DT_FLOAT, float_val=[1, 2], tensor_shape=shape(2, 2)), [[1, 2], [2, 2]]),
        (pb.TensorProto(dtype=pb.DT_INT32, tensor_shape=shape(3)), [0, 0, 0]),
        (pb.TensorProto(dtype=pb.DT_UINT8, int_val=[200], tensor_shape=shape()), 200),
        (pb.TensorProto(dtype=pb.DT_HALF, half_val=[0x3C00, 0xC000], tensor_shape=shape(2)), [1, -2]),
        (pb.TensorProto(dtype=pb.DT_BFLOAT16, half_val=[0x3F80], tensor_shape=shape(1)), [1]),
        (pb.TensorProto(dtype=pb.DT_HALF, tensor_content=b"\0\x3c", tensor_shape=shape(1)), [1]),
        (pb.TensorProto(dtype=pb.DT_BOOL, tensor_content=b"\0\2", tensor_shape=shape(2)), [False, True]),
        (pb.TensorProto(dtype=pb.DT_INT64, int64_val=[-(2**40)], tensor_shape=shape(1)), [-(2**40)]),
    ],
)
def test_constants(tensor: pb.TensorProto, expected: object) -> None:
    np.testing.assert_array_equal(array_of(tensor, Where()), np.array(expected))


@pytest.mark.parametrize(
    ("tensor", "message"),
    [
        (pb.TensorProto(dtype=pb.DT_FLOAT, tensor_content=b"abc", tensor_shape=shape(1)), "holds 3 bytes"),
        (pb.TensorProto(dtype=pb.DT_FLOAT, float_val=[1, 2], tensor_shape=shape(1)), "holds 2 elements"),
        (pb.TensorProto(dtype=pb.DT_UINT8, int_val=[256], tensor_shape=shape(1)), "do not fit u8"),
        (pb.TensorProto(dtype=pb.DT_FLOAT, tensor_shape=shape(2**30, 2**30)), "not possible"),
        (pb.TensorProto(dtype=pb.DT_FLOAT, float_val=[1], tensor_shape=shape(2**30)), "1073741824 elements"),
        (pb.TensorProto(dtype=pb.DT_FLOAT, tensor_shape=shape(-1)), "no fixed shape"),
        (pb.TensorProto(dtype=pb.DT_COMPLEX64, tensor_shape=shape(1)), "DT_COMPLEX64"),
        (pb.TensorProto(dtype=99, tensor_shape=shape(1)), "type 99"),  # type: ignore[arg-type]
    ],
)
def test_constants_that_are_wrong(tensor: pb.TensorProto, message: str) -> None:
    with pytest.raises((ModelFileError, UnsupportedError), match=message):
        array_of(tensor, Where())


# -- branches of TensorFlow 1 ------------------------------------------------------------------------------------------
def _branches(folder: Path, *predicate: pb.NodeDef) -> Path:
    return written(
        folder,
        placeholder("x", 1, 3),
        *predicate,
        node("no", "LogicalNot", "flag"),
        node("switch", "Switch", "x", "no"),
        node("true", "Identity", "switch:1"),
        constant("one", np.ones((1, 3), np.float32)),
        node("left", "NotAnOperator" if predicate[0].op == "Const" else "Exp", "switch"),
        node("right", "AddV2", "switch:1", "held"),
        node("held", "Const", "^true", value=np.full((1, 3), 5, np.float32)),
        node("merge", "Merge", "left", "right"),
        node("y", "Neg", "merge"),
    )


def test_a_branch_that_a_constant_decides(tmp_path: Path) -> None:
    np.testing.assert_array_equal(_result(_branches(tmp_path, constant("flag", np.array(False)))), -(_X + 5))


@pytest.mark.parametrize("flag", [True, False])
def test_a_branch_that_the_data_decides(flag: bool, tmp_path: Path) -> None:
    file = _branches(tmp_path, placeholder("flag", dtype="DT_BOOL"))
    result = _result(file, x=_X, flag=np.array(flag))
    np.testing.assert_allclose(result, -np.exp(_X) if flag else -(_X + 5), rtol=1e-6)


def test_a_merge_that_nobody_decides(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        placeholder("x", 1),
        placeholder("flag", dtype="DT_BOOL"),
        node("switch", "Switch", "x", "flag"),
        node("merge", "Merge", "x", "switch"),
    )
    with pytest.raises(UnsupportedError, match="not decided by one predicate"):
        imported(file)


# -- what is refused ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("made", "message"),
    [
        (node("y", "MutableHashTableV2", "x"), r"operator MutableHashTableV2 \(node 'y'\) is not supported"),
        (node("y", "Enter", "x", frame_name="f"), "nothing changes in its loop"),
        (node("y", "NextIteration", "x"), "not part of a complete loop"),
        (node("y", "FusedBatchNormV3", "x", "x", "x", "x", "x"), "statistics of the batch"),
        (node("y", "Conv2D", "x", "x", padding="SAME", data_format="NCHW_VECT_C"), "data format"),
        (node("y", "Const", value=np.array(["a"], "S1")), "DT_STRING"),
        (node("y", "AddV2", "x", "nobody"), "nothing defines 'nobody'"),
        (node("y", "AddV2", "x", "x:a"), "names no tensor"),
        (node("x", "Neg", "x"), "two nodes are called 'x'"),
        (node("y", "", "x"), "lacks its name or operator"),
    ],
)
def test_unsupported_or_wrong_nodes_are_errors(made: pb.NodeDef, message: str, tmp_path: Path) -> None:
    with pytest.raises((ModelFileError, UnsupportedError), match=message):
        imported(written(tmp_path, placeholder("x", 1, 2, 2, 3), made), (), requests("y"))


def _frame(*others: pb.NodeDef, goes_on: str = "smaller") -> list[pb.NodeDef]:
    """A loop of TensorFlow 1 that doubles x while its first number is small. `others` take the place of its nodes."""
    nodes = [
        placeholder("x"),
        node("enter", "Enter", "x", frame_name="f"),
        node("merge", "Merge", "enter", "next"),
        node("small", "Enter", "ten", frame_name="f", is_constant=True),
        constant("ten", np.array(10, np.float32)),
        node("smaller", "Less", "merge", "small"),
        node("going", "LoopCond", goes_on),
        node("switch", "Switch", "merge", "going"),
        node("next", "NextIteration", "doubled"),
        node("doubled", "AddV2", "switch:1", "switch:1"),
        node("y", "Exit", "switch"),
    ]
    replaced = {one.name: one for one in others}
    return [replaced.pop(one.name, one) for one in nodes] + list(replaced.values())


def test_a_loop_of_older_graphs(tmp_path: Path) -> None:
    graph = imported(written(tmp_path, *_frame())).graph
    (value,) = run(graph, {"x": np.array(1.5, np.float32)}).values()
    assert float(value) == 12
    assert [output.name for output in graph.outputs] == ["y"]


@pytest.mark.parametrize(
    ("others", "message"),
    [
        ([node("next", "Identity", "doubled")], "nothing gives its value for the next iteration"),
        ([node("merge", "Merge", "enter", "next", "next")], "nothing gives its value for the next iteration"),
        ([node("going", "Identity", "smaller")], "nothing tells whether there is a next iteration"),
        ([node("small", "Enter", "ten", "ten", frame_name="f")], "it has 2 inputs"),
        ([node("smaller", "Less", "merge", "inner"), node("inner", "Enter", "y", frame_name="g")], "nothing changes"),
        ([node("doubled", "Concat", "switch:1", "switch:1")], "doubled"),
        ([node("doubled", "AddV2", "switch:1", "nobody")], "nobody"),
    ],
)
def test_loops_that_are_damaged(others: list[pb.NodeDef], message: str, tmp_path: Path) -> None:
    with pytest.raises((ModelFileError, UnsupportedError), match=message):
        imported(written(tmp_path, *_frame(*others)))


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (node("y", "TensorListStack", "list", "open", element_dtype="DT_FLOAT"), "which shape the tensors"),
        (node("y", "TensorListPopBack", "empty", "shape", element_dtype="DT_FLOAT"), "out of an empty list"),
        (
            node("y", "TensorListSetItem", "list", "place", "x", resize_if_index_out_of_bounds=True),
            "a list that grows where it is written",
        ),
        (node("y", "TensorListStack", "three", "shape", element_dtype="DT_FLOAT", num_elements=4), "instead of 4"),
        (node("y", "TensorArrayV3", "place", dtype="DT_FLOAT", dynamic_size=True), "an array that grows"),
    ],
)
def test_lists_that_are_refused(made: pb.NodeDef, message: str, tmp_path: Path) -> None:
    file = written(
        tmp_path,
        placeholder("x", 2),
        constant("open", np.array([-1], np.int32)),
        constant("shape", np.array([2], np.int32)),
        constant("place", np.array(3, np.int32)),
        node("list", "TensorListReserve", "open", "place", element_dtype="DT_FLOAT"),
        node("three", "TensorListReserve", "shape", "place", element_dtype="DT_FLOAT"),
        node("empty", "EmptyTensorList", "shape", "place", element_dtype="DT_FLOAT"),
        made,
    )
    with pytest.raises((ModelFileError, UnsupportedError), match=message):
        imported(file, (), requests("y"))


def test_old_operators(tmp_path: Path) -> None:
    x = np.arange(6, dtype=np.float32).reshape(1, 1, 2, 3)
    rows = [np.array(row, np.float32) for row in ([1, 2, 3], [4, 5, 6], [0, 1, 0], [2, 3, 4])]
    mean, variance, bias, scale = rows
    file = written(
        tmp_path,
        placeholder("x", 1, 1, 2, 3),
        *(constant(name, row) for name, row in zip("mvbs", rows, strict=True)),
        node(
            "n", "BatchNormWithGlobalNormalization", "x", *"mvbs", variance_epsilon=0.5, scale_after_normalization=True
        ),
        node("parts", "Unstack", "n", num=2, axis=2),
        node("y", "Stack", "parts:1", "parts", axis=1),
    )
    expected = (x - mean) / np.sqrt(variance + 0.5) * scale + bias
    np.testing.assert_allclose(_result(file, x=x)[:, ::-1, 0], expected[:, 0], rtol=1e-5)
