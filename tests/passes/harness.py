"""Makes small graphs, runs passes on them, and compares what is computed before and after."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from buildtool.ir.dims import DimExpr
from buildtool.ir.dims import evaluate as evaluate_dim
from buildtool.ir.evaluate import evaluate
from buildtool.ir.graph import Graph, Node, Value
from buildtool.ir.operator import Array, Operator
from buildtool.ir.types import DType, TensorType
from buildtool.ir.verify import verify
from buildtool.ops.registry import builtin
from buildtool.passes.base import Pass

NCHW, NHWC = (0, 3, 1, 2), (0, 2, 3, 1)  # the transposes to these orders
CONV = {"strides": (1, 1), "pads": (0, 0, 0, 0), "dilations": (1, 1)}


class Maker:
    """A graph under construction; every node is named after its number and its output has a source name."""

    def __init__(self) -> None:
        self.graph = Graph(name="test")

    def input(self, *shape: int | DimExpr, dtype: DType = DType.F32) -> Value:
        value = self.graph.new_value("x", TensorType(dtype, tuple(shape)))
        for dim in shape:
            if isinstance(dim, DimExpr) and dim.symbol is not None:
                self.graph.symbols[dim.symbol.name] = dim.symbol
        self.graph.inputs.append(value)
        return value

    def constant(self, array: Array | float) -> Value:
        return self.graph.new_constant("c", np.asarray(array, np.float32))

    def random(self, *shape: int, low: float = -1.0) -> Value:
        return self.constant(random(*shape, low=low))

    def operator(self, op: str, **attributes: Any) -> Operator:
        return builtin()[op](**attributes)

    def all(self, op: str, *inputs: Value, **attributes: Any) -> list[Value]:
        return self.insert(self.graph.new_node(self.operator(op, **attributes), inputs))

    def insert(self, node: Node) -> list[Value]:
        """Appends a node and gives its outputs."""
        node.name = f"{node.op.name}_{len(self.graph.nodes)}"
        self.graph.nodes.append(node)
        for index, value in enumerate(node.outputs):
            value.source_names = (f"{node.name}:{index}",)
        return node.outputs

    def __call__(self, op: str, *inputs: Value, **attributes: Any) -> Value:
        return self.all(op, *inputs, **attributes)[0]

    def conv(self, x: Value, channels: int, kernel: int = 3, bias: bool = False) -> Value:
        """A convolution of a channels-last value."""
        depth = x.type.shape[-1]
        assert isinstance(depth, int)
        rest = [self.random(channels)] if bias else []
        return self("conv2d", x, self.random(channels, kernel, kernel, depth), *rest, **CONV)

    def wrapped_conv(self, x: Value, channels: int, kernel: int = 1) -> Value:
        """A convolution as importers write it: from and to [N, C, H, W]."""
        return self("transpose", self.conv(self("transpose", x, perm=NHWC), channels, kernel), perm=NCHW)

    def finish(self, *outputs: Value) -> Graph:
        for index, value in enumerate(outputs):
            value.name = f"out{index}"
        self.graph.outputs = list(outputs)
        verify(self.graph)
        return self.graph


def random(*shape: int, low: float = -1.0, seed: int = 0) -> Array:
    return np.random.default_rng((seed, *shape)).uniform(low, 1.0, shape).astype(np.float32)


def ops(graph: Graph) -> list[str]:
    return [node.op.name for node in graph.nodes]


def names(graph: Graph) -> set[str]:
    """All source names that are left."""
    return {name for value in graph.values() for name in value.source_names}


def apply(graph: Graph, *passes: type[Pass] | Pass, sizes: Sequence[dict[str, int]] = ({},)) -> bool:
    """Runs passes; the outputs must be the same before and after, in value, name and order, and the contract kept.

    `sizes`: numbers for the symbols of the graph, one comparison for each.
    """
    before = graph.clone()
    changed = False
    for one in passes:
        instance = one() if isinstance(one, type) else one
        changed |= instance.run(graph)
        verify(graph)
        assert not list(instance.ensures(graph)), instance.name
        if isinstance(one, type):
            assert not one().run(graph.clone()), f"a second run of {instance.name} finds something to do"
    for numbers in sizes:
        inputs = {value.name: _input(value, numbers, index) for index, value in enumerate(graph.inputs)}
        old, new = evaluate(before, inputs), evaluate(graph, inputs)
        assert list(old) == list(new)
        for value, was in zip(graph.outputs, before.outputs, strict=True):
            left, right = old[was.name], new[value.name]
            assert value.name == was.name
            assert set(was.source_names) <= set(value.source_names)
            assert left.dtype == right.dtype
            np.testing.assert_allclose(left, right, rtol=1e-5, atol=1e-5)
    return changed


def _input(value: Value, numbers: dict[str, int], seed: int) -> Array:
    shape = [evaluate_dim(dim, numbers) for dim in value.type.shape]
    array = random(*shape, seed=seed)
    return array if value.type.dtype.is_float else (array * 10).astype(value.type.dtype.numpy)
