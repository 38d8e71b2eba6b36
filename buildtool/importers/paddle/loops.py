"""`while`: a block that runs again on what it wrote. Arrays of tensors get room for as many rows as they can need."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from buildtool.errors import UnsupportedError
from buildtool.importers.builder import Tensor
from buildtool.importers.counted_loops import Count, count
from buildtool.importers.model import SourceBody, SourceNode
from buildtool.importers.paddle.program import PaddleNode
from buildtool.importers.paddle.registry import node_of, one
from buildtool.importers.step import Step
from buildtool.ir.dims import symbols
from buildtool.ir.graph import Region
from buildtool.ir.types import DType, TensorType

MOST_UNROLLED = 64  # iterations that are written out where a region cannot stand for them
_ENDLESS = np.iinfo(np.int64).max
_NUMBER = TensorType(DType.S64, ())
_MOST_TRIES = 8  # imports of the block until its arrays have room enough


class Loop:
    def __init__(self, step: Step) -> None:
        self._step = step
        self._body = step.body("body")
        node = node_of(step)
        self._starts = [step.optional(place) for place in node.slots["Start"]]
        self._arrays = frozenset(step.integers("arrays", ()))
        if len(self._body.outputs) != len(self._starts) + 1 or not all(self._body.outputs):
            step.malformed(f"its block gives {len(self._body.outputs)} values for {len(self._starts)} variables")
        if not self._arrays.issubset(range(len(self._starts))):
            step.malformed(f"arrays at the places {sorted(self._arrays)} of {len(self._starts)} variables")

    def emitted(self) -> Sequence[Tensor]:
        """What the variables hold behind the loop, in their order."""
        step = self._step
        condition = one(step, "Condition")
        going = None if condition.content is None else bool(condition.content.reshape(-1)[:1].any())
        if going is False:
            return self._first_values(count(step, self._body, self._starts)) or ()
        counted = count(step, self._body, self._starts)
        known = all(item is not None and item.content is not None for item in (*self._starts, *step.captured()))
        if going and counted.exact is not None and (known or counted.exact == 1):
            return self._unrolled(counted.exact) or ()
        try:
            return self._as_region(condition, bool(going), counted) or ()
        except UnsupportedError:
            if not going:
                raise
            if counted.exact is None:
                return self._behind_the_first(counted) or ()
            if counted.exact > MOST_UNROLLED:
                raise
            return self._unrolled(counted.exact) or ()

    def _behind_the_first(self, counted: Count) -> Sequence[Tensor] | None:
        """The first iteration is written out: variables that it gives another shape, and that keep it from then on."""
        body, given = _without(self._body, self._starts)
        made = self._imported(body, given)
        if made is None:
            return None
        self._starts = list(made[1:])
        most = None if counted.most is None else max(counted.most - 1, 0)
        return self._as_region(made[0], False, Count(None, most, {}, counted.intervals), may_widen=True)

    def _unrolled(self, iterations: int) -> Sequence[Tensor] | None:
        """The iterations one after the other."""
        values: Sequence[Tensor | None] = self._starts
        for _ in range(iterations):
            body, given = _without(self._body, values)
            made = self._imported(body, given)
            if made is None:
                return None
            values = made[1:]
        return [value for value in values if value is not None]

    def _imported(self, body: SourceBody, given: Sequence[Tensor]) -> Sequence[Tensor] | None:
        if not self._step.may_repeat(body):
            self._step.unsupported(
                "its block would have to be imported too often: iterations that are written out, or loops in loops",
                "let variables keep their shapes, and nest fewer loops",
            )
        return self._step.run_body(body, given)

    # -- as a region -------------------------------------------------------------------------------------------------
    def _first_values(self, counted: Count) -> list[Tensor] | None:
        """The starts; variables that are only written inside begin with zeros. None where the block cannot be read."""
        step = self._step
        if all(start is not None for start in self._starts):
            return [start for start in self._starts if start is not None]
        region = Region()
        taken = [None if start is None else step.taken(region, start.type) for start in self._starts]
        self._bound(taken, counted)
        body, given = _without(self._body, taken)
        with step.inside(region):
            made = self._imported(body, given)
        if made is None:
            return None
        inside = {symbol for node in region.walk() for symbol in node.op.defined_symbols()}
        starts = []
        for start, tensor in zip(self._starts, made[1:], strict=True):
            if start is None and any(symbol in inside for dim in tensor.shape for symbol in symbols(dim)):
                step.unsupported(
                    f"a variable that is first written in it becomes {tensor.type}, whose size only the data decides",
                    "write it before the loop",
                )
            starts.append(start if start is not None else self._zeros(tensor.type))
        return starts

    def _zeros(self, type_: TensorType) -> Tensor:
        zero = self._step.constant(np.zeros((), type_.dtype.numpy))
        return self._step.emit("broadcast_to", zero, shape=type_.shape) if type_.rank else zero

    def _bound(self, taken: Sequence[Tensor | None], counted: Count) -> None:
        for place, (low, high) in counted.intervals.items():
            tensor = taken[place]
            if tensor is not None:
                self._step.bound(tensor, low, high)

    def _as_region(
        self, condition: Tensor, going: bool, counted: Count, may_widen: bool = False
    ) -> Sequence[Tensor] | None:
        """`may_widen`: elements of arrays that have one row may get more, which repeat it."""
        step = self._step
        starts = self._first_values(counted)
        if starts is None:
            return None
        fixed: frozenset[int] = frozenset()  # values that no iteration changes
        for _ in range(_MOST_TRIES + len(starts)):
            region = Region()
            step.taken(region, _NUMBER)
            carried = [
                start if place in fixed else step.taken(region, start.type) for place, start in enumerate(starts)
            ]
            self._bound(carried, counted)
            with step.inside(region):
                made = self._imported(self._body, carried)
            if made is None:
                return None
            same = {place for place, tensor in enumerate(made[1:]) if _is(tensor, carried[place])}
            starts = [
                self._wider(start, made[place + 1]) if may_widen and place in self._arrays else start
                for place, start in enumerate(starts)
            ]
            grown = {place for place in self._arrays if _has_grown(made[place + 1], starts[place])}
            grown |= {
                place for place in self._arrays if place not in fixed and starts[place].type != carried[place].type
            }
            if same <= fixed and not grown:
                return self._loop(region, condition, going, starts, made, fixed, counted)
            fixed |= same
            starts = [
                self._longer(start, made[place + 1]) if place in grown else start for place, start in enumerate(starts)
            ]
        return step.unsupported("its arrays need more room each time", "write each element where the counter says")

    def _wider(self, start: Tensor, like: Tensor) -> Tensor:
        """An array whose elements have as many rows as they need in the end."""
        if (
            start.rank < 2
            or start.shape[1] != 1
            or start.shape[2:] != like.shape[2:]
            or start.shape[1:] == like.shape[1:]
        ):
            return start
        return self._step.emit("broadcast_to", start, shape=(start.shape[0], *like.shape[1:]))

    def _longer(self, start: Tensor, like: Tensor) -> Tensor:
        """An array with as much room as it needs in the end."""
        if like.shape[0] == start.shape[0]:
            return start
        rows = like.shape[0] - start.shape[0]
        return self._step.emit("concat", start, self._zeros(TensorType(like.dtype, (rows, *like.shape[1:]))), axis=0)

    def _loop(
        self,
        region: Region,
        condition: Tensor,
        going: bool,
        starts: Sequence[Tensor],
        made: Sequence[Tensor],
        fixed: frozenset[int],
        counted: Count,
    ) -> Sequence[Tensor]:
        step = self._step
        changing = [place for place in range(len(starts)) if place not in fixed]
        for place in changing:
            before, after = starts[place], made[place + 1]
            if before.type != after.type:
                step.unsupported(
                    f"a variable starts as {before.type} and becomes {after.type}; variables keep their type in a loop",
                    "let the loop write into a tensor of its final size, or into an array of tensors",
                )
        with step.inside(region):
            again = step.reshape(made[0], ())
        step.give(region, [again, *(made[place + 1] for place in changing)])
        trips = counted.exact if counted.exact is not None else _ENDLESS
        most = () if counted.most is None else (counted.most,)
        operands = [step.constant(np.array(trips, np.int64)), step.reshape(condition, ())]
        operands += [starts[place] for place in changing]
        results = iter(step.emit_regions("loop", operands, [region], most=most, size=()))
        ends = [starts[place] if place in fixed else next(results) for place in range(len(starts))]
        if going:
            return [
                step.constant(counted.finals[place]) if place in counted.finals else end
                for place, end in enumerate(ends)
            ]
        return ends


def _has_grown(tensor: Tensor, start: Tensor) -> bool:
    """Whether an array has more room than it had before; anything else about it stays as it is."""
    rows, before = tensor.shape[:1], start.shape[:1]
    same = tensor.dtype is start.dtype and tensor.shape[1:] == start.shape[1:]
    return same and rows != before and all(isinstance(dim, int) for dim in (*rows, *before)) and rows > before


def _is(tensor: Tensor, other: Tensor) -> bool:
    """Whether a tensor is another one, passed on."""
    return tensor is other or (tensor.value is not None and tensor.value is other.value)


# -- variables that have not been written yet --------------------------------------------------------------------------
def _without(body: SourceBody, values: Sequence[Tensor | None]) -> tuple[SourceBody, list[Tensor]]:
    """A block without the inputs that have no value, and the values of the others."""
    missing = {name for name, value in zip(body.inputs, values, strict=True) if value is None}
    return _lacking(body, missing), [value for value in values if value is not None]


def _lacking(body: SourceBody, missing: set[str]) -> SourceBody:
    if not missing:
        return body
    return replace(
        body,
        inputs=tuple(name for name in body.inputs if name not in missing),
        outputs=tuple("" if name in missing else name for name in body.outputs),
        nodes=tuple(_node_lacking(node, missing) for node in body.nodes),
    )


def _node_lacking(node: SourceNode, missing: set[str]) -> SourceNode:
    if not isinstance(node, PaddleNode) or missing.isdisjoint(node.reads):
        return node
    return replace(
        node,
        inputs=tuple("" if name in missing else name for name in node.inputs),
        captured=tuple(name for name in node.captured if name not in missing),
        bodies={key: _reader(read, missing) for key, read in node.bodies.items()},
    )


def _reader(read: Callable[[], SourceBody], missing: set[str]) -> Callable[[], SourceBody]:
    return lambda: _lacking(read(), missing)
