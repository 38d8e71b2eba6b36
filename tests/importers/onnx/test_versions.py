"""Models of old operator sets, and models that name none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper

from buildtool.errors import ModelFileError
from tests.importers.onnx.harness import imported, model_of, random, run


@pytest.mark.parametrize("shape", [(2, 3, 4), (2, 3, 4, 5), (1, 3, 3, 3)])
def test_slopes_of_the_oldest_prelus_belong_to_channels(shape: tuple[int, ...], tmp_path: Path) -> None:
    x, slopes = random(*shape) - 0.5, np.array([0.1, 0.2, 0.3], np.float32)
    model = model_of([helper.make_node("PRelu", ["x", "s"], ["y"])], {"x": x}, ["y"], {"s": slopes})
    del model.opset_import[:]
    model.opset_import.append(helper.make_opsetid("", 6))
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, shape))
    (y,) = run(imported(model, tmp_path).graph, [x])
    row = slopes.reshape(-1, *(1,) * (len(shape) - 2))
    np.testing.assert_allclose(y, np.where(x < 0, x * row, x), rtol=1e-6)


def test_models_of_vendors_operators_need_no_operator_set(tmp_path: Path) -> None:
    x = random(2, 5)
    model = model_of(
        [helper.make_node("DequantizeLinear", ["x", "s"], ["y"], domain="com.microsoft")],
        {"x": x.astype(np.int8)},
        ["y"],
        {"s": np.array(0.5, np.float32)},
    )
    del model.opset_import[:]
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    (y,) = run(imported(model, tmp_path).graph, [x.astype(np.int8)])
    np.testing.assert_array_equal(y, x.astype(np.int8) * np.float32(0.5))


def test_models_of_standard_operators_name_their_operator_set(tmp_path: Path) -> None:
    model = model_of([helper.make_node("Relu", ["x"], ["y"])], {"x": random(3)}, ["y"], {})
    del model.opset_import[:]
    with pytest.raises(ModelFileError, match="does not say which operator set"):
        imported(model, tmp_path)


_X = np.float32(3) * (random(2, 4, 3, 3) - np.float32(0.5))
_ROW, _FIELD = random(4) + 1, random(4, 3) + 1
_OLDEST = [
    ("Add", 1, {"broadcast": 1, "axis": 1, "consumed_inputs": [0, 0]}, [_ROW], _X + _ROW.reshape(4, 1, 1)),
    ("Mul", 6, {"broadcast": 1, "axis": 1}, [_FIELD], _X * _FIELD.reshape(4, 3, 1)),
    ("Sub", 6, {"broadcast": 1, "axis": 0}, [_ROW[:2]], _X - _ROW[:2].reshape(2, 1, 1, 1)),
    ("Div", 6, {"broadcast": 1, "axis": -2}, [_ROW[:3]], _X / _ROW[:3].reshape(3, 1)),
    ("Pow", 6, {"broadcast": 1}, [_ROW[:1] * 0 + 2], _X**2),
    ("Greater", 1, {"broadcast": 1, "axis": 1}, [_ROW - 1], ((_ROW - 1).reshape(4, 1, 1) < _X)),
    ("Add", 6, {"broadcast": 1, "axis": 3}, [_ROW[:1].reshape(1, 1)], _X + _ROW[0]),
    ("Cast", 1, {"to": "INT32"}, [], _X.astype(np.int32)),
    ("Concat", 1, {}, ["x"], np.concatenate([_X, _X], 1)),
    ("Pad", 1, {"paddings": [0, 0, 1, 0, 0, 0, 0, 2]}, [], np.pad(_X, [(0, 0), (0, 0), (1, 0), (0, 2)])),
    ("Relu", 1, {"consumed_inputs": [0]}, [], np.maximum(_X, 0)),
    ("Reshape", 1, {"shape": [0, -1]}, [], _X.reshape(2, 36)),
    ("Reshape", 4, {"shape": [0, -1], "consumed_inputs": [0]}, [], _X.reshape(2, 36)),
    ("Split", 1, {"axis": 1}, [np.array([1, 3], np.float32)], _X[:, :1]),
    ("Upsample", 1, {"height_scale": 2.0, "width_scale": 3.0}, [], _X.repeat(2, 2).repeat(3, 3)),
    ("LpPool", 1, {"p": 2.0, "kernel_shape": [3, 3]}, [], np.sqrt(np.sum(_X**2, (2, 3), keepdims=True))),
    ("Tile", 1, {}, [np.array(3, np.float32), np.array(1, np.float32)], np.tile(_X, (1, 3, 1, 1))),
]


@pytest.mark.parametrize(("op", "opset", "attributes", "more", "expected"), _OLDEST, ids=[one[0] for one in _OLDEST])
def test_nodes_of_the_oldest_operator_sets(
    op: str, opset: int, attributes: dict[str, Any], more: list[object], expected: np.ndarray, tmp_path: Path
) -> None:
    weights = {f"c{place}": array for place, array in enumerate(more) if isinstance(array, np.ndarray)}
    names = [array if isinstance(array, str) else f"c{place}" for place, array in enumerate(more)]
    outputs = ["y", "z"] if op == "Split" else ["y"]
    model = model_of([helper.make_node(op, ["x", *names], outputs, **attributes)], {"x": _X}, ["y"], weights, opset)
    model.ir_version = 3
    for name, array in weights.items():
        model.graph.input.append(helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, array.shape))
    kind = helper.np_dtype_to_tensor_dtype(expected.dtype)
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", kind, expected.shape))
    (y,) = run(imported(model, tmp_path).graph, [_X])
    np.testing.assert_allclose(y, expected, rtol=1e-6)


@pytest.mark.parametrize("opset", range(1, 7))
def test_networks_of_the_oldest_operator_sets(opset: int, tmp_path: Path) -> None:
    x = random(1, 3, 6, 6)
    overwritten = (lambda *which: {"consumed_inputs": which}) if opset < 6 else (lambda *_: {})
    weights = {"w": random(4, 3, 3, 3), "s": random(4), "b": random(4), "m": random(4), "v": random(4) + 1}
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["conv"], kernel_shape=[3, 3]),
        helper.make_node(
            "BatchNormalization", ["conv", "s", "b", "m", "v"], ["norm"], is_test=1, **overwritten(0, 0, 0, 1, 1)
        ),
        helper.make_node("Relu", ["norm"], ["relu"], **overwritten(0)),
        helper.make_node("Add", ["relu", "b"], ["sum"], broadcast=1, axis=1, **overwritten(0, 0)),
        helper.make_node("Dropout", ["sum"], ["y"], is_test=1, **overwritten(0)),
    ]
    model = model_of(nodes, {"x": x}, ["y"], weights, opset)
    model.ir_version = 3
    for name, array in weights.items():
        model.graph.input.append(helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, array.shape))
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [1, 4, 4, 4]))
    (y,) = run(imported(model, tmp_path).graph, [x])
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["conv"], kernel_shape=[3, 3]),
        helper.make_node("BatchNormalization", ["conv", "s", "b", "m", "v"], ["norm"]),
        helper.make_node("Relu", ["norm"], ["relu"]),
        helper.make_node("Reshape", ["b", "shape"], ["bias"]),
        helper.make_node("Add", ["relu", "bias"], ["y"]),
    ]
    weights["shape"] = np.array([1, 4, 1, 1], np.int64)
    (expected,) = run(imported(model_of(nodes, {"x": x}, ["y"], weights), tmp_path).graph, [x])
    np.testing.assert_allclose(y, expected, rtol=1e-6)
