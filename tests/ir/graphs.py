"""Small graphs and operators that the tests of the graph share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.dims import Symbol, symbol
from buildtool.ir.graph import Graph, Region, Value
from buildtool.ir.operator import Operator
from buildtool.ir.types import DType, TensorType
from buildtool.ops.add import Add
from buildtool.ops.conv2d import Conv2d
from buildtool.ops.mul import Mul
from buildtool.ops.relu import Relu
from buildtool.ops.reshape import Reshape
from buildtool.ops.split import Split

N = Symbol("N", 1, 8)


def f32(*shape: object) -> TensorType:
    return TensorType(DType.F32, tuple(shape))  # type: ignore[arg-type]


@dataclass(frozen=True)
class Branch(Operator):
    """An operator with two regions: it has the type of its second input."""

    name: ClassVar[str] = "branch"
    arity: ClassVar[tuple[int, int | None]] = (2, 2)
    regions: ClassVar[int] = 2

    note: str
    weights: tuple[float, ...]
    words: tuple[str, ...]

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        return (self.operands(inputs)[1],)


def convolution() -> Graph:
    """x[N,7,7,4] -> conv2d -> split -> reshape, mul; with large and small constants, source names and a symbol."""
    rng = np.random.default_rng(0)
    graph = Graph(name='a "model"', symbols={"N": N})
    n = symbol("N", 1, 8)
    x = Value("x", f32(n, 7, 7, 4), ("image:0", "a/b"))
    graph.inputs = [x]
    w = graph.new_constant("w", rng.standard_normal((6, 3, 3, 4)).astype(np.float32))
    b = graph.new_constant("b", rng.standard_normal(6).astype(np.float32))
    op = Conv2d(activation="clip", activation_alpha=-0.1, activation_beta=np.inf)
    graph.nodes.append(graph.new_node(op, [x, w, b], "Conv_0"))
    graph.nodes.append(graph.new_node(Split(3, (2, 4)), graph.nodes[0].outputs))
    first, second = graph.nodes[1].outputs
    graph.nodes.append(graph.new_node(Reshape((n * 50,)), [first]))
    graph.nodes.append(graph.new_node(Mul(), [second, second], hint="odd name: é %"))
    graph.outputs = [graph.nodes[2].outputs[0], graph.nodes[3].outputs[0]]
    return graph


def branches() -> Graph:
    """A node with two regions that read values from outside; the first holds a constant and is nested."""
    graph = Graph(name="branches")
    condition, x = Value("condition", TensorType(DType.BOOL, ())), Value("x", f32(3))
    graph.inputs = [condition, x]
    offset = graph.new_constant("offset", np.array([0.5, -0.0, np.inf], np.float32))
    inner_input = Value("carried", f32(3))
    inner = Region(inputs=[inner_input], nodes=[graph.new_node(Add(), [inner_input, offset])])
    inner.outputs = [inner.nodes[0].outputs[0]]
    other = Region(nodes=[graph.new_node(Relu(), [x])])
    other.outputs = [other.nodes[0].outputs[0]]
    op = Branch('say "so"\n', (0.1, np.inf), ("a", "b, c"))
    graph.nodes.append(graph.new_node(op, [condition, x], "If_0", regions=[inner, other]))
    graph.outputs = [graph.nodes[0].outputs[0], offset]
    return graph
