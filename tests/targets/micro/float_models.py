"""Small ONNX models of floats, and networks of the target that are read from them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from buildtool.importers.frameworks import import_model
from buildtool.importers.request import ImportRequest
from buildtool.ir.operator import Array
from buildtool.ops.registry import registry
from buildtool.passes import pipeline
from buildtool.targets.micro.lowering.lower import lower
from buildtool.targets.micro.network import Network


class Floats:
    """Nodes and constants so far."""

    def __init__(self, seed: int, *shape: int) -> None:
        self.random = np.random.default_rng(seed)
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.shape = shape

    def constant(self, *shape: int, content: Array | None = None) -> str:
        array = self.random.normal(0, 0.3, shape).astype(np.float32) if content is None else content
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def node(self, op: str, inputs: Sequence[str], outputs: int = 1, **attributes: Any) -> str:
        names = [f"v{len(self.nodes)}_{index}" for index in range(outputs)]
        self.nodes.append(helper.make_node(op, list(inputs), names, **attributes))
        return names[0]

    def file(self, *outputs: str) -> bytes:
        given = helper.make_tensor_value_info("x", TensorProto.FLOAT, self.shape)
        made = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs]
        graph = helper.make_graph(self.nodes, "m", [given], made, self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        data: bytes = onnx.shape_inference.infer_shapes(model).SerializeToString()
        return data


def images(seed: int) -> bytes:
    """Convolutions, pools, sums and a product with a matrix."""
    m = Floats(seed, 1, 3, 13, 11)
    x = m.node(
        "Relu", [m.node("Conv", ["x", m.constant(8, 3, 3, 3), m.constant(8)], pads=[1, 1, 1, 1], strides=[2, 2])]
    )
    y = m.node("Conv", [x, m.constant(8, 1, 3, 3), m.constant(8)], group=8, pads=[1, 1, 1, 1])
    y = m.node("HardSwish", [m.node("Conv", [y, m.constant(8, 8, 1, 1)])])
    x = m.node("Add", [x, y])
    x = m.node(
        "Concat",
        [
            m.node("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]),
            m.node("AveragePool", [x], kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1),
        ],
        axis=1,
    )
    x = m.node("Sigmoid", [m.node("Conv", [x, m.constant(6, 8, 2, 2)], group=2)])
    x = m.node("Flatten", [m.node("GlobalAveragePool", [x])])
    return m.file(m.node("Softmax", [m.node("Gemm", [x, m.constant(5, 6), m.constant(5)], transB=1)]))


def sequences(seed: int) -> bytes:
    """Recurrences, a norm, and attention written as products."""
    m = Floats(seed, 7, 1, 5)
    h = m.node("LSTM", ["x", m.constant(1, 24, 5), m.constant(1, 24, 6), m.constant(1, 48)], 3, hidden_size=6)
    h = m.node("Squeeze", [h, m.constant(content=np.array([1]))])
    g = m.node("GRU", [h, m.constant(1, 18, 6), m.constant(1, 18, 6), m.constant(1, 36)], 2, hidden_size=6)
    g = m.node("Squeeze", [g, m.constant(content=np.array([1, 2]))])
    g = m.node("LayerNormalization", [g, m.constant(6), m.constant(6)], axis=-1)
    q, k, v = (m.node("MatMul", [g, m.constant(6, 4)]) for _ in range(3))
    scores = m.node("Softmax", [m.node("MatMul", [q, m.node("Transpose", [k], perm=[1, 0])])], axis=-1)
    return m.file(m.node("Erf", [m.node("MatMul", [scores, v])]), m.node("ReduceMax", [g], axes=[0], keepdims=0))


def network_of(data: bytes, folder: Path, *, halves: bool = False) -> Network:
    """As the target reads a file, behind all passes."""
    (folder / "m.onnx").write_bytes(data)
    graph = import_model("onnx", ImportRequest("m", folder / "m.onnx", None, (), (), registry(()))).graph
    pipeline.optimise(graph)
    return lower(graph, "m", halves=halves)


def inputs_of(network: Network, seed: int) -> dict[str, Array]:
    random = np.random.default_rng(seed)
    return {tensor.name: random.normal(0, 1, tensor.shape).astype(np.float32) for tensor in network.inputs}
