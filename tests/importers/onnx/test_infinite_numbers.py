"""Numbers that are infinite, or NaN, where a handler needs a count: an error that blames the model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from buildtool.errors import ModelFileError
from buildtool.importers.onnx import import_model
from buildtool.importers.request import ImportRequest

_INF, _NAN = float("inf"), float("nan")


def _import(folder: Path, op: str, inputs: Mapping[str, Any], opset: int = 17) -> None:
    """A node whose inputs are arrays, or the shapes of inputs of the model."""
    arrays = [numpy_helper.from_array(value, name) for name, value in inputs.items() if isinstance(value, np.ndarray)]
    given = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, value)
        for name, value in inputs.items()
        if not isinstance(value, np.ndarray)
    ]
    node = helper.make_node(op, ["" if name.startswith("absent") else name for name in inputs], ["y"], name="it")
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph([node], "g", [info for info in given if "absent" not in info.name], [result], arrays)
    file = folder / "model.onnx"
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    file.write_bytes(model.SerializeToString())
    import_model(ImportRequest("m", file))


def _number(value: float) -> np.ndarray:  # type: ignore[type-arg]
    return np.array(value, np.float32)


@pytest.mark.parametrize("length", [_INF, -_INF, _NAN])
def test_mel_weights(length: float, tmp_path: Path) -> None:
    numbers = {"bins": 8.0, "length": length, "rate": 8000.0, "low": 0.0, "high": 4000.0}
    with pytest.raises(ModelFileError, match="MelWeightMatrix: its length is"):
        _import(tmp_path, "MelWeightMatrix", {name: _number(value) for name, value in numbers.items()})


@pytest.mark.parametrize("most", [_INF, _NAN])
def test_non_max_suppression(most: float, tmp_path: Path) -> None:
    inputs = {"boxes": (1, 4, 4), "scores": (1, 2, 4), "most": _number(most)}
    with pytest.raises(ModelFileError, match="NonMaxSuppression: its max_output_boxes_per_class is"):
        _import(tmp_path, "NonMaxSuppression", inputs)


def test_sizes_that_overflow(tmp_path: Path) -> None:
    scales = np.array([1, 1, 3e38, 1], np.float32)
    with pytest.raises(ModelFileError, match="Resize: its size is inf"):
        _import(tmp_path, "Resize", {"x": (1, 1, 8, 8), "absent": (), "scales": scales})
