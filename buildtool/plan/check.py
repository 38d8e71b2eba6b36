"""Checks a plan by running it on paper. Written from the definition of a correct plan, not from the planner.

The arena is a line of memory on which every node leaves the mark of what it wrote. A plan is correct if each node
finds, at the place of each of its inputs, all of that input and nothing else, and if the graph's outputs and inputs are
whole at the end.

A value may stand inside of another one: what a concat joins, what a slice takes. If it consists of channels, its marks
are stripes.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from buildtool.errors import InternalError, Problem, Where
from buildtool.ir.graph import Graph, Node, Region, Value
from buildtool.ops.concat import Concat
from buildtool.ops.slice import Slice
from buildtool.plan.liveness import byte_size, upper_shape
from buildtool.plan.plan import ALIGNMENT, Placement, Plan, WorksInPlace


@dataclass(frozen=True)
class _Mark:
    """Bytes `begin..end` of the arena hold this content, which starts at `origin`."""

    begin: int
    end: int
    content: str
    origin: int
    stripe: _Stripe | None = None  # all else between `begin` and `end` is not part of it


@dataclass(frozen=True)
class _Stripe:
    """Of every `pitch` bytes those from `left` to `right`."""

    pitch: int
    left: int
    right: int

    def beside(self, other: _Stripe) -> bool:
        return self.pitch == other.pitch and (self.right <= other.left or other.right <= self.left)


@dataclass(frozen=True)
class _Inside:
    """A value that stands inside of another one, where its node would put it."""

    whole: Value
    stripe: _Stripe | None  # None: it is of one piece


def check(graph: Graph, plan: Plan, kernels: Sequence[WorksInPlace]) -> None:
    """InternalError with all problems where the plan lets a value be overwritten before its last use."""
    problems = list(problems_of(graph, plan, kernels))
    if problems:
        raise InternalError(problems)


def problems_of(graph: Graph, plan: Plan, kernels: Sequence[WorksInPlace]) -> Iterator[Problem]:
    """Everything that is wrong with the plan, in the order of execution."""
    places = {placement.value: placement for placement in plan.arena}
    complete = all(value.name in places for value in graph.values() if not value.is_constant)
    complete = complete and len(kernels) == len(plan.kernels)
    inside = _insides(graph, places, kernels) if complete else {}
    yield from _misplaced(graph, plan, places, inside)
    if complete:
        yield from _rigid_uses(graph, kernels, inside)
        yield from _Simulation(graph, places, kernels, inside).run()


def _insides(graph: Graph, places: Mapping[str, Placement], kernels: Sequence[WorksInPlace]) -> dict[Value, _Inside]:
    """The values that a plan puts where a node would copy them to or from. Only the first such node counts."""
    found: dict[Value, _Inside | None] = {}
    for node, kernel in zip(graph.walk(), kernels, strict=True):
        pieces: list[tuple[Value, Value, int]] = []  # part, whole, elements before it
        if kernel.parts == "inputs" and isinstance(node.op, Concat):
            begin = 0
            for value in node.inputs:
                pieces.append((value, node.outputs[0], begin))
                begin += math.prod(upper_shape(value)[node.op.axis :])
        if kernel.parts == "outputs" and isinstance(node.op, Slice) and all(step == 1 for step in node.op.steps):
            source = upper_shape(node.inputs[0])
            starts = [start if isinstance(start, int) else 0 for start in node.op.starts]
            before = sum(start * math.prod(source[axis + 1 :]) for axis, start in enumerate(starts))
            pieces.append((node.outputs[0], node.inputs[0], before))
        for part, whole, begin in pieces:
            if not part.is_constant:
                found.setdefault(part, _inside(places, part, whole, begin * part.type.dtype.itemsize))
    return {value: item for value, item in found.items() if item is not None}


def _inside(places: Mapping[str, Placement], part: Value, whole: Value, before: int) -> _Inside | None:
    if whole.is_constant:
        return None
    inner, outer = places[part.name], places[whole.name]
    if inner.size == 0 or inner.offset != outer.offset + before:
        return None
    small, large = upper_shape(part), upper_shape(whole)
    differing = [axis for axis, (a, b) in enumerate(zip(small, large, strict=True)) if a != b]
    if len(differing) > 1:
        return None
    if not differing:  # at the largest sizes; at others a part may be smaller along the axes whose sizes are others
        pairs = enumerate(zip(part.type.shape, whole.type.shape, strict=True))
        differing = [axis for axis, (a, b) in pairs if a != b][-1:]
    axis = differing[0] if differing else len(large) - 1
    if math.prod(large[:axis]) == 1:
        return _Inside(whole, None)
    size = part.type.dtype.itemsize
    return _Inside(whole, _Stripe(large[axis] * size, before, before + small[axis] * size))


def _rigid_uses(graph: Graph, kernels: Sequence[WorksInPlace], inside: Mapping[Value, _Inside]) -> Iterator[Problem]:
    """Values whose rows lie apart, at kernels that take them for one piece."""
    striped = {value for value, item in inside.items() if item.stripe is not None}
    borders = dict.fromkeys(value for body in graph.bodies() for value in (*body.inputs, *body.outputs))
    for value in borders:
        if value in inside:
            yield Problem(
                "it is an input or output and is placed inside another value", Where(model=graph.name, value=value.name)
            )
    for node, kernel in zip(graph.walk(), kernels, strict=True):
        wrong = [
            value
            for index, value in enumerate(node.inputs)
            if value in striped and kernel.parts != "inputs" and index not in kernel.strided_inputs
        ]
        for index, value in enumerate(node.outputs):
            # A node that finds its result inside its own operand writes nothing. Anywhere else it writes rows.
            written = value not in striped or inside[value].whole not in node.inputs
            able = index == 0 and (kernel.strided_output or not written)
            wrong += [value] if value in striped and not able else []
        for value in wrong:
            what = "the rows of the value are not contiguous, which the kernel does not support"
            yield Problem(what, Where(model=graph.name, node=node.name, value=value.name))


def _misplaced(
    graph: Graph, plan: Plan, places: Mapping[str, Placement], inside: Mapping[Value, _Inside]
) -> Iterator[Problem]:
    if len(places) != len(plan.arena):
        yield Problem("a value is placed twice", Where(model=graph.name))
    if len(plan.kernels) != sum(1 for _ in graph.walk()):
        yield Problem("the plan does not have one kernel per node", Where(model=graph.name))
    for value in graph.values():
        if value.is_constant:
            continue
        where = Where(model=graph.name, value=value.name)
        place = places.get(value.name)
        if place is None:
            yield Problem("the value has no offset in the arena", where)
            continue
        if place.size != byte_size(graph, value):
            yield Problem(f"the placement has {place.size} bytes, the value {byte_size(graph, value)}", where)
        aligned = place.offset % ALIGNMENT == 0 or value in inside
        if place.offset < 0 or not aligned or place.offset + place.size > plan.arena_size:
            yield Problem(f"the placement at {place.offset} is not aligned or ends outside the arena", where)


def _begin(mark: _Mark) -> int:
    return mark.begin


class _Simulation:
    def __init__(
        self,
        graph: Graph,
        places: Mapping[str, Placement],
        kernels: Sequence[WorksInPlace],
        inside: Mapping[Value, _Inside],
    ) -> None:
        self.graph = graph
        self.places = places
        self.inside = inside
        self.joined: set[Value] = set()  # parts whose whole is there: they are what it holds
        self.kernel_of = dict(zip(map(id, graph.walk()), kernels, strict=True))
        self.memory: list[_Mark] = []  # sorted by `begin`; those that overlap are stripes with one begin
        self.content: dict[Value, str] = {}

    def run(self) -> Iterator[Problem]:
        for value in self.graph.inputs:
            self._write(value, value.name)
        yield from self._body(self.graph)
        yield from self._expect(self.graph.outputs, "at the end, the graph's output", "")
        yield from self._expect(self.graph.inputs, "at the end, the graph's input", "")

    def _body(self, region: Region) -> Iterator[Problem]:
        for node in region.nodes:
            yield from self._expect(node.inputs, "when the node starts, its input", node.name)
            yield from self._clashes(node)
            # Before its regions: a loop writes slices of its outputs between the runs of its body.
            for value in node.outputs:
                self._make(node, value)
            for inner in node.regions:
                yield from self._inner(inner, node)
            yield from self._expect(node.outputs, "after the node, its output", node.name)

    def _make(self, node: Node, value: Value) -> None:
        parts = self.kernel_of[id(node)].parts
        if parts == "outputs" and self._whole(value) is node.inputs[0]:
            self.joined.add(value)
            return
        source = node.inputs[0] if node.op.is_view else None
        self._write(value, self._content_of(source) if source is not None else value.name)
        if parts == "inputs":
            self.joined.update(part for part in node.inputs if self._whole(part) is value)

    def _whole(self, value: Value) -> Value | None:
        return self.inside[value].whole if value in self.inside else None

    def _stripe(self, value: Value) -> _Stripe | None:
        return self.inside[value].stripe if value in self.inside else None

    def _extent(self, value: Value) -> tuple[int, int]:
        """From the first byte of a value to behind the last; rows that lie apart are as long as those of the whole."""
        place = self.places[value.name]
        if self._stripe(value) is not None:
            place = self.places[self.inside[value].whole.name]
        return place.offset, place.offset + place.size

    def _inner(self, region: Region, node: Node) -> Iterator[Problem]:
        """A region of a node: a loop's body runs again with what its first run left."""
        for value in region.inputs:
            self._write(value, value.name)
        for _ in range(2):
            yield from self._body(region)
            for value in region.inputs:  # written one after the other, from the outputs
                yield from self._expect(region.outputs, "at the end of a region, its output", node.name)
                self._write(value, value.name)
            yield from self._expect(region.outputs, "at the end of a region, its output", node.name)

    def _content_of(self, value: Value) -> str:
        return self.content.get(value, value.name)

    def _write(self, value: Value, content: str) -> None:
        begin, end = self._extent(value)
        stripe = self._stripe(value)
        self.content[value] = content
        self.joined.discard(value)
        if begin == end:
            return
        within = self._marks(begin, end)
        kept: list[_Mark] = []
        for mark in self.memory[within]:
            if mark.stripe is not None:
                beside = stripe is not None and mark.begin == begin and mark.stripe.beside(stripe)
                if beside or mark.end <= begin or end <= mark.begin:
                    kept.append(mark)
                continue
            if mark.begin < begin and mark.begin < mark.end:
                kept.append(_Mark(mark.begin, min(mark.end, begin), mark.content, mark.origin))
            if mark.end > end:
                kept.append(_Mark(max(mark.begin, end), mark.end, mark.content, mark.origin))
        kept.append(_Mark(begin, end, content, begin, stripe))
        self.memory[within] = sorted(kept, key=_begin)

    def _marks(self, begin: int, end: int) -> slice:
        """Where in `memory` the marks are that may hold bytes between these."""
        first = bisect_left(self.memory, begin, key=_begin)
        if first > 0:  # marks that begin before that, at one place, may reach into it
            first = bisect_left(self.memory, self.memory[first - 1].begin, key=_begin)
        return slice(first, bisect_left(self.memory, end, key=_begin))

    def _expect(self, values: Sequence[Value], what: str, node: str) -> Iterator[Problem]:
        """One problem for each value of which a byte is missing or belongs to something else."""
        for value in dict.fromkeys(values):
            if value.is_constant:
                continue
            seen = self.inside[value].whole if value in self.joined else value
            begin, end = self._extent(seen)
            intact = sum(
                max(0, min(mark.end, end) - max(mark.begin, begin))
                for mark in self.memory[self._marks(begin, end)]
                if (mark.content, mark.origin, mark.stripe) == (self._content_of(seen), begin, self._stripe(seen))
            )
            if intact != end - begin:
                yield Problem(
                    f"{what} has {end - begin - intact} of {end - begin} bytes overwritten",
                    Where(model=self.graph.name, node=node, value=value.name),
                )

    def _clashes(self, node: Node) -> Iterator[Problem]:
        """Outputs that overlap an input while the kernel still reads it, unless it says that it works in place."""
        in_place = self.kernel_of[id(node)].in_place
        for output_index, output in enumerate(node.outputs):
            for input_index, source in enumerate(node.inputs):
                if source.is_constant or not self._overlap(source, output) or self._joins(node, source, output):
                    continue
                same = self.places[source.name].offset == self.places[output.name].offset
                allowed = in_place is not None and in_place < len(node.inputs) and output_index == 0 and same
                if allowed and (input_index == in_place or self._reads_like(node, source, in_place or 0)):
                    continue
                yield Problem(
                    "the output overlaps an input that the kernel still reads",
                    Where(model=self.graph.name, node=node.name, value=output.name),
                )

    def _reads_like(self, node: Node, source: Value, in_place: int) -> bool:
        """Whether the kernel reads `source` exactly where it reads the input that it replaces."""
        return node.op.is_elementwise and source is node.inputs[in_place]

    def _joins(self, node: Node, source: Value, output: Value) -> bool:
        """Whether one of them is part of the other, where this node would copy it to."""
        parts = self.kernel_of[id(node)].parts
        return (parts == "inputs" and self._whole(source) is output) or (
            parts == "outputs" and self._whole(output) is source
        )

    def _overlap(self, first: Value, second: Value) -> bool:
        a, b = self._extent(first), self._extent(second)
        left, right = self._stripe(first), self._stripe(second)
        if left is not None and right is not None and a == b and left.beside(right):
            return False
        return a[0] < a[1] and b[0] < b[1] and a[0] < b[1] and b[0] < a[1]
