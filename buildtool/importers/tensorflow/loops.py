"""Loops that run as often as a number says: what they write into lists step by step becomes stacked values.

Such is the form of recurrent layers: a counter that goes up by one until it reaches a number, states, lists that are
read at the place of the counter, and lists that are written there. All other loops are carried on value by value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from buildtool.importers.branches import while_loop
from buildtool.importers.builder import Tensor
from buildtool.importers.lists import OpenList, shaped
from buildtool.importers.model import SourceBody, SourceNode
from buildtool.importers.spatial import NO_ACTIVATION
from buildtool.importers.step import Step
from buildtool.ir.dims import Dim, bounds, minimum
from buildtool.ir.graph import Region
from buildtool.ir.operator import Array
from buildtool.ir.types import DType, TensorType

_NUMBER = TensorType(DType.S64, ())
_ENDLESS = np.iinfo(np.int64).max
_PASSING = frozenset({"Identity", "StopGradient"})
#: What writes into a list: which inputs are the list, the place and the tensor.
_WRITING = {"TensorListSetItem": (0, 1, 2), "TensorArrayWriteV3": (3, 1, 2)}


def loop(step: Step, condition: str, body: str) -> Sequence[Tensor]:
    """The node's graph `condition` tells whether it goes on, `body` makes the next values out of the last ones."""
    starts = step.present()
    counted = _Counted(step, _Names(step.body(condition, 1)), _Names(step.body(body, len(starts))), starts)
    trips = counted.trips()
    if trips is None:
        return while_loop(step, condition, body)
    if bounds(trips)[1] <= 0:
        return starts
    if trips == 1:
        return step.run_body(step.body(body), starts) or ()
    return counted.emitted(trips)


class _Names:
    """A graph inside of a node, and what makes its tensors."""

    def __init__(self, body: SourceBody) -> None:
        self.body = body
        self._makers = {name: node for node in body.nodes for name in node.outputs if name}
        self._sources: dict[str, str] = {}
        for node in body.nodes:  # in the order in which they run
            if node.op in _PASSING and node.inputs:
                self._sources[node.outputs[0]] = self.source(node.inputs[0])

    def source(self, name: str) -> str:
        """What a tensor is before it is passed on."""
        return self._sources.get(name, name)

    def maker(self, name: str) -> SourceNode | None:
        return self._makers.get(self.source(name))

    def place(self, name: str) -> int | None:
        """Which input of the graph a tensor is."""
        source = self.source(name)
        return self.body.inputs.index(source) if source in self.body.inputs else None

    def readers(self, place: int) -> list[SourceNode]:
        """What reads an input, but for what passes it on."""
        return [
            node
            for node in self.body.nodes
            if node.op not in _PASSING and any(self.place(name) == place for name in node.reads if name)
        ]


class _Counted:
    """What is known of a loop before it is imported."""

    def __init__(self, step: Step, condition: _Names, body: _Names, starts: Sequence[Tensor]) -> None:
        self._step = step
        self._condition = condition
        self._body = body
        self._starts = list(starts)
        outputs = body.body.outputs
        self._fixed = {place for place, name in enumerate(outputs) if body.place(name) == place}
        self._counters = {place: first for place in range(len(outputs)) for first in self._first(place)}

    # -- how often -----------------------------------------------------------------------------------------------------
    def _first(self, place: int) -> Iterator[int]:
        """The number that a counter begins with."""
        node, content = self._body.maker(self._body.body.outputs[place]), self._starts[place].content
        if node is None or node.op not in ("Add", "AddV2") or content is None or content.size != 1:
            return
        one = [name for name in node.inputs if self._body.place(name) != place]
        by = self._body.maker(one[0]) if len(one) == 1 and len(node.inputs) == 2 else None
        value = _constant(by)
        if value is not None and value.size == 1 and value.reshape(-1)[0] == 1 and content.dtype.kind == "i":
            yield int(content.reshape(-1)[0])

    def trips(self) -> Dim | None:
        """How many iterations there are; None where that is not a number to count to."""
        limits = [self._limit(node) for node in self._conjuncts(self._condition.body.outputs[0])]
        known = [limit for limit in limits if limit is not None]
        if not known or len(known) < len(limits):
            return None
        least = known[0]
        for limit in known[1:]:
            least = minimum(least, limit)
        return least

    def _conjuncts(self, name: str) -> Iterator[SourceNode | None]:
        """The comparisons that all have to hold."""
        waiting = [name]
        for _ in range(len(self._condition.body.nodes) + 1):
            node = self._condition.maker(waiting.pop())
            if node is not None and node.op == "LogicalAnd":
                waiting += node.inputs
            else:
                yield node
            if not waiting:
                return

    def _limit(self, node: SourceNode | None) -> Dim | None:
        """The iterations until a comparison does not hold any more."""
        if node is None or node.op not in ("Less", "LessEqual", "Greater", "GreaterEqual") or len(node.inputs) != 2:
            return None
        counter, end = node.inputs if node.op.startswith("Less") else node.inputs[::-1]
        place, last = self._condition.place(counter), self._number(end)
        if place is None or place not in self._counters or last is None:
            return None
        return last - self._counters[place] + (1 if node.op.endswith("Equal") else 0)

    def _number(self, name: str) -> Dim | None:
        """What the counter is compared with: a constant, or what goes into the loop and is not changed in it."""
        place, node = self._condition.place(name), self._condition.maker(name)
        if place is not None:
            known = self._starts[place].known if place in self._fixed else None
        else:
            known = _constant(node)
        if known is None or known.size != 1 or known.dtype.kind not in "iuO":
            return None
        (number,) = known.astype(object).reshape(-1)
        return number if not isinstance(number, int) else int(number)

    # -- what it makes -------------------------------------------------------------------------------------------------
    def emitted(self, trips: Dim) -> Sequence[Tensor]:
        step, starts = self._step, self._starts
        stacked = {place: item for place in range(len(starts)) for item in self._item(place, trips)}
        apart = {*self._fixed, *self._counters, *stacked}
        carried = [place for place in range(len(starts)) if place not in apart]
        outputs = self._body.body.outputs
        body = replace(self._body.body, outputs=(*(outputs[place] for place in carried), *stacked.values()))
        while True:
            region = Region()
            number = step.taken(region, _NUMBER)
            given = [
                step.taken(region, start.type) if place in carried and not isinstance(start, OpenList) else start
                for place, start in enumerate(starts)
            ]
            with step.inside(region):
                for place, first in self._counters.items():
                    given[place] = self._counter(number, first, starts[place])
                made = step.run_body(body, given)
            if made is None:
                return ()
            found = [place for place, tensor in zip(carried, made, strict=False) if self._is_found(place, tensor)]
            for place in found:
                starts[place] = shaped(step, starts[place], made[carried.index(place)].shape[1:])
            if not found:
                break
        for place, tensor in zip(carried, made, strict=False):
            if starts[place].type != tensor.type:
                step.unsupported(
                    f"a value starts as {starts[place].type} and becomes {tensor.type}; values keep their type",
                    "let the loop write into a tensor of its final size",
                )
        always = step.constant(np.array(True))
        step.give(region, [always, *made])
        count = step.constant(np.array(trips if isinstance(trips, int) else _ENDLESS, np.int64))
        operands = [count, always, *(starts[place] for place in carried)]
        results = step.emit_regions("loop", operands, [region], most=(trips,), size=())
        ends = dict(zip((*carried, *stacked), results, strict=True))
        ends |= {place: self._end(first, trips, starts[place]) for place, first in self._counters.items()}
        return [ends.get(place, start) for place, start in enumerate(starts)]

    def _item(self, place: int, trips: Dim) -> Iterator[str]:
        """The tensor that every iteration writes at the place of the counter into a list that nobody reads."""
        node, items = self._body.maker(self._body.body.outputs[place]), self._starts[place]
        if node is None or any(True for _ in self._condition.readers(place)):
            return
        if node.op == "TensorListPushBack" and items.shape[:1] == (0,):
            into, item = 0, 1
        elif node.op in _WRITING and items.shape[:1] == (trips,):
            into, at, item = _WRITING[node.op]
            counter = self._body.place(node.inputs[at])
            if counter is None or self._counters.get(counter) != 0:
                return
        else:
            return
        if self._body.place(node.inputs[into]) == place and self._body.readers(place) == [node]:
            yield node.inputs[item]

    def _is_found(self, place: int, made: Tensor) -> bool:
        """Whether the shape of what a list holds is known now."""
        return isinstance(self._starts[place], OpenList) and not isinstance(made, OpenList)

    def _counter(self, number: Tensor, first: int, like: Tensor) -> Tensor:
        step = self._step
        counter = number if like.dtype is DType.S64 else step.emit("cast", number, to=like.dtype)
        if first:
            counter = step.emit("add", counter, step.constant(np.array(first, like.dtype.numpy)), **NO_ACTIVATION)
        return step.reshape(counter, like.shape)

    @staticmethod
    def _end(first: int, trips: Dim, like: Tensor) -> Tensor:
        """The number that a counter ends with."""
        return Tensor.of(np.array(trips + first, object).reshape((1,) * like.rank), like.dtype)


def _constant(node: SourceNode | None) -> Array | None:
    value = node.attributes.get("value") if node is not None and node.op == "Const" else None
    return value if isinstance(value, np.ndarray) else None
