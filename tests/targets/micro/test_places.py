"""Operators that read and write places which the data gives, on emulated boards, beside onnxruntime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from buildtool.ir.operator import Array
from buildtool.targets.micro import reference
from tests.targets.micro import boards, float_models

_FLOAT, _LONG = TensorProto.FLOAT, TensorProto.INT64
_INPUTS = {
    "x": (_FLOAT, [3, 40]),
    "s": (_LONG, [4, 2]),
    "g": (_LONG, [5, 2]),
    "image": (_FLOAT, [1, 2, 6, 5]),
    "grid": (_FLOAT, [1, 4, 3, 2]),
    "regions": (_FLOAT, [3, 4]),
    "matrices": (_FLOAT, [2, 3, 3]),
}
_OUTPUTS = {
    "values": _FLOAT,
    "places": _LONG,
    **dict.fromkeys(("gathered", "scattered", "sampled", "aligned", "largest", "pooled", "determinants"), _FLOAT),
}


def _model() -> bytes:
    nodes = [
        helper.make_node("TopK", ["x", "k"], ["values", "places"], axis=1),
        helper.make_node("GatherND", ["x", "g"], ["gathered"]),
        helper.make_node("ScatterND", ["x", "s", "u"], ["scattered"]),
        helper.make_node("GridSample", ["image", "grid"], ["sampled"]),
        helper.make_node("RoiAlign", ["image", "regions", "zeros"], ["aligned"], output_height=2, output_width=3),
        helper.make_node("RoiAlign", ["image", "regions", "zeros"], ["largest"], mode="max", sampling_ratio=2),
        helper.make_node("Concat", ["numbers", "regions"], ["numbered"], axis=1),
        helper.make_node("MaxRoiPool", ["image", "numbered"], ["pooled"], pooled_shape=[2, 2]),
        helper.make_node("Det", ["matrices"], ["determinants"]),
    ]
    constants: dict[str, Array] = {
        "k": np.array([5], np.int64),
        "u": np.arange(4, dtype=np.float32),
        "zeros": np.zeros(3, np.int64),
        "numbers": np.zeros((3, 1), np.float32),
    }
    graph = helper.make_graph(
        nodes,
        "m",
        [helper.make_tensor_value_info(name, *about) for name, about in _INPUTS.items()],
        [helper.make_tensor_value_info(name, kind, None) for name, kind in _OUTPUTS.items()],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16)], ir_version=8)
    return bytes(model.SerializeToString())


def _inputs() -> dict[str, Array]:
    """With equal elements, and a place that is written twice."""
    random = np.random.default_rng(1)
    return {
        "x": random.normal(size=(3, 40)).round(1).astype(np.float32),
        "s": np.array([[0, 3], [2, 39], [1, 1], [0, 3]]),
        "g": random.integers(0, 3, (5, 2)),
        "image": random.normal(size=(1, 2, 6, 5)).astype(np.float32),
        "grid": random.uniform(-1.2, 1.2, (1, 4, 3, 2)).astype(np.float32),
        "regions": np.array([[0, 0, 4, 5], [1.2, 0.4, 3.1, 4.3], [2, 1, 2.5, 9]], np.float32),
        "matrices": random.normal(size=(2, 3, 3)).astype(np.float32),
    }


@pytest.mark.arm
@pytest.mark.parametrize("abi", ["cortex-m4f", "rv32imac"])
def test_places_that_the_data_gives(abi: str, tmp_path: Path) -> None:
    network, inputs = float_models.network_of(_model(), tmp_path), _inputs()
    found = boards.run(network, abi, tmp_path, inputs).result.outputs
    for name, expected in reference.evaluate(network, inputs).items():
        np.testing.assert_allclose(found[name], expected, rtol=1e-5, atol=1e-6, err_msg=name)
    runtime = pytest.importorskip("onnxruntime")
    peer = runtime.InferenceSession(_model()).run(list(_OUTPUTS), inputs)
    for name, expected in zip(_OUTPUTS, peer, strict=True):
        np.testing.assert_allclose(found[name].reshape(expected.shape), expected, rtol=1e-5, atol=1e-6, err_msg=name)
