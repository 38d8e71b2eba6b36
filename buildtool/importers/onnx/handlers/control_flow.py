"""If, Loop and Scan: their graphs replace them where that can be decided now, and are regions otherwise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from buildtool.errors import UnsupportedError
from buildtool.importers.branches import either
from buildtool.importers.builder import Tensor
from buildtool.importers.model import SourceBody
from buildtool.importers.onnx.registry import handler
from buildtool.importers.step import Step
from buildtool.ir.dims import UNBOUNDED, Dim, DimExpr, Shape, bounds, is_static, maximum, symbols
from buildtool.ir.graph import Region
from buildtool.ir.types import DType, TensorType

MOST_COMPUTED = 4096  # iterations that are computed on import, where everything that they read is known
MOST_UNROLLED = 64  # iterations that are written out where a region cannot stand for them
_ENDLESS = np.iinfo(np.int64).max
_NUMBER = TensorType(DType.S64, ())


@handler("If")
def if_(step: Step) -> Sequence[Tensor]:
    count = len(step.node.outputs)
    condition = step.input(0).content
    if condition is not None:
        if condition.size != 1:
            step.malformed(f"its condition has {condition.size} elements")
        taken = "then_branch" if condition.reshape(-1)[0] else "else_branch"
        return step.run_body(step.body(taken, count), []) or ()
    return either(step, step.input(0), (step.body("then_branch", count), step.body("else_branch", count)), [])


@dataclass(frozen=True)
class _Trips:
    """How often a loop may run. `count`: the number, where it is known now; `most`: what bounds it."""

    given: Tensor | None
    count: Dim | None
    most: Dim | None

    @classmethod
    def of(cls, step: Step, given: Tensor | None) -> _Trips:
        if given is None:
            return cls(None, None, None)
        if math.prod(dim if isinstance(dim, int) else 0 for dim in given.shape) != 1:
            step.malformed(f"its trip count is {given.type}, not one number")
        if given.known is None:
            most = step.most(given)
            return cls(given, None, None if most is None else max(most, 0))
        if given.known.dtype.kind not in "iuO":
            step.malformed(f"its trip count is {given.type}, not an integer")
        (count,) = given.known.astype(object).reshape(-1)
        if not isinstance(count, DimExpr) and int(count) >= UNBOUNDED:
            return cls(None, None, None)  # how exporters spell that there is no limit
        count = maximum(count, 0) if bounds(count)[0] < 0 else count
        return cls(given, count, count)

    def as_tensor(self, step: Step) -> Tensor:
        """The operand of the loop, which also has a limit of its own."""
        known = self.given is None or self.given.known is not None
        number = self.count if isinstance(self.count, int) else _ENDLESS
        if known or self.given is None:
            return step.constant(np.array(number, np.int64))
        return self.given if self.given.dtype is DType.S64 else step.emit("cast", self.given, to=DType.S64)


@handler("Loop")
def loop(step: Step) -> Sequence[Tensor]:
    """The condition that the body gives counts even where the node is given none, as other runtimes have it."""
    carried = step.inputs[2:]
    if any(tensor is None for tensor in carried):
        step.malformed("a carried value is missing")
    work = _Loop(step, step.body("body"), [tensor for tensor in carried if tensor is not None])
    trips = _Trips.of(step, step.optional(0))
    condition = step.optional(1) or step.constant(np.array(True))
    if len(work.body.outputs) < len(work.carried) + 1 or len(work.body.outputs) - 1 < len(step.node.outputs):
        step.malformed(f"its graph has {len(work.body.outputs)} outputs for {len(work.carried)} carried values")
    going = None if condition.content is None else bool(condition.content.reshape(-1)[:1].any())
    if going is False:
        trips = _Trips(step.constant(np.array(0)), 0, 0)
    known = all(tensor.content is not None for tensor in (*work.carried, *step.captured()))
    few = isinstance(trips.count, int) and trips.count <= (MOST_COMPUTED if known else 1)
    if going and few and isinstance(trips.count, int) and trips.count > 0:
        return work.unrolled(trips.count) or ()
    try:
        return work.as_region(trips, condition, going is True)
    except UnsupportedError:
        if not going or not isinstance(trips.count, int) or not 0 < trips.count <= MOST_UNROLLED:
            raise
        return work.unrolled(trips.count) or ()


class _Loop:
    def __init__(self, step: Step, body: SourceBody, carried: list[Tensor]) -> None:
        self.step = step
        self.body = body
        self.carried = carried
        # Some declare the number of the iteration as a list of one.
        number = body.declared.get(body.inputs[0]) if body.inputs else None
        self.number = TensorType(DType.S64, (1,) * len((number and number.shape) or ()))

    def unrolled(self, count: int) -> Sequence[Tensor] | None:
        """The iterations one after the other. UnsupportedError where nobody knows after which one it ends."""
        step, carried = self.step, self.carried
        slices: list[Sequence[Tensor]] = []
        for iteration in range(count):
            number = step.constant(np.full([1] * self.number.rank, iteration, np.int64))
            outputs = step.run_body(self.body, [number, step.constant(np.array(True)), *carried])
            if outputs is None:
                return None
            carried = list(outputs[1 : len(carried) + 1])
            slices.append(outputs[len(carried) + 1 :])
            goes_on = outputs[0].content
            if goes_on is None and iteration + 1 < count:
                step.unsupported("its condition is known only at run time", "give it a constant condition")
            if goes_on is not None and not goes_on.reshape(-1)[:1].any():
                break
        return [*carried, *(self._stacked(parts) for parts in zip(*slices, strict=True))]

    def _stacked(self, parts: Sequence[Tensor]) -> Tensor:
        if any(part.type != parts[0].type for part in parts):
            self.step.unsupported(
                f"it scans values of different types: {parts[0].type} first, {parts[-1].type} in the end",
                "let each iteration return a value of the same shape",
            )
        rows = [self.step.reshape(part, (1, *part.shape)) for part in parts]
        return rows[0] if len(rows) == 1 else self.step.emit("concat", *rows, axis=0)

    def as_region(self, trips: _Trips, condition: Tensor, certain: bool) -> Sequence[Tensor]:
        """A loop node. `certain`: the first iteration is not kept from running by the condition."""
        fixed: dict[int, Tensor] = {}  # carried values that no iteration changes
        while True:
            region = Region()
            given = self._import_body(region, fixed)
            if given is None:
                return ()
            goes_on, outputs, slices = given
            same = [index for index, value in enumerate(region.inputs[1:]) if outputs[index].value is value]
            if not same:
                break
            changing = [index for index in range(len(self.carried)) if index not in fixed]
            fixed.update((changing[index], self.carried[changing[index]]) for index in same)
        starts = [tensor for index, tensor in enumerate(self.carried) if index not in fixed]
        self._check_carried(starts, outputs)
        self._check_slices(region, slices)
        exact = certain and trips.count is not None and goes_on.content is not None and bool(goes_on.content.all())
        most, size = self._limits(trips, exact, bool(slices))
        self.step.give(region, [goes_on, *outputs, *slices])
        operands = [trips.as_tensor(self.step), condition, *starts]
        made = iter(self.step.emit_regions("loop", operands, [region], most=most, size=size))
        final = [fixed[index] if index in fixed else next(made) for index in range(len(self.carried))]
        return [*final, *made]

    def _import_body(
        self, region: Region, fixed: dict[int, Tensor]
    ) -> tuple[Tensor, list[Tensor], list[Tensor]] | None:
        """The condition, the changing carried values and the slices that the body gives; None where it is lost."""
        step = self.step
        number = step.taken(region, self.number)
        carried = [
            fixed[index] if index in fixed else step.taken(region, tensor.type)
            for index, tensor in enumerate(self.carried)
        ]
        with step.inside(region):
            outputs = step.run_body(self.body, [number, step.constant(np.array(True)), *carried])
        if outputs is None:
            return None
        last = len(self.carried) + 1
        changing = [tensor for index, tensor in enumerate(outputs[1:last]) if index not in fixed]
        return outputs[0], changing, list(outputs[last:])

    def _check_carried(self, starts: Sequence[Tensor], outputs: Sequence[Tensor]) -> None:
        for before, after in zip(starts, outputs, strict=True):
            if before.type != after.type:
                self.step.unsupported(
                    f"a carried value starts as {before.type} and becomes {after.type}; carried values keep their type "
                    f"(but for at most {MOST_UNROLLED} iterations, if their number is a constant)",
                    "carry a tensor of the final size and write into it (ScatterND), scan the parts, or make the trip "
                    "count a constant",
                )

    def _check_slices(self, region: Region, slices: Sequence[Tensor]) -> None:
        inner = {symbol for node in region.walk() for symbol in node.op.defined_symbols()}
        for tensor in slices:
            if any(symbol in inner for dim in tensor.shape for symbol in symbols(dim)):
                self.step.unsupported(
                    f"it scans {tensor.type}, whose size every iteration decides anew",
                    "let each iteration return a value of the same shape, padded where it has less",
                )

    def _limits(self, trips: _Trips, exact: bool, scans: bool) -> tuple[Shape, Shape]:
        """The attributes `most` and `size` of the loop."""
        most = trips.most
        if exact and most is not None:
            return (most,), ()
        if not scans:
            return () if most is None else (most,), ()
        if most is None or bounds(most)[1] >= UNBOUNDED:
            self.step.unsupported(
                "its trip count is unbounded, so the memory for its scanned values is unknown",
                "bound the trip count in the model (Min or Clip with a constant), make it a constant, or declare "
                "input_shapes with upper bounds where it comes from a shape",
            )
        return (most,), (self.step.data_size("loop", bounds(most)[1]),)


@handler("Scan")
def scan(step: Step) -> Sequence[Tensor]:
    """A loop over slices, which the body gathers."""
    if step.opset < 9:
        return _scan_of_batches(step)
    count = step.integer("num_scan_inputs")
    inputs = step.present()
    if not 0 < count <= len(inputs):
        step.malformed(f"it scans {count} of {len(inputs)} inputs")
    states, sources = inputs[: len(inputs) - count], inputs[len(inputs) - count :]
    body = step.body("body")
    outputs = len(body.outputs) - len(states)
    axes = step.integers("scan_input_axes", (0,) * count)
    backwards = step.integers("scan_input_directions", (0,) * count)
    output_axes = step.integers("scan_output_axes", (0,) * max(outputs, 0))
    output_backwards = step.integers("scan_output_directions", (0,) * max(outputs, 0))
    if outputs < 0 or {len(axes), len(backwards)} != {count} or {len(output_axes), len(output_backwards)} != {outputs}:
        step.malformed("its graph or its attributes do not fit its inputs")
    axes = tuple(step.axis(axis, source.rank) for axis, source in zip(axes, sources, strict=True))
    turned = [
        _reversed(step, source, axis) if back else source
        for source, axis, back in zip(sources, axes, backwards, strict=True)
    ]
    made = _scan(step, body, states, turned, axes)
    if made is None:
        return ()
    results = list(made[: len(states)])
    for tensor, axis, back in zip(made[len(states) :], output_axes, output_backwards, strict=True):
        ordered = _reversed(step, tensor, 0) if back else tensor
        others = list(range(1, tensor.rank))
        others.insert(step.axis(axis, tensor.rank), 0)
        results.append(step.transpose(ordered, others))
    return results


def _scan(
    step: Step, body: SourceBody, states: Sequence[Tensor], sources: Sequence[Tensor], axes: Sequence[int]
) -> Sequence[Tensor] | None:
    """The final states and the slices of all iterations along a new first axis."""
    length = sources[0].shape[axes[0]]
    if any(source.shape[axis] != length for source, axis in zip(sources, axes, strict=True)):
        step.malformed(f"it scans {', '.join(str(source.type) for source in sources)}, which are not of one length")
    if length == 1:
        number = step.constant(np.array(0))
        outputs = _slices_through(step, body, states, sources, axes, number)
        if outputs is None:
            return None
        return [*outputs[: len(states)], *(step.reshape(part, (1, *part.shape)) for part in outputs[len(states) :])]
    region = Region()
    number = step.taken(region, _NUMBER)
    carried = [step.taken(region, state.type) for state in states]
    with step.inside(region):
        outputs = _slices_through(step, body, carried, sources, axes, number)
    if outputs is None:
        return None
    for before, after in zip(states, outputs, strict=False):
        if before.type != after.type:
            step.unsupported(
                f"a state starts as {before.type} and becomes {after.type}", "let the states keep their type"
            )
    always = step.constant(np.array(True))
    step.give(region, [always, *outputs])
    count = step.constant(np.array(length if isinstance(length, int) else _ENDLESS, np.int64))
    return step.emit_regions("loop", [count, always, *states], [region], most=(length,), size=())


def _slices_through(
    step: Step,
    body: SourceBody,
    states: Sequence[Tensor],
    sources: Sequence[Tensor],
    axes: Sequence[int],
    number: Tensor,
) -> Sequence[Tensor] | None:
    """What the body gives for one slice of each source."""
    slices = [step.emit("gather", source, number, axis=axis) for source, axis in zip(sources, axes, strict=True)]
    return step.run_body(body, [*states, *slices])


def _reversed(step: Step, tensor: Tensor, axis: int) -> Tensor:
    last = tensor.shape[axis] - 1
    return step.emit(
        "slice",
        tensor,
        starts=tuple(last if other == axis else 0 for other in range(tensor.rank)),
        steps=tuple(-1 if other == axis else 1 for other in range(tensor.rank)),
        sizes=tensor.shape,
    )


def _scan_of_batches(step: Step) -> Sequence[Tensor]:
    """The first form of Scan: every input begins with an axis of batches, each of which is scanned by itself."""
    if step.optional(0) is not None:
        step.unsupported("it scans sequences of different lengths", "export the model with operator set 9 or newer")
    count = step.integer("num_scan_inputs")
    inputs = [tensor for tensor in step.inputs[1:] if tensor is not None]
    if not 0 < count <= len(inputs):
        step.malformed(f"it scans {count} of {len(inputs)} inputs")
    if any(tensor.rank < 1 for tensor in inputs) or any(tensor.rank < 2 for tensor in inputs[-count:]):
        step.malformed("an input lacks the axis of batches, or that of the sequence")
    backwards = step.integers("directions", (0,) * count)
    if len(backwards) != count:
        step.malformed(f"it has {len(backwards)} directions for {count} inputs")
    states, body = inputs[: len(inputs) - count], step.body("body")
    sources = [
        _reversed(step, source, 1) if back else source
        for source, back in zip(inputs[len(states) :], backwards, strict=True)
    ]
    region = Region()
    batch = step.taken(region, _NUMBER)
    with step.inside(region):
        of_batch = [step.emit("gather", tensor, batch, axis=0) for tensor in (*states, *sources)]
        made = _scan(step, body, of_batch[: len(states)], of_batch[len(states) :], [0] * count)
    if made is None:
        return ()
    always = step.constant(np.array(True))
    step.give(region, [always, *made])
    batches = inputs[0].shape[0]
    if any(tensor.shape[0] != batches for tensor in inputs):
        step.malformed("its inputs have different numbers of batches")
    trips = step.constant(np.array(batches if is_static([batches]) else _ENDLESS, np.int64))
    return step.emit_regions("loop", [trips, always], [region], most=(batches,), size=())
