"""Nodes on stored numbers one by one: each is given what the source runtime had in front of it, and compared in steps.

Errors do not add up that way: what is found is what one node, or several fused ones, does differently.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from buildtool.ir import quantised
from buildtool.ir.evaluate import bind_symbols, evaluate_node
from buildtool.ir.graph import Graph, Node, Value
from buildtool.ir.operator import Array
from buildtool.ir.types import DType, QuantType, TensorType
from buildtool.passes.absorb_channel_orders import AbsorbChannelOrders
from buildtool.passes.arrange_concats import ArrangeConcats
from buildtool.passes.pipeline import ORDER, in_few_bits, optimise

_ORDERS: Mapping[int, Sequence[tuple[int, ...]]] = {3: ((0, 2, 1),), 4: ((0, 2, 3, 1),)}


def stored(graph: Graph) -> Graph:
    """The graph with everything in a few bits that has a range, whether there are kernels for it or not.

    Channels keep their order: tensors that have another one than in the source could not be compared.
    """
    left_out = (AbsorbChannelOrders.name, ArrangeConcats.name)
    optimise(graph, [kind.name for kind in ORDER if kind.name not in left_out], quantised=True)
    in_few_bits(graph, lambda node: "")
    return graph


@dataclass
class Comparison:
    """By how many steps each node's results differ at most, and the part of the elements that differ at all."""

    steps: dict[Node, int] = field(default_factory=dict)
    differing: dict[Node, float] = field(default_factory=dict)
    left_out: list[Node] = field(default_factory=list)
    real: list[Node] = field(default_factory=list)  # nodes on real numbers

    def part(self, *ops: str) -> float:
        """How many of the nodes of these operators have been compared."""
        compared = sum(node.op.name in ops for node in self.steps)
        return compared / (compared + sum(node.op.name in ops for node in self.left_out))

    @property
    def most(self) -> int:
        return max(self.steps.values())

    def worst(self) -> list[tuple[str, str, int]]:
        found = [(node.op.name, node.name, steps) for node, steps in self.steps.items()]
        return sorted(found, key=lambda item: -item[2])[:5]

    def __str__(self) -> str:
        counts = Counter(node.op.name for node in self.steps)
        apart = Counter(self.steps.values())
        share = max(self.differing.values(), default=0.0)
        return (
            f"{dict(counts)} compared, not {dict(Counter(node.op.name for node in self.left_out))}; nodes by steps "
            f"{dict(sorted(apart.items()))}, at most {share:.2%} of the elements of one"
        )


def compare(graph: Graph, tensors: Mapping[str, Array]) -> Comparison:
    """`tensors`: what the source runtime has by name, stored or real."""
    return _Comparing(graph, tensors).run()


class _Comparing:
    def __init__(self, graph: Graph, tensors: Mapping[str, Array]) -> None:
        self._graph = graph
        self._tensors = tensors
        self._values: dict[Value, Array] = {}
        self._symbols: dict[str, int] = {}

    def run(self) -> Comparison:
        found = Comparison()
        for value in self._graph.inputs:
            array = self._source(value)
            assert array is not None, f"the source has no input '{value.name}'"
            self._values[value] = array
        self._symbols = bind_symbols(self._graph, {value.name: array.shape for value, array in self._values.items()})
        for node in self._graph.nodes:
            results = evaluate_node(node, self._values, self._symbols, self._graph)
            wanted = {value: self._source(value, array) for value, array in results.items()}
            whole = [value for value, array in wanted.items() if array is not None and value.type.quant is not None]
            for value, array in results.items():
                self._values[value] = array if wanted[value] is None else wanted[value]  # type: ignore[assignment]
            if not quantised.is_quantised(node):
                found.real += [node] if node.outputs[0].type.dtype is DType.F32 else []
                continue
            if node.outputs[0].type.quant is None:
                continue
            if not whole:
                found.left_out.append(node)
                continue
            apart = [np.abs(results[value].astype(np.int64) - self._values[value]) for value in whole]
            found.steps[node] = max(int(steps.max()) for steps in apart)
            found.differing[node] = max(float(np.mean(steps > 0)) for steps in apart)
            maker = next((one for one in found.left_out if one.outputs == node.inputs), None)
            if node.op.keeps_numbers and maker is not None:  # what it moves are the maker's own results
                found.left_out.remove(maker)
                found.steps[maker], found.differing[maker] = found.steps[node], found.differing[node]
        return found

    def _source(self, value: Value, like: Array | None = None) -> Array | None:
        """What the source runtime has for a value, as the graph stores it; `like` tells the order of its axes."""
        for name in (value.name, *value.source_names):
            array = self._tensors.get(name)
            if array is None:
                continue
            held = _as_stored(array, value, self._graph.range_of(value))
            if held is None:
                continue
            if like is None:
                return held
            fitting = [held, *(held.transpose(order) for order in _ORDERS.get(held.ndim, ()))]
            fitting = [one for one in fitting if one.shape == like.shape]
            if not fitting and _without_ones(held) == _without_ones(like):
                fitting = [held.reshape(like.shape)]
            if fitting:
                return min(fitting, key=lambda one: float(np.abs(one.astype(np.float64) - like).mean()))
        return None


def _without_ones(array: Array) -> list[int]:
    return [size for size in array.shape if size != 1]


def _as_stored(array: Array, value: Value, known: QuantType | None) -> Array | None:
    """A tensor of the source in the numbers of the graph, which have a sign where they are stored."""
    if array.dtype == value.type.dtype.numpy:
        return array
    if value.type.quant is None:
        if known is None or value.type.dtype is not DType.F32 or array.dtype not in (np.uint8, np.int8):
            return None
        signed = array.astype(np.int16) - (128 if array.dtype == np.uint8 else 0)
        type_ = TensorType(DType.S8, array.shape, known)
        return quantised.dequantised(signed, type_).astype(np.float32)
    if array.dtype in (np.float32, np.float64):
        return quantised.quantised(array, value.type)
    if array.dtype == np.uint8 and value.type.dtype is DType.S8:
        return (array.astype(np.int16) - 128).astype(np.int8)
    return None
