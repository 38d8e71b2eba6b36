"""Sessions of onnxruntime whose integer products are exact.

On x86 processors without VNNI, onnxruntime multiplies unsigned by signed bytes with an instruction that saturates at
16 bits. It has an exact way for weights that are constants, in graphs that it may optimise; for others it has none.
"""

from __future__ import annotations

import functools

import numpy as np
import onnxruntime
from onnx import ModelProto, TensorProto, helper

from buildtool.running.reference import EXACT_INTEGERS

_PRODUCTS = {"ConvInteger", "MatMulInteger", "QLinearConv", "QLinearMatMul", "DynamicQuantizeLinear"}


@functools.cache
def saturates() -> bool:
    """Whether this processor is one of those."""
    tensors = [("a", TensorProto.UINT8, [1, 2]), ("b", TensorProto.INT8, [2, 1]), ("y", TensorProto.INT32, [1, 1])]
    a, b, y = (helper.make_tensor_value_info(*item) for item in tensors)
    graph = helper.make_graph([helper.make_node("MatMulInteger", ["a", "b"], ["y"])], "sum", [a, b], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    feeds = {"a": np.full((1, 2), 255, np.uint8), "b": np.full((2, 1), 127, np.int8)}
    return int(session.run(None, feeds)[0].item()) != 2 * 255 * 127


def inexact(model: ModelProto) -> bool:
    """Whether the products of a model, whose weights are no constants, would be wrong here."""
    return any(node.op_type in _PRODUCTS for node in model.graph.node) and saturates()


def options() -> onnxruntime.SessionOptions:
    """On one thread, without a word."""
    made = onnxruntime.SessionOptions()
    made.intra_op_num_threads = 1
    made.log_severity_level = 4
    made.add_session_config_entry(*EXACT_INTEGERS)
    return made


def plain_options(model: ModelProto) -> onnxruntime.SessionOptions:
    """The same, optimised only where exactness needs it."""
    made = options()
    levels = onnxruntime.GraphOptimizationLevel
    made.graph_optimization_level = levels.ORT_ENABLE_EXTENDED if inexact(model) else levels.ORT_DISABLE_ALL
    return made
