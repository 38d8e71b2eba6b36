"""What cases of quantised numbers are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from buildtool.ir.evaluate import evaluate
from buildtool.ir.graph import Graph, Value
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
    values = []
    for index, operand in enumerate(operands):
        if operand.constant:
            value = graph.new_constant(f"c{index}", operand.array)
            value.type = operand.type
        else:
            value = Value(f"x{index}", operand.type)
            graph.inputs.append(value)
        values.append(value)
    node = graph.new_node(op, values, op.name, stored=list(results))
    graph.nodes.append(node)
    graph.outputs = list(node.outputs)
    inputs = tuple(operand.array for operand in operands if not operand.constant)
    found = evaluate(graph, {value.name: array for value, array in zip(graph.inputs, inputs, strict=True)})
    return NativeCase(name, graph, inputs, tuple(found[value.name] for value in graph.outputs))


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
