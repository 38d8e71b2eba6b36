"""Whether two graphs are one and the same network, whatever things are called and in which order they stand."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from buildtool.ir.graph import Graph, Node, Value
from buildtool.ir.operator import Array


def differences(graph: Graph, other: Graph, tolerance: float) -> list[str]:
    """What differs, followed from the outputs: operators and their attributes, shapes, constants.

    Constants may differ by `tolerance`, or by that part of themselves where they are above 1.
    """
    found = [
        f"{len(one)} {what} and {len(two)}"
        for what, one, two in (
            ("inputs", graph.inputs, other.inputs),
            ("outputs", graph.outputs, other.outputs),
            ("nodes", graph.nodes, other.nodes),
        )
        if len(one) != len(two)
    ]
    return found or list(_Walk(graph, other, tolerance).differences())


class _Walk:
    def __init__(self, graph: Graph, other: Graph, tolerance: float) -> None:
        self._producers = graph.producers(), other.producers()
        self._tolerance = tolerance
        self._waiting = list(zip(graph.outputs, other.outputs, strict=True))
        self._same = dict(zip(graph.inputs, other.inputs, strict=True))

    def differences(self) -> Iterator[str]:
        while self._waiting:
            one, two = self._waiting.pop()
            if one in self._same:
                if self._same[one] is not two:
                    yield f"{one} stands for {self._same[one]} and for {two}"
                continue
            self._same[one] = two
            if one.type != two.type:
                yield f"{one} and {two}"
            elif one.constant is not None and two.constant is not None:
                yield from self._constants(one, one.constant, two.constant)
            else:
                yield from self._nodes(one, two)

    def _constants(self, value: Value, one: Array, two: Array) -> Iterator[str]:
        apart = np.abs(one.astype(np.float64) - two) / np.maximum(1, np.abs(one))
        if apart.size and not apart.max() <= self._tolerance:
            yield f"{value}: constants differ by {apart.max():.3g}"

    def _nodes(self, one: Value, two: Value) -> Iterator[str]:
        node, other = self._producers[0].get(one), self._producers[1].get(two)
        if node is None or other is None:
            yield f"{_made(node)} and {_made(other)}"
        elif node.op != other.op or len(node.inputs) != len(other.inputs) or node.regions or other.regions:
            yield f"{node} with {node.op} and {other} with {other.op}"
        else:
            self._waiting += zip(node.inputs, other.inputs, strict=True)


def _made(node: Node | None) -> str:
    return "what nothing makes" if node is None else str(node)
