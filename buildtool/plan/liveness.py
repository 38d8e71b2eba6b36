"""When each value must be in memory: from the node that makes it to the last one that reads it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from buildtool.errors import UnsupportedError, Where
from buildtool.ir.dims import evaluate, symbols
from buildtool.ir.graph import Graph, Region, Value
from buildtool.plan.plan import ALIGNMENT

MAX_BYTES = 2**40  # a larger value is a sign of a dimension without a bound


@dataclass(frozen=True)
class Lifetime:
    """The nodes, by number in the graph's body, during which a value is live: `first..last`, both included.

    -1 is the time before the first node, the number of nodes is the time after the last one. Graph inputs live from end
    to end, since a session may run again without writing them anew.
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


def lifetimes(graph: Graph) -> dict[Value, Lifetime]:
    """The lifetime of every value that lives in the arena: all but constants, in order of first appearance.

    What is made or read in a region of a node counts as made and read by that node, for all of its duration: a region
    may run many times, and several regions of a node exclude each other only at run time.
    """
    end = len(graph.nodes)
    first: dict[Value, int] = {}
    last: dict[Value, int] = {}

    def touch(values: Iterable[Value], time: int) -> None:
        for value in values:
            if not value.is_constant:
                first.setdefault(value, time)
                last[value] = time

    touch(graph.inputs, -1)
    for time, node in enumerate(graph.nodes):
        touch(node.inputs, time)
        for region in node.regions:
            touch(_touched(region), time)
        touch(node.outputs, time)
    touch(graph.outputs, end)
    for value in graph.inputs:
        last[value] = end
    return {value: Lifetime(value, byte_size(graph, value), first[value], last[value]) for value in first}


def _touched(region: Region) -> Iterable[Value]:
    """Everything that a region and the regions in it make or read."""
    yield from region.inputs
    for node in region.walk():
        yield from node.inputs
        yield from node.outputs
        for inner in node.regions:
            yield from inner.inputs
            yield from inner.outputs
    yield from region.outputs


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
