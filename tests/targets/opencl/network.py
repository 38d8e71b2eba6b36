"""A small network that runs on the device as one part, for tests of what is around kernels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from buildtool.codegen import container
from buildtool.codegen.container import Container
from buildtool.ir.dims import symbol, symbols
from buildtool.ir.evaluate import evaluate
from buildtool.ir.graph import Graph, Value
from buildtool.ir.operator import Array, Operator
from buildtool.ir.types import DType, TensorType
from buildtool.ops.add import Add
from buildtool.ops.conv2d import Conv2d
from buildtool.ops.leaky_relu import LeakyRelu
from buildtool.runtime import DeviceOptions, Engine, Library
from tests.targets.opencl.device_library import Mode, device_library, on_device

OPERATORS = ("conv2d", "leaky_relu", "add")
IMAGES = Mode()
_TOLERANCE = {"f32": 1e-5, "f16": 4e-3}


@dataclass(frozen=True)
class Network:
    """A model, what goes in and what has to come out."""

    graph: Graph
    model: Container
    inputs: Mapping[str, Array]
    expected: Mapping[str, Array]
    tolerance: float

    def engine(self, library: Library, options: DeviceOptions) -> Engine:
        return library.engine(model=self.model.model, data=self.model.data, device=options, threads=1)

    def given(self, height: int, seed: int) -> Network:
        """The same with another input."""
        shape = (1, height, *self.inputs["x"].shape[2:])
        inputs = {"x": np.random.default_rng(seed).standard_normal(shape, np.float32)}
        return replace(self, inputs=inputs, expected=evaluate(self.graph, inputs))

    def check(self, results: Mapping[str, Array]) -> None:
        """The right result, and no other."""
        for got, wanted in zip(results.values(), self.expected.values(), strict=True):
            np.testing.assert_allclose(got, wanted, rtol=0, atol=self.tolerance * float(np.max(np.abs(wanted))))


def small_network(mode: Mode = IMAGES, *, dynamic: bool = False) -> Network:
    """y = leaky_relu(conv2d(x)) + x, with 9 rows of 11 pixels of 6 channels; dynamic: 2 to 40 rows."""
    rng = np.random.default_rng(1)
    graph = Graph(name="small")
    rows = symbol("rows", 2, 40) if dynamic else 9
    graph.symbols = {item.name: item for item in symbols(rows)}
    x = Value("x", TensorType(DType.F32, (1, rows, 11, 6)))
    graph.inputs.append(x)

    def node(op: Operator, *inputs: Value) -> Value:
        graph.nodes.append(graph.new_node(op, list(inputs), name=op.name))
        return graph.nodes[-1].outputs[0]

    weights = graph.new_constant("weights", rng.standard_normal((6, 3, 3, 6), np.float32) / 6)
    bias = graph.new_constant("bias", rng.standard_normal(6, np.float32))
    convolved = node(Conv2d(pads=(1, 1, 1, 1)), x, weights, bias)
    graph.outputs = [node(Add(), node(LeakyRelu(0.1), convolved), x)]
    inputs = {"x": rng.standard_normal((1, 9, 11, 6), np.float32)}
    model = container.write(on_device(graph, mode), name="small")
    return Network(graph, model, inputs, evaluate(graph, inputs), _TOLERANCE[mode.storage])


def small_library() -> Library:
    """Holds what the small network needs, for the device and for the CPU."""
    return device_library(OPERATORS)
