"""When each value must be in memory: from the node that makes it to the last one that reads it.

The runtime works the same out for itself, and refuses plans that do not fit it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from buildtool.errors import UnsupportedError, Where
from buildtool.ir.dims import evaluate, symbols
from buildtool.ir.graph import Graph, Node, Region, Value
from buildtool.plan.plan import ALIGNMENT

MAX_BYTES = 2**40  # a larger value is a sign of a dimension without a bound


@dataclass(frozen=True)
class Lifetime:
    """The steps (see `steps`) during which a value is live: `first..last`, both included.

    Graph inputs live from end to end, since a session may run again without writing them anew.
    """

    value: Value
    size: int  # bytes
    first: int
    last: int

    @property
    def room(self) -> int:
        """Bytes that it takes in the arena."""
        return -(-self.size // ALIGNMENT) * ALIGNMENT


def upper_shape(value: Value) -> tuple[int, ...]:
    """The shape where every symbol is at its upper bound."""
    highest = {symbol.name: symbol.high for dim in value.type.shape for symbol in symbols(dim)}
    return tuple(evaluate(dim, highest) for dim in value.type.shape)


def byte_size(graph: Graph, value: Value) -> int:
    """Bytes of a value at the upper bounds. UnsupportedError where that is beyond reason."""
    size = math.prod(max(dim, 0) for dim in upper_shape(value)) * value.type.dtype.itemsize
    if size > MAX_BYTES:
        raise UnsupportedError(
            f"the value of type {value.type} may need {size} bytes",
            where=Where(model=graph.name, value=value.name),
            rule="memory is planned for the upper bounds of all dimensions",
            remedy="give the inputs tighter bounds",
        )
    return size


def steps(graph: Graph) -> dict[Node, int]:
    """The step of every node: 0 is before the first, and every node has one in the order of `graph.walk()`.

    The end of each region of a node is a step of its own, where the node's kernel takes what the region gives. The
    runtime counts alike (native/runtime/session_setup.cc).
    """
    return _Walk(graph).step_of


def lifetimes(graph: Graph) -> dict[Value, Lifetime]:
    """The lifetime of every value that lives in the arena: all but constants, in order of first appearance.

    A region may run many times: what it reads from around it, its inputs and the results of its node live until the
    node ends. What it makes itself need not outlive one run, its outputs live until the step in which it ends.
    """
    walk = _Walk(graph)
    return {
        value: Lifetime(value, byte_size(graph, value), walk.first[value], walk.last[value]) for value in walk.first
    }


class _Walk:
    """Counts the steps, and notes when values are made and read."""

    def __init__(self, graph: Graph) -> None:
        self.first: dict[Value, int] = {}
        self.last: dict[Value, int] = {}
        self.step_of: dict[Node, int] = {}
        self._made(graph.inputs, 0)
        end = self._region(graph, 1)
        self._read([*graph.inputs, *graph.outputs], end)

    def _made(self, values: Iterable[Value], step: int) -> None:
        for value in values:
            self.first[value] = self.last[value] = step

    def _read(self, values: Iterable[Value], step: int) -> None:
        for value in values:
            if not value.is_constant:
                self.last[value] = max(self.last[value], step)

    def _region(self, region: Region, step: int) -> int:
        """Walks the nodes of a region, and gives the step behind them."""
        for node in region.nodes:
            self.step_of[node] = first = step
            step += 1
            self._made(node.outputs, first)
            self._read(node.inputs, first)
            for inner in node.regions:
                self._made(inner.inputs, first)
                step = self._region(inner, step)
                self._read(inner.outputs, step)
                step += 1
            if node.regions:
                self._read(node.captured(), step - 1)
                self._read(node.outputs, step - 1)
                for inner in node.regions:
                    self._read(inner.inputs, step - 1)
        return step


def lower_bound(lives: Iterable[Lifetime]) -> int:
    """The most bytes that are live at one time if nothing shares memory: what an arena without sharing cannot beat."""
    changes: dict[int, int] = {}
    for life in lives:
        changes[life.first] = changes.get(life.first, 0) + life.room
        changes[life.last + 1] = changes.get(life.last + 1, 0) - life.room
    most = now = 0
    for time in sorted(changes):
        now += changes[time]
        most = max(most, now)
    return most
