"""Models of old operator sets, and models that name none."""

from __future__ import annotations

from pathlib import Path

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
