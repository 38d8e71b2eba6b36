"""Places values in one block of memory so that values which are live at the same time do not overlap.

First it decides which values share memory on purpose (views; results that take over the buffer of an input; parts of
other values), then it packs the resulting buffers: several orders of greedy best-fit, the smallest arena wins.
Everything is deterministic.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left, insort
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from buildtool.ir.graph import Graph, Node, Value
from buildtool.plan.liveness import Lifetime, lifetimes, lower_bound, steps
from buildtool.plan.parts import Part, accepted, groups
from buildtool.plan.plan import Placement, WorksInPlace

MOST_COMPARED = 2_000  # buffers that are packed in several orders, each against all others: that time is quadratic
MOST_TRIALS = 200  # of groups of parts, each of which takes a time in proportion to the graph


@dataclass(frozen=True)
class Arena:
    """Where everything lies. `lower_bound`: bytes of the buffers that are live at once; no packing can need less."""

    placements: tuple[Placement, ...]  # in order of first appearance of the values
    size: int
    lower_bound: int


@dataclass(eq=False)
class _Buffer:
    """Values that share memory, and the time from the first to the last use of any of them."""

    members: list[Lifetime]
    first: int
    last: int
    number: int  # breaks ties
    pinned: bool = False  # holds an input of the graph or of a region: nothing is written in its place
    offset: int = field(default=-1)
    room: int = field(init=False)

    def __post_init__(self) -> None:
        self.room = max(life.room for life in self.members)

    def meets(self, other: _Buffer) -> bool:
        return self.first <= other.last and other.first <= self.last

    def add(self, life: Lifetime) -> None:
        self.members.append(life)
        self.first, self.last = min(self.first, life.first), max(self.last, life.last)
        self.room = max(self.room, life.room)


def plan(graph: Graph, kernels: Sequence[WorksInPlace]) -> Arena:
    """The arena of a graph. `kernels`: one per node in the order of `graph.walk()`, as `select` gives them."""
    lives = lifetimes(graph)
    owner, parts = _best_parts(graph, kernels, lives)
    buffers = list(dict.fromkeys(owner.values()))
    bound = _bound(owner)
    best, size = _best_packing(buffers, bound)
    offset_of = {value: best[buffer] + (parts[value].at if value in parts else 0) for value, buffer in owner.items()}
    placements = tuple(Placement(life.value.name, offset_of[life.value], life.size) for life in lives.values())
    return Arena(placements, size, bound)


def _best_packing(buffers: Sequence[_Buffer], bound: int) -> tuple[dict[_Buffer, int], int]:
    """The offsets of the buffers, and the size of the smallest arena that was found."""
    if len(buffers) > MOST_COMPARED:
        return _pack_in_time(sorted(buffers, key=_by_time))
    best: dict[_Buffer, int] = {}
    size = -1
    for key in (*_ORDERS, None):
        offsets, needed = _pack(sorted(buffers, key=key)) if key else _pack_within(sorted(buffers, key=_by_time), bound)
        if size < 0 or needed < size:
            best, size = offsets, needed
        if size == bound:
            break
    return best, max(size, 0)


def _best_parts(
    graph: Graph, kernels: Sequence[WorksInPlace], lives: dict[Value, Lifetime]
) -> tuple[dict[Value, _Buffer], dict[Value, Part]]:
    """Buffers with as many parts in them as do not make the busiest moment busier.

    What holds parts is there from the first of them to the last: that may cost more memory than the copy.
    """
    taken: list[dict[Value, Part]] = []
    owner = _share(graph, kernels, lives, {})
    found = groups(graph, kernels)
    together = -(-len(found) // MOST_TRIALS) or 1
    for begin in range(0, len(found), together):
        group = accepted(found[begin : begin + together])
        tried = _share(graph, kernels, lives, accepted([*taken, group]))
        if _bound(tried) <= _bound(owner):
            taken.append(group)
            owner = tried
    return owner, accepted(taken)


def _bound(owner: dict[Value, _Buffer]) -> int:
    return lower_bound(
        Lifetime(buffer.members[0].value, buffer.room, buffer.first, buffer.last)
        for buffer in dict.fromkeys(owner.values())
    )


def _by_time(buffer: _Buffer) -> tuple[int, ...]:
    return buffer.first, -buffer.room, buffer.number


_ORDERS: tuple[Callable[[_Buffer], tuple[int, ...]], ...] = (
    lambda buffer: (-buffer.room, buffer.first, buffer.number),
    lambda buffer: (-buffer.room * (buffer.last - buffer.first + 1), buffer.number),
    lambda buffer: (buffer.first - buffer.last, -buffer.room, buffer.number),
    _by_time,
    lambda buffer: (-buffer.last, -buffer.room, buffer.number),
)


def _pack(order: Sequence[_Buffer]) -> tuple[dict[_Buffer, int], int]:
    """Places the buffers in this order, each into the smallest gap that takes it; offsets and the arena's size."""
    placed: list[tuple[int, int, _Buffer]] = []  # offset, end, buffer; sorted
    offsets: dict[_Buffer, int] = {}
    for buffer in order:
        start, best, best_gap = 0, -1, -1
        for offset, end, other in placed:
            if not other.meets(buffer):
                continue
            gap = offset - start
            if gap >= buffer.room and (best < 0 or gap < best_gap):
                best, best_gap = start, gap
            start = max(start, end)
        offsets[buffer] = start if best < 0 else best
        placed.append((offsets[buffer], offsets[buffer] + buffer.room, buffer))
        placed.sort(key=lambda item: (item[0], item[1]))
    return offsets, max((end for _, end, _ in placed), default=0)


def _pack_within(order: Sequence[_Buffer], size: int) -> tuple[dict[_Buffer, int], int]:
    """The same in a block of this size, as far as possible. A buffer stands at that end of its gap behind which memory
    stays taken for longer, so that what becomes free is in one piece."""
    placed: list[tuple[int, int, _Buffer]] = []  # offset, end, buffer; sorted
    offsets: dict[_Buffer, int] = {}
    always = max((buffer.last for buffer in order), default=0) + 1
    for buffer in order:
        start, below, best, best_gap = 0, always, -1, -1
        meeting = [(offset, end, other.last) for offset, end, other in placed if other.meets(buffer)]
        for offset, end, last in [*meeting, (size, size, always)]:
            gap = offset - start
            if gap >= buffer.room and (best < 0 or gap < best_gap):
                best, best_gap = offset - buffer.room if last > below else start, gap
            if end > start:
                start, below = end, last
        offsets[buffer] = max((end for _, end, _ in meeting), default=0) if best < 0 else best
        placed.append((offsets[buffer], offsets[buffer] + buffer.room, buffer))
        placed.sort(key=lambda item: (item[0], item[1]))
    return offsets, max((end for _, end, _ in placed), default=0)


def _pack_in_time(order: Sequence[_Buffer]) -> tuple[dict[_Buffer, int], int]:
    """The same for very many buffers in the order of time, by a list of gaps as an allocator has it."""
    gaps = _Gaps()
    offsets: dict[_Buffer, int] = {}
    live: list[tuple[int, int, int]] = []  # last, offset, room
    for buffer in order:
        while live and live[0][0] < buffer.first:
            _, offset, room = heapq.heappop(live)
            gaps.free(offset, room)
        offsets[buffer] = gaps.take(buffer.room)
        heapq.heappush(live, (buffer.last, offsets[buffer], buffer.room))
    return offsets, gaps.end


class _Gaps:
    """What is free below the end of a block of memory; gaps that touch are one."""

    def __init__(self) -> None:
        self.end = 0
        self._by_size: list[tuple[int, int]] = []  # size, begin; sorted
        self._end_of: dict[int, int] = {}  # by begin
        self._begin_of: dict[int, int] = {}  # by end

    def take(self, room: int) -> int:
        """The offset of a piece of the smallest gap that is large enough, else at the end."""
        if room == 0:
            return 0
        place = bisect_left(self._by_size, (room, 0))
        if place < len(self._by_size):
            begin = self._by_size[place][1]
            end = self._end_of[begin]
        else:
            begin = self._begin_of.get(self.end, self.end)  # the gap before the end grows
            end = self.end
            self.end = begin + room
        self._remove(begin)
        self._add(begin + room, end)
        return begin

    def free(self, offset: int, room: int) -> None:
        if room == 0:
            return
        begin, end = self._begin_of.get(offset, offset), self._end_of.get(offset + room, offset + room)
        self._remove(begin)
        self._remove(offset + room)
        self._add(begin, end)

    def _add(self, begin: int, end: int) -> None:
        if begin < end:
            insort(self._by_size, (end - begin, begin))
            self._end_of[begin], self._begin_of[end] = end, begin

    def _remove(self, begin: int) -> None:
        end = self._end_of.pop(begin, None)
        if end is not None:
            del self._begin_of[end]
            del self._by_size[bisect_left(self._by_size, (end - begin, begin))]


def _share(
    graph: Graph, kernels: Sequence[WorksInPlace], lives: dict[Value, Lifetime], parts: dict[Value, Part]
) -> dict[Value, _Buffer]:
    """The buffer of every value: that of what it is a part of; that of an input where the kernel and the lifetimes
    allow it; else its own."""
    kernel_of = dict(zip(map(id, graph.walk()), kernels, strict=True))
    takeover: dict[Value, Value] = {}
    owner: dict[Value, _Buffer] = {}
    step_of = steps(graph)
    for node in graph.walk():
        source = node.inputs[kernel_of[id(node)].in_place or 0] if _may_share(node, kernel_of[id(node)]) else None
        if source is not None and source in lives and source not in parts and node.outputs[0] not in parts:
            takeover[node.outputs[0]] = source
    makers = graph.producers()
    inputs = {value for body in graph.bodies() for value in body.inputs}
    apart = _kept_apart(graph)
    for value, life in lives.items():
        whole = parts[value].whole if value in parts else value
        if whole in owner:  # it has parts that were made before it, or this is a part
            owner[value] = owner[whole]
            owner[whole].add(life)
            continue
        source = takeover.get(value)
        if source is not None:
            node = makers[value]
            mixes = value in apart and any(life.value in apart[value] for life in owner[source].members)
            if not mixes and _safe(node, source, owner, step_of[node]):
                owner[value] = owner[source]
                owner[source].add(life)
                continue
        owner[value] = owner[whole] = _Buffer([life], life.first, life.last, len(owner), pinned=value in inputs)
    return owner


def _kept_apart(graph: Graph) -> dict[Value, set[Value]]:
    """By output of a region, the inputs of that region: a loop writes these while it still reads those."""
    apart: dict[Value, set[Value]] = {}
    for node in graph.walk():
        for region in node.regions:
            for value in region.outputs:
                apart.setdefault(value, set()).update(region.inputs)
    return apart


def _may_share(node: Node, kernel: WorksInPlace) -> bool:
    """Whether the kernel can work in place on this node, whatever happens around it."""
    if kernel.in_place is None or kernel.in_place >= len(node.inputs) or not node.outputs or node.regions:
        return False
    source, result = node.inputs[kernel.in_place].type, node.outputs[0].type
    if node.op.is_view:
        return kernel.in_place == 0
    return source.dtype is result.dtype and source.shape == result.shape


def _safe(node: Node, source: Value, owner: dict[Value, _Buffer], step: int) -> bool:
    """Whether the result may use the buffer of `source` without harm to others that read that buffer.

    `owner` knows the values that appeared before the result; those of the buffer that appear later are views of it or
    results in its place, which were made under this very rule.
    """
    buffer = owner[source]
    if node.op.is_view:
        return True  # the bytes stay as they are; who overwrites them later asks again
    if buffer.pinned or buffer.last > step:
        return False
    readers = [value for value in node.inputs if owner.get(value) is buffer]
    return len(readers) == 1 or (node.op.is_elementwise and all(value is source for value in readers))
