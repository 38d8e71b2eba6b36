"""Makes square.onnx: y = x ** 2 + (1, 2, 3)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

nodes = [helper.make_node("Pow", ["x", "two"], ["square"]), helper.make_node("Add", ["square", "more"], ["y"])]
constants = {"two": np.array(2, np.float32), "more": np.array([1, 2, 3], np.float32)}
graph = helper.make_graph(
    nodes,
    "square",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 3])],
    [numpy_helper.from_array(array, name) for name, array in constants.items()],
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
onnx.checker.check_model(model)
onnx.save(model, Path(__file__).with_name("square.onnx"))
