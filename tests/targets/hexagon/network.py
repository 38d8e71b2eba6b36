"""A small network of bytes that runs on the DSP as one part, for tests of what is around kernels."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from buildtool.codegen.container import Container
from buildtool.ir.graph import Graph, Value
from buildtool.ir.operator import Array
from buildtool.ir.types import DType, QuantType, TensorType
from buildtool.ops.add import Add
from buildtool.ops.conv2d import Conv2d
from buildtool.runtime import DeviceKind
from buildtool.targets.protocol import HexagonSettings
from tests.ops.stored_case import Operand, add_operand, bias_of, whole
from tests.targets.hexagon.dsp_library import DspLibrary, dsp_library, on_dsp


@dataclass(frozen=True)
class Network:
    """A model, what goes in, and what the CPU makes of it."""

    model: Container
    inputs: Mapping[str, Array]
    expected: Mapping[str, Array]

    def check(self, results: Mapping[str, Array]) -> None:
        for name, wanted in self.expected.items():
            np.testing.assert_array_equal(results[name], wanted)


def small_library() -> DspLibrary:
    """Holds what the small network needs, for the DSP and for the CPU."""
    return dsp_library(frozenset({"conv2d", "add"}))


@functools.cache
def small_network(*, unsigned: bool = True) -> Network:
    """y = conv2d(x) + x, with 9 rows of 11 pixels of 40 channels."""
    rng = np.random.default_rng(1)
    graph = Graph(name="small")
    stored = QuantType((0.05,), (3,), bits=8)
    x = Value("x", TensorType(DType.S8, (1, 9, 11, 40), stored))
    graph.inputs.append(x)
    scales = tuple(float(np.float32(scale)) for scale in rng.uniform(0.002, 0.02, 40))
    weights = Operand(whole(rng, (40, 3, 3, 40)), QuantType(scales, (0,) * 40, 0), True)
    operands = [x, add_operand(graph, weights), add_operand(graph, bias_of(rng, stored, scales))]
    convolved = graph.new_node(
        Conv2d(pads=(1, 1, 1, 1)), operands, stored=[(DType.S8, QuantType((0.4,), (-7,), bits=8))]
    )
    added = graph.new_node(Add(), [convolved.outputs[0], x], stored=[(DType.S8, QuantType((0.3,), (0,), bits=8))])
    graph.nodes = [convolved, added]
    graph.outputs = list(added.outputs)
    model = on_dsp(graph, HexagonSettings(unsigned=unsigned))
    inputs = {"x": whole(rng, (1, 9, 11, 40))}
    expected = small_library().engine(model, DeviceKind.CPU).run(inputs)
    return Network(model, inputs, expected)
