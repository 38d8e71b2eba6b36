"""Inputs and outputs that are stored numbers become the real ones that these stand for, for chips that store their own.

A model that computes in 8 bits from end to end begins with what dequantises its input, and ends with what quantises its
output. Where a target decides how numbers are stored, both are the business of whoever feeds it: `Borders` does it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from buildtool.ir.graph import Graph, Node, Value
from buildtool.ir.operator import Array
from buildtool.ir.quantised import dequantised, quantised
from buildtool.ir.types import DType, TensorType
from buildtool.ir.verify import verify
from buildtool.ops.dequantize_linear import DequantizeLinear
from buildtool.ops.pad import Pad
from buildtool.ops.quantize_linear import QuantizeLinear
from buildtool.passes.real_numbers import parameters, signed


@dataclass(frozen=True)
class Borders:
    """How the model stores those inputs and outputs that are real numbers in its graph now, by name."""

    inputs: Mapping[str, TensorType] = field(default_factory=dict)
    outputs: Mapping[str, TensorType] = field(default_factory=dict)

    def real(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """What the graph reads, of what the model reads."""
        return {
            name: dequantised(array, self.inputs[name]).astype("float32") if name in self.inputs else array
            for name, array in inputs.items()
        }

    def stored(self, outputs: Mapping[str, Array]) -> dict[str, Array]:
        """What the model gives, of what the graph gives."""
        return {
            name: quantised(array, self.outputs[name]) if name in self.outputs else array
            for name, array in outputs.items()
        }


def take(graph: Graph) -> Borders:
    """Take the borders off, in place, of a graph that RealNumbers has been through. Other passes may find more then."""
    inputs: dict[str, TensorType] = {}
    outputs: dict[str, TensorType] = {}
    for index, value in enumerate(list(graph.inputs)):
        if (type_ := _input(graph, index, value)) is not None:
            inputs[value.name] = type_
    for index, value in enumerate(list(graph.outputs)):
        if (type_ := _output(graph, index, value)) is not None:
            outputs[value.name] = type_
    verify(graph)
    return Borders(inputs, outputs)


def _input(graph: Graph, index: int, value: Value) -> TensorType | None:
    """How an input was stored that is a real number now, with what moved it in front of the conversion."""
    moved: list[Node] = []
    last = value
    while (reader := _only_reader(graph, last)) is not None and not isinstance(reader.op, DequantizeLinear):
        if not reader.op.keeps_numbers or reader.regions or reader.inputs[0] is not last:
            return None
        moved.append(reader)
        last = reader.outputs[0]
    if reader is None:
        return None
    real, quant = reader.outputs[0], parameters(reader.inputs[1:], reader.op)
    if quant is None or quant.axis is not None:
        return None
    stored = value.type
    graph.remove_nodes(lambda other: other is reader)
    if not moved:
        graph.inputs[index] = _named(graph, real, value)
        return replace(stored, quant=quant)
    now = Value(value.name, TensorType(DType.F32, stored.shape), value.source_names)
    graph.inputs[index] = now
    graph.ranges.setdefault(now.name, graph.range_of(real) or signed(stored.dtype, quant))
    for node in moved:
        node.inputs = [now, *node.inputs[1:]]
        if isinstance(node.op, Pad):
            node.op = replace(node.op, value=float(dequantised(np.array(node.op.value), replace(stored, quant=quant))))
        before = node.outputs[0]
        now = real if node is moved[-1] else Value(before.name, TensorType(DType.F32, before.type.shape))
        node.outputs = [now]
    return replace(stored, quant=quant)


def _only_reader(graph: Graph, value: Value) -> Node | None:
    readers = graph.users().get(value, [])
    outputs = [output for body in graph.bodies() for output in body.outputs]
    return readers[0] if len(readers) == 1 and value not in outputs and readers[0] in graph.nodes else None


def _output(graph: Graph, index: int, value: Value) -> TensorType | None:
    node = next((node for node in graph.nodes if value in node.outputs), None)
    if node is None or not isinstance(node.op, QuantizeLinear) or value in graph.users():
        return None
    real, quant = node.inputs[0], parameters(node.inputs[1:], node.op)
    if (
        quant is None
        or quant.axis is not None
        or real in (*graph.inputs, *graph.outputs)
        or real.is_constant
        or graph.outputs.count(value) > 1
    ):
        return None
    graph.remove_nodes(lambda other: other is node)
    graph.outputs[index] = _named(graph, real, value)
    return TensorType(value.type.dtype, value.type.shape, quant)


def _named(graph: Graph, real: Value, value: Value) -> Value:
    """The real number under the name that users know. What was known of its range stays known."""
    known = graph.range_of(real) or graph.range_of(value)
    real.source_names = tuple(dict.fromkeys((*value.source_names, *real.source_names)))
    real.name = value.name
    if known is not None:
        graph.ranges.setdefault(real.name, known)
    return real
