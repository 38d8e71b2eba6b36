"""A small network that runs on the device as one part, for tests of what is around kernels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from buildtool.codegen import container
from buildtool.codegen.container import Container
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

    model: Container
    inputs: Mapping[str, Array]
    expected: Mapping[str, Array]
    tolerance: float

    def engine(self, library: Library, options: DeviceOptions) -> Engine:
        return library.engine(model=self.model.model, data=self.model.data, device=options, threads=1)

    def check(self, results: Mapping[str, Array]) -> None:
        """The right result, and no other."""
        for got, wanted in zip(results.values(), self.expected.values(), strict=True):
            np.testing.assert_allclose(got, wanted, rtol=0, atol=self.tolerance * float(np.max(np.abs(wanted))))


def small_network(mode: Mode = IMAGES, height: int = 9, width: int = 11, seed: int = 1) -> Network:
    """y = leaky_relu(conv2d(x)) + x."""
    rng = np.random.default_rng(seed)
    graph = Graph(name="small")
    shape = (1, height, width, 6)
    x = Value("x", TensorType(DType.F32, shape))
    graph.inputs.append(x)

    def node(op: Operator, *inputs: Value) -> Value:
        graph.nodes.append(graph.new_node(op, list(inputs), name=op.name))
        return graph.nodes[-1].outputs[0]

    weights = graph.new_constant("weights", rng.standard_normal((6, 3, 3, 6), np.float32) / 6)
    bias = graph.new_constant("bias", rng.standard_normal(6, np.float32))
    convolved = node(Conv2d(pads=(1, 1, 1, 1)), x, weights, bias)
    graph.outputs = [node(Add(), node(LeakyRelu(0.1), convolved), x)]
    inputs = {"x": rng.standard_normal(shape, np.float32)}
    model = container.write(on_device(graph, mode), name="small")
    return Network(model, inputs, evaluate(graph, inputs), _TOLERANCE[mode.storage])


def small_library() -> Library:
    """Holds what the small network needs, for the device and for the CPU."""
    return device_library(OPERATORS)
