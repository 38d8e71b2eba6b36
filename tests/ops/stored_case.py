"""What cases of quantised numbers are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from buildtool.ir.dims import Dim
from buildtool.ir.evaluate import evaluate
from buildtool.ir.graph import Graph, Node, Value
from buildtool.ir.operator import Array, Operator
from buildtool.ir.types import DType, QuantType, TensorType
from tests.ops.inputs import Rng
from tests.ops.native_cases import NativeCase

ACTIVATIONS: tuple[dict[str, Any], ...] = (
    {},
    {"activation": "relu"},
    {"activation": "clip", "activation_alpha": -1.5, "activation_beta": 2.25},
)


@dataclass(frozen=True)
class Operand:
    """Numbers as they are stored."""

    array: Array
    quant: QuantType | None
    constant: bool = False

    @property
    def type(self) -> TensorType:
        """What the graph says of them."""
        return TensorType(DType(word_of(self.array)), tuple(self.array.shape), self.quant)


def word_of(array: Array) -> str:
    return f"{array.dtype.kind.replace('i', 's')}{8 * array.dtype.itemsize}"  # f32, s8, u16 ...


Storage = tuple[DType, QuantType] | None  # None: the numbers are what they are


def stored_case(name: str, op: Operator, operands: Sequence[Operand], *results: Storage) -> NativeCase:
    """One node; what it gives is what the evaluator says."""
    graph = Graph(name="case")
    add_stored(graph, op, [add_operand(graph, operand) for operand in operands], results)
    inputs = tuple(operand.array for operand in operands if not operand.constant)
    return NativeCase(name, graph, inputs, evaluated(graph, inputs))


def add_operand(graph: Graph, operand: Operand, shape: Sequence[Dim] | None = None) -> Value:
    """A constant, or an input of the graph. `shape`: what the graph says of it, where it is not its own."""
    index = len(graph.inputs)
    if operand.constant:
        value = graph.new_constant(f"c{index}", operand.array)
        value.type = operand.type
        return value
    value = Value(f"x{index}", operand.type if shape is None else replace(operand.type, shape=tuple(shape)))
    graph.inputs.append(value)
    return value


def add_stored(graph: Graph, op: Operator, inputs: Sequence[Value], results: Sequence[Storage]) -> Node:
    """A node whose results are those of the graph now."""
    node = graph.new_node(op, inputs, op.name, stored=list(results))
    graph.nodes.append(node)
    graph.outputs = list(node.outputs)
    return node


def evaluated(graph: Graph, inputs: Sequence[Array]) -> tuple[Array, ...]:
    found = evaluate(graph, {value.name: array for value, array in zip(graph.inputs, inputs, strict=True)})
    return tuple(found[value.name] for value in graph.outputs)


def whole(rng: Rng, shape: Sequence[int], dtype: Any = np.int8) -> Array:
    """Any numbers of a type."""
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max + 1, tuple(shape)).astype(dtype)


def one_scale(rng: Rng, dtype: Any = np.int8, low: float = 0.01, high: float = 0.1) -> QuantType:
    limits = np.iinfo(dtype)
    zero = int(rng.integers(limits.min, limits.max + 1)) if rng.random() < 0.8 else 0
    return QuantType((float(np.float32(rng.uniform(low, high))),), (zero,), bits=limits.bits)


def bias_of(rng: Rng, of_x: QuantType, scales: Sequence[float]) -> Operand:
    """A number for each output, in steps of the sums of products."""
    steps = tuple(float(np.float32(of_x.scales[0]) * np.float32(scale)) for scale in scales)
    array = rng.integers(-9000, 9000, len(scales)).astype(np.int32)
    return Operand(array, QuantType(steps, (0,) * len(scales), 0), True)
