"""A model of bytes for the DSP as files, for what builds libraries elsewhere: CMake, Bazel."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

DEPLOYMENT = """
library_name: other
target_abis: [host]
hexagon_versions: [v68]
models:
  shifted:
    platform: onnx
    model_file_path: shifted.onnx
    runtime: dsp
    quantize: 1
    subgraphs:
      - {input_tensors: [x], input_shapes: ["1,6,6,8"], output_tensors: [y], output_shapes: ["1,6,6,8"]}
"""


def write_model(file: Path) -> None:
    """y = x + c, quantised."""
    rng = np.random.default_rng(3)
    constants = {
        "c": rng.integers(-128, 128, (1, 8, 6, 6)).astype(np.int8),
        "scale": np.float32(0.05),
        "zero": np.int8(3),
    }
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "scale", "zero"], ["x8"]),
        helper.make_node("DequantizeLinear", ["x8", "scale", "zero"], ["xf"]),
        helper.make_node("DequantizeLinear", ["c", "scale", "zero"], ["cf"]),
        helper.make_node("Add", ["xf", "cf"], ["sum"]),
        helper.make_node("QuantizeLinear", ["sum", "scale", "zero"], ["y8"]),
        helper.make_node("DequantizeLinear", ["y8", "scale", "zero"], ["y"]),
    ]
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 8, 6, 6]) for name in "xy"]
    initial = [onnx.numpy_helper.from_array(np.asarray(array), name) for name, array in constants.items()]
    graph = helper.make_graph(nodes, "shifted", values[:1], values[1:], initial)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), file)
