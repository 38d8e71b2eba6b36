"""Writes brighten.onnx: one node of an operator that only this app knows."""

from __future__ import annotations

from pathlib import Path

import onnx
from onnx import TensorProto, helper

graph = helper.make_graph(
    [helper.make_node("Brighten", ["picture"], ["bright"], name="brighten", domain="example", gain=2.0)],
    "brighten",
    [helper.make_tensor_value_info("picture", TensorProto.FLOAT, [1, 1, 8, 8])],
    [helper.make_tensor_value_info("bright", TensorProto.FLOAT, [1, 1, 8, 8])],
)
opsets = [helper.make_opsetid("", 13), helper.make_opsetid("example", 1)]
model = helper.make_model(graph, opset_imports=opsets, ir_version=8, producer_name="lathe-example")
onnx.save(model, Path(__file__).with_name("brighten.onnx"))
