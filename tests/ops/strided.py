"""Cases whose operands have rows that lie apart: cut out of a wider tensor, and part of what a concat makes.

Kernels whose manifest says that they read or write such rows run each of their cases this way, too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np

from buildtool.ir.graph import Graph, Node, Value
from buildtool.ir.operator import Array
from buildtool.ir.types import TensorType, dtype_of
from buildtool.ops.concat import Concat
from buildtool.ops.slice import Slice
from buildtool.plan.manifest import KernelInfo
from tests.ops.case import OpCase

_BEFORE, _BEHIND = 3, 2  # elements of other values around each row


def strides_of(case: OpCase, kernel: KernelInfo) -> tuple[bool, bool]:
    """Whether the case is one where the rows of input 0, and those of the output, may lie apart."""
    cut = 0 in kernel.strided_inputs and 0 not in case.constants and _has_rows(case.inputs[0])
    results = case.op.reference(*case.inputs) if kernel.strided_output else ()
    return cut, kernel.strided_output and len(results) == 1 and _has_rows(results[0])


def _has_rows(array: Array) -> bool:
    return array.ndim > 1 and array.size > 0 and math.prod(array.shape[:-1]) > 1


def strided_graph(case: OpCase, cut: bool, joined: bool) -> tuple[Graph, tuple[Array, ...], tuple[Array, ...]]:
    """Slice, the node of the case, concat; what goes in and what has to come out."""
    graph = Graph(name="case")
    given: list[Array] = []
    operands = []
    for index, array in enumerate(case.inputs):
        if index in case.constants:
            operands.append(graph.new_constant(f"c{index}", array))
        elif index == 0 and cut:
            wide = np.pad(array, [(0, 0)] * (array.ndim - 1) + [(_BEFORE, _BEHIND)], constant_values=1)
            source = _input(graph, given, wide)
            starts = (*[0] * (array.ndim - 1), _BEFORE)
            operands.append(_append(graph, Slice(starts, (1,) * array.ndim, array.shape), source).outputs[0])
        else:
            operands.append(_input(graph, given, array))
    node = graph.new_node(case.op, operands, name=case.op.name)
    graph.nodes.append(node)
    expected = case.op.reference(*case.inputs)
    if not joined:
        graph.outputs = list(node.outputs)
        return graph, tuple(given), tuple(expected)
    (result,) = expected
    around = [np.zeros((*result.shape[:-1], width), result.dtype) for width in (_BEFORE, _BEHIND)]
    before, behind = (_input(graph, given, array) for array in around)
    graph.outputs = _append(graph, Concat(result.ndim - 1), before, node.outputs[0], behind).outputs
    return graph, tuple(given), (np.concatenate([around[0], result, around[1]], axis=-1),)


def _input(graph: Graph, given: list[Array], array: Array) -> Value:
    value = Value(f"x{len(given)}", TensorType(dtype_of(array), tuple(array.shape)))
    graph.inputs.append(value)
    given.append(array)
    return value


def _append(graph: Graph, op: Slice | Concat, *inputs: Value) -> Node:
    node = graph.new_node(op, inputs, name=op.name)
    graph.nodes.append(node)
    return node


def misplaced(graph: Graph, offsets: Mapping[str, int]) -> Iterator[str]:
    """The values that a plan should have put inside of others, and has not."""
    for node in graph.nodes:
        pairs = {"slice": (node.outputs[0], node.inputs[0]), "concat": (node.inputs[-2:][0], node.outputs[0])}
        if node.op.name not in pairs:
            continue
        part, whole = pairs[node.op.name]
        if offsets[part.name] != offsets[whole.name] + _BEFORE * part.type.dtype.itemsize:
            yield part.name
