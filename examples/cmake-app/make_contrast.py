"""Writes contrast.onnx: one node of an operator that only this app knows."""

from __future__ import annotations

from pathlib import Path

import onnx
from onnx import TensorProto, helper

graph = helper.make_graph(
    [helper.make_node("SmoothStep", ["grey"], ["clear"], domain="digit_reader")],
    "contrast",
    [helper.make_tensor_value_info("grey", TensorProto.FLOAT, [1, 64])],
    [helper.make_tensor_value_info("clear", TensorProto.FLOAT, [1, 64])],
)
opsets = [helper.make_opsetid("", 17), helper.make_opsetid("digit_reader", 1)]
onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=9), Path(__file__).with_name("contrast.onnx"))
