"""What lies where in both memories while a kmodel is read as a graph: parts of values, the last written one on top."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from buildtool.ir.graph import Graph, Value
from buildtool.ir.operator import Array
from buildtool.ir.types import DType
from buildtool.ops.registry import builtin
from buildtool.targets.k210.format import layout
from buildtool.targets.k210.generation.rules import NotHereError, shape_of


class Nodes:
    """Adds nodes to a graph, in double precision: whole numbers of the KPU are exact there."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.name = ""  # of the layer that they are made for
        self._operators = builtin()

    def __call__(self, op: str, *inputs: Value | float | Sequence[float] | Array, **attributes: Any) -> Value:
        operands = [one if isinstance(one, Value) else self.constant(one) for one in inputs]
        node = self.graph.new_node(self._operators[op](**attributes), operands, self.name, hint=op)
        self.graph.nodes.append(node)
        return node.outputs[0]

    def constant(self, array: float | Sequence[float] | Array) -> Value:
        return self.graph.new_constant(self.name or "constant", np.array(array, np.float64))

    def part(self, x: Value, starts: Sequence[int], sizes: Sequence[int], steps: Sequence[int] | None = None) -> Value:
        """Itself where that is all of it."""
        if tuple(sizes) == shape_of(x):
            return x
        steps = tuple(steps or [1] * len(sizes))
        return self("slice", x, starts=tuple(starts), sizes=tuple(sizes), steps=steps)

    def reshaped(self, x: Value, *shape: int) -> Value:
        return x if shape == shape_of(x) else self("reshape", x, shape=shape)

    def turned(self, x: Value, *perm: int) -> Value:
        return self("transpose", x, perm=perm)

    def cast(self, x: Value, dtype: DType) -> Value:
        return self("cast", x, to=dtype)

    def joined(self, parts: Sequence[Value], axis: int) -> Value:
        return parts[0] if len(parts) == 1 else self("concat", *parts, axis=axis)


# -- main memory -------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class _Numbers:
    """Bytes `start..end` hold a list of numbers, from a byte of it on."""

    start: int
    end: int
    value: Value
    skipped: int
    element: int


class MainMemory:
    """Lists of bytes and of floats."""

    def __init__(self, nodes: Nodes) -> None:
        self._nodes = nodes
        self._parts: list[_Numbers] = []

    def write(self, start: int, value: Value, element: int) -> None:
        """A list of numbers that have `element` bytes each."""
        (count,) = shape_of(value)
        end = start + count * element
        left: list[_Numbers] = []
        for part in self._parts:
            if part.start < start:
                left.append(replace(part, end=min(part.end, start)))
            if part.end > end:
                ahead = max(end, part.start)
                left.append(replace(part, start=ahead, skipped=part.skipped + ahead - part.start))
        self._parts = sorted([*left, _Numbers(start, end, value, 0, element)], key=lambda one: one.start)

    def element_at(self, start: int) -> int:
        """How many bytes the numbers have that lie there; 1 where nothing does."""
        return next((part.element for part in self._parts if part.start <= start < part.end), 1)

    def read(self, start: int, count: int, element: int) -> Value:
        """What nobody wrote is 0. NotHereError where numbers of another size lie there."""
        at, end = start, start + count * element
        found: list[Value] = []
        for part in self._parts:
            if part.end <= at or part.start >= end:
                continue
            if part.start > at:
                found.append(self._zeros(part.start - at, element))
                at = part.start
            stop = min(part.end, end)
            begin = at - part.start + part.skipped
            if part.element != element or begin % element or (stop - at) % element:
                raise NotHereError(
                    f"it reads elements of {element} bytes at {at} of main memory",
                    f"elements of {part.element} bytes are stored there",
                    "a graph has whole elements only; the simulator runs such files",
                )
            found.append(self._nodes.part(part.value, [begin // element], [(stop - at) // element]))
            at = stop
        if at < end or not found:
            found.append(self._zeros(end - at, element))
        return self._nodes.joined(found, 0)

    def _zeros(self, size: int, element: int) -> Value:
        return self._nodes.constant(np.zeros(size // element))


# -- the KPU's RAM -----------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class _Planes:
    """Units `start..end` hold planes [1, rows, columns, channels], from a channel of them on."""

    start: int
    end: int
    value: Value
    first: int


class PlaneMemory:
    """Planes of bytes."""

    def __init__(self, nodes: Nodes) -> None:
        self._nodes = nodes
        self._parts: list[_Planes] = []

    def write(self, start: int, value: Value) -> None:
        _, height, width, channels = shape_of(value)
        end = start + layout.units(width, height, channels)
        left: list[_Planes] = []
        for part in self._parts:
            rows, columns = shape_of(part.value)[1:3]
            group, plane = _grouping(columns, rows)
            if part.start < start:
                whole = (min(part.end, start) - part.start) // plane
                left.append(replace(part, end=part.start + whole * plane))
            if part.end > end:
                gone = max(0, -(-(end - part.start) // plane))
                left.append(replace(part, start=part.start + gone * plane, first=part.first + gone * group))
        left = [part for part in left if part.start < part.end]
        self._parts = sorted([*left, _Planes(start, end, value, 0)], key=lambda one: one.start)

    def read(self, start: int, channels: int, height: int, width: int) -> Value:
        """What nobody wrote is 0. NotHereError where planes of another size lie there."""
        group, plane = _grouping(width, height)
        at, end = start, start + layout.units(width, height, channels)
        found: list[Value] = []
        wanted = channels
        for part in self._parts:
            if part.end <= at or part.start >= end or not wanted:
                continue
            if part.start > at:
                missing = min(wanted, (part.start - at) // plane * group)
                found.append(self._zeros(height, width, missing))
                wanted, at = wanted - missing, part.start
            _, rows, columns, all_channels = shape_of(part.value)
            if (rows, columns) != (height, width) or (at - part.start) % plane:
                raise NotHereError(
                    f"it reads planes of {height} x {width} at unit {at} of the KPU's RAM",
                    f"planes of {rows} x {columns} are stored there, from unit {part.start} on",
                    "a graph has whole planes only; the simulator runs such files",
                )
            first = part.first + (at - part.start) // plane * group
            count = min(wanted, (part.end - at) // plane * group, all_channels - first)
            found.append(self._nodes.part(part.value, [0, 0, 0, first], [1, height, width, count]))
            wanted, at = wanted - count, part.end
        if wanted:
            found.append(self._zeros(height, width, wanted))
        return self._nodes.joined(found, 3)

    def _zeros(self, height: int, width: int, channels: int) -> Value:
        return self._nodes.constant(np.zeros((1, height, width, channels)))


def _grouping(width: int, height: int) -> tuple[int, int]:
    """Channels that share rows, and the units that they take."""
    rows = layout.row_layout(width)
    return rows.group, rows.row_units * height
