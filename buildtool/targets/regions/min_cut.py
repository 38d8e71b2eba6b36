"""The cheapest way of giving each of many things one of two labels, as a minimum cut.

Things are vertices. A vertex is on the side of SOURCE or on that of SINK; whoever asks says what each label of a
vertex costs, and what it costs that two vertices differ. Dinic's algorithm finds the maximum flow, which is the
cost of the cheapest labels. All costs are whole numbers, so the answer is exact.
"""

from __future__ import annotations

from collections.abc import Iterable

SOURCE, SINK = 0, 1
UNLIMITED = 1 << 60  # above every sum of costs that is allowed
MOST = 1 << 40  # a single cost has to be below: 18 minutes in nanoseconds


class Labelling:
    """Costs of labels, gathered one after the other, and the cheapest labels under them."""

    def __init__(self) -> None:
        self._constant = 0  # what is paid whatever the labels are
        self._at_source: list[int] = [0, UNLIMITED]  # by vertex, what it costs to be on that side
        self._at_sink: list[int] = [UNLIMITED, 0]
        self._edges: list[tuple[int, int, int]] = []  # from, to, cost where `from` is at SOURCE and `to` at SINK

    def vertex(self, at_source: int = 0, at_sink: int = 0) -> int:
        """A new vertex, and what its labels cost."""
        self._at_source.append(at_source)
        self._at_sink.append(at_sink)
        return len(self._at_source) - 1

    def order(self, first: int, second: int) -> None:
        """`second` cannot be at SOURCE while `first` is at SINK."""
        self._pay(second, first, UNLIMITED)

    def charge_to_sink(self, maker: int, readers: Iterable[int], cost: int) -> None:
        """To be paid once where `maker` is at SOURCE and any of the readers at SINK."""
        others = [reader for reader in dict.fromkeys(readers) if reader != maker]
        if len(others) == 1 or SINK in others:
            self._pay(maker, SINK if SINK in others else others[0], cost)
        elif others:
            any_at_sink = self.vertex()
            self._pay(maker, any_at_sink, cost)
            for reader in others:
                self._pay(any_at_sink, reader, UNLIMITED)

    def charge_to_source(self, maker: int, readers: Iterable[int], cost: int) -> None:
        """To be paid once where `maker` is at SINK and any of the readers at SOURCE."""
        others = [reader for reader in dict.fromkeys(readers) if reader != maker]
        if len(others) == 1 or SOURCE in others:
            self._pay(SOURCE if SOURCE in others else others[0], maker, cost)
        elif others:
            any_at_source = self.vertex()
            self._pay(any_at_source, maker, cost)
            for reader in others:
                self._pay(reader, any_at_source, UNLIMITED)

    def _pay(self, at_source: int, at_sink: int, cost: int) -> None:
        """Where the first is at SOURCE and the second at SINK."""
        if at_source in (SINK, at_sink) or at_sink == SOURCE:
            return  # never so
        if at_source == SOURCE and at_sink == SINK:
            self._constant += cost
        elif at_source == SOURCE:
            self._at_sink[at_sink] += cost
        elif at_sink == SINK:
            self._at_source[at_source] += cost
        else:
            self._edges.append((at_source, at_sink, cost))

    def solve(self, ties_at_sink: bool = False) -> tuple[int, list[bool]]:
        """What the cheapest labels cost, and by vertex whether it is at SINK.

        Where several labels cost the same, as many vertices as possible are at SOURCE, or at SINK if that is said.
        """
        network = _Network(len(self._at_source))
        cost = self._constant
        for vertex in range(SINK + 1, len(self._at_source)):
            # What both labels cost is paid anyway; only the difference decides.
            at_source, at_sink = self._at_source[vertex], self._at_sink[vertex]
            cost += min(at_source, at_sink)
            if at_sink > at_source:
                network.connect(SOURCE, vertex, at_sink - at_source)
            elif at_source > at_sink:
                network.connect(vertex, SINK, at_source - at_sink)
        for first, second, price in self._edges:
            network.connect(first, second, price)
        cost += network.saturate()
        if ties_at_sink:
            reached = network.reached_from_source()
            return cost, [not flag for flag in reached]
        return cost, network.reaching_sink()


class _Network:
    """Pipes of limited width. Pipe i and pipe i ^ 1 are the two directions of one."""

    def __init__(self, vertices: int) -> None:
        self._pipes: list[list[int]] = [[] for _ in range(vertices)]  # those that leave a vertex
        self._to: list[int] = []
        self._left: list[int] = []  # how much more can flow

    def connect(self, first: int, second: int, width: int) -> None:
        self._pipes[first].append(len(self._to))
        self._pipes[second].append(len(self._to) + 1)
        self._to += (second, first)
        self._left += (width, 0)

    def saturate(self) -> int:
        """Lets as much flow from SOURCE to SINK as can, and says how much that is."""
        flow = 0
        while True:
            distance = self._distances()
            if distance[SOURCE] < 0:
                return flow
            flow += self._block(distance)

    def _distances(self) -> list[int]:
        """Pipes to SINK by vertex, on the shortest way that is not full; -1 where there is none."""
        distance = [-1] * len(self._pipes)
        distance[SINK] = 0
        ring = [SINK]
        while ring and distance[SOURCE] < 0:
            outer: list[int] = []
            for vertex in ring:
                for pipe in self._pipes[vertex]:
                    other = self._to[pipe]
                    if distance[other] < 0 and self._left[pipe ^ 1]:
                        distance[other] = distance[vertex] + 1
                        outer.append(other)
            ring = outer
        return distance

    def _block(self, distance: list[int]) -> int:
        """Fills shortest ways until each has a full pipe. Walks back only as far as the first pipe that became full."""
        pipes, to, left = self._pipes, self._to, self._left
        following = [0] * len(pipes)  # by vertex, the first pipe that may still lead on
        path: list[int] = []
        vertex, flow = SOURCE, 0
        while True:
            if vertex == SINK:
                amount = min(left[pipe] for pipe in path)
                flow += amount
                full = -1
                for position in range(len(path) - 1, -1, -1):
                    left[path[position]] -= amount
                    left[path[position] ^ 1] += amount
                    if not left[path[position]]:
                        full = position
                vertex = to[path[full] ^ 1]
                del path[full:]
            ahead, choices = distance[vertex] - 1, pipes[vertex]
            while following[vertex] < len(choices):
                pipe = choices[following[vertex]]
                if left[pipe] and distance[to[pipe]] == ahead:
                    path.append(pipe)
                    vertex = to[pipe]
                    break
                following[vertex] += 1
            else:
                if not path:
                    return flow
                vertex = to[path.pop() ^ 1]
                following[vertex] += 1

    def reached_from_source(self) -> list[bool]:
        """By vertex, whether more could flow there from SOURCE."""
        return self._flooded(SOURCE, 0)

    def reaching_sink(self) -> list[bool]:
        """By vertex, whether more could flow from there to SINK."""
        return self._flooded(SINK, 1)

    def _flooded(self, start: int, against: int) -> list[bool]:
        found = [False] * len(self._pipes)
        found[start] = True
        waiting = [start]
        while waiting:
            for pipe in self._pipes[waiting.pop()]:
                other = self._to[pipe]
                if not found[other] and self._left[pipe ^ against]:
                    found[other] = True
                    waiting.append(other)
        return found
