"""Checks a plan by running it on paper. Written from the definition of a correct plan, not from the planner.

The arena is a line of memory on which every node leaves the mark of what it wrote. A plan is correct if each node
finds, at the place of each of its inputs, all of that input and nothing else, and if the graph's outputs and inputs are
whole at the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from buildtool.errors import InternalError, Problem, Where
from buildtool.ir.graph import Graph, Node, Region, Value
from buildtool.plan.liveness import byte_size
from buildtool.plan.plan import ALIGNMENT, Placement, Plan, WorksInPlace


@dataclass(frozen=True)
class _Mark:
    """Bytes `begin..end` of the arena hold this content, which starts at `origin`."""

    begin: int
    end: int
    content: str
    origin: int


def check(graph: Graph, plan: Plan, kernels: Sequence[WorksInPlace]) -> None:
    """InternalError with all problems where the plan lets a value be overwritten before its last use."""
    problems = list(problems_of(graph, plan, kernels))
    if problems:
        raise InternalError(problems)


def problems_of(graph: Graph, plan: Plan, kernels: Sequence[WorksInPlace]) -> Iterator[Problem]:
    """Everything that is wrong with the plan, in the order of execution."""
    places = {placement.value: placement for placement in plan.arena}
    yield from _misplaced(graph, plan, places)
    complete = all(value.name in places for value in graph.values() if not value.is_constant)
    if complete and len(kernels) == len(plan.kernels):
        yield from _Simulation(graph, places, kernels).run()


def _misplaced(graph: Graph, plan: Plan, places: Mapping[str, Placement]) -> Iterator[Problem]:
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
            yield Problem("the value has no place in the arena", where)
            continue
        if place.size != byte_size(graph, value):
            yield Problem(f"the place has {place.size} bytes, the value {byte_size(graph, value)}", where)
        if place.offset < 0 or place.offset % ALIGNMENT or place.offset + place.size > plan.arena_size:
            yield Problem(f"the place at {place.offset} is not aligned or ends outside the arena", where)


class _Simulation:
    def __init__(self, graph: Graph, places: Mapping[str, Placement], kernels: Sequence[WorksInPlace]) -> None:
        self.graph = graph
        self.places = places
        self.kernel_of = dict(zip(map(id, graph.walk()), kernels, strict=True))
        self.memory: list[_Mark] = []
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
                source = node.inputs[0] if node.op.is_view else None
                self._write(value, self._content_of(source) if source is not None else value.name)
            for inner in node.regions:
                yield from self._inner(inner, node)
            yield from self._expect(node.outputs, "after the node, its output", node.name)

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
        place = self.places[value.name]
        begin, end = place.offset, place.offset + place.size
        self.content[value] = content
        kept: list[_Mark] = []
        for mark in self.memory:
            if mark.begin < begin and mark.begin < mark.end:
                kept.append(_Mark(mark.begin, min(mark.end, begin), mark.content, mark.origin))
            if mark.end > end:
                kept.append(_Mark(max(mark.begin, end), mark.end, mark.content, mark.origin))
        if begin < end:
            kept.append(_Mark(begin, end, content, begin))
        self.memory = [mark for mark in kept if mark.begin < mark.end]

    def _expect(self, values: Sequence[Value], what: str, node: str) -> Iterator[Problem]:
        """One problem for each value of which a byte is missing or belongs to something else."""
        for value in dict.fromkeys(values):
            if value.is_constant:
                continue
            place = self.places[value.name]
            begin, end = place.offset, place.offset + place.size
            intact = sum(
                max(0, min(mark.end, end) - max(mark.begin, begin))
                for mark in self.memory
                if mark.content == self._content_of(value) and mark.origin == begin
            )
            if intact != place.size:
                yield Problem(
                    f"{what} has {place.size - intact} of {place.size} bytes overwritten",
                    Where(model=self.graph.name, node=node, value=value.name),
                )

    def _clashes(self, node: Node) -> Iterator[Problem]:
        """Outputs that overlap an input while the kernel still reads it, unless it says that it works in place."""
        in_place = self.kernel_of[id(node)].in_place
        for output_index, output in enumerate(node.outputs):
            for input_index, source in enumerate(node.inputs):
                if source.is_constant or not self._overlap(source, output):
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

    def _overlap(self, first: Value, second: Value) -> bool:
        a, b = self.places[first.name], self.places[second.name]
        return a.size > 0 and b.size > 0 and a.offset < b.offset + b.size and b.offset < a.offset + a.size
