"""Graphs inside of a node: branches, of which only the data may decide which is taken, and loops."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from buildtool.errors import ModelFileError
from buildtool.importers.builder import Tensor
from buildtool.importers.lists import OpenList, shaped
from buildtool.importers.model import SourceBody
from buildtool.importers.step import Step
from buildtool.ir.dims import UNBOUNDED, Dim, bounds
from buildtool.ir.graph import Region
from buildtool.ir.operator import OperatorError
from buildtool.ir.types import DType, TensorType
from buildtool.ops.if_else import differing

_ENDLESS = np.iinfo(np.int64).max
_COUNT = TensorType(DType.S64, ())


def sizes_that_differ(step: Step, branch: Sequence[Tensor], other: Sequence[Tensor]) -> tuple[Dim, ...]:
    """A symbol for each axis along which the results of two branches differ."""
    return tuple(dim for one, two in zip(branch, other, strict=True) for dim in _sizes(step, one, two))


def _sizes(step: Step, one: Tensor, other: Tensor) -> list[Dim]:
    try:
        axes = differing(one.type, other.type)
    except OperatorError:
        step.unsupported(
            f"its branches give {one.type} and {other.type}, and the branch is known only at run time",
            "let both branches give the same element type and rank, or make the condition a constant",
        )
    sizes = []
    for axis in axes:
        most = max(bounds(one.shape[axis])[1], bounds(other.shape[axis])[1])
        if most >= UNBOUNDED:
            step.unsupported(
                f"its branches give {one.type} and {other.type}, and the size is unbounded",
                "declare input_shapes with smaller upper bounds",
            )
        sizes.append(step.data_size("if_else", most))
    return sizes


def conditional(step: Step, then: str, otherwise: str) -> Sequence[Tensor]:
    """One of two graphs of the node, by input 0; both get the other inputs. What is decided already is not tried."""
    given, condition = step.present()[1:], step.input(0)
    if condition.content is not None:
        taken = then if condition.content.reshape(-1)[:1].any() else otherwise
        return step.run_body(step.body(taken), given) or ()
    first = step.body(then)
    return either(step, step.reshape(condition, ()), (first, step.body(otherwise, len(first.outputs))), given)


def either(
    step: Step, condition: Tensor, bodies: tuple[SourceBody, SourceBody], given: Sequence[Tensor]
) -> Sequence[Tensor]:
    """One of two graphs by a condition that is only known when the model runs; () where an operator has no handler.

    A graph that cannot compute at the declared sizes gives NaN (integers: 0): the model itself would fail there.
    """
    made: list[tuple[Region, Sequence[Tensor]] | None] = []
    problems: list[ModelFileError] = []
    for body in bodies:
        region = Region()
        try:
            with step.inside(region):
                outputs = step.run_body(body, given)
        except ModelFileError as problem:
            problems.append(problem)
            made.append(None)
            continue
        if outputs is None:
            return ()
        step.give(region, outputs)
        made.append((region, outputs))
    possible = next((branch for branch in made if branch is not None), None)
    if possible is None:
        raise ModelFileError([one for problem in problems for one in problem.problems])
    whole = [_impossible(step, possible[1]) if branch is None else branch for branch in made]
    sizes = sizes_that_differ(step, whole[0][1], whole[1][1])
    return step.emit_regions("if_else", [condition], [region for region, _ in whole], sizes=sizes)


def _impossible(step: Step, others: Sequence[Tensor]) -> tuple[Region, Sequence[Tensor]]:
    """The branch in the place of one that cannot compute: no numbers, as many as the other branch gives."""
    region = Region()
    with step.inside(region):
        outputs = [_no_numbers(step, tensor) for tensor in others]
    step.give(region, outputs)
    return region, outputs


def _no_numbers(step: Step, like: Tensor) -> Tensor:
    number = step.constant(np.full((), np.nan if like.dtype.is_float else 0, like.dtype.numpy))
    return step.emit("broadcast_to", number, shape=like.shape)


def while_loop(step: Step, condition: str, body: str) -> Sequence[Tensor]:
    """Two graphs of the node get its inputs: one tells whether it goes on, the other gives the next values."""
    return _While(step, step.body(condition, 1), step.body(body, len(step.present()))).emitted()


class _While:
    def __init__(self, step: Step, condition: SourceBody, body: SourceBody) -> None:
        self._step = step
        self._condition = condition
        self._body = body
        self._starts = step.present()

    def emitted(self) -> Sequence[Tensor]:
        step = self._step
        first = step.run_body(self._condition, self._starts)
        if first is None:
            return ()
        if first[0].content is not None and not first[0].content.reshape(-1)[:1].any():
            return self._starts
        fixed: frozenset[int] = frozenset()  # values that no iteration changes
        while True:
            region = Region()
            step.taken(region, _COUNT)
            carried = [
                start if index in fixed or isinstance(start, OpenList) else step.taken(region, start.type)
                for index, start in enumerate(self._starts)
            ]
            with step.inside(region):
                made = step.run_body(self._body, carried)
                goes_on = None if made is None else step.run_body(self._condition, made)
            if made is None or goes_on is None:
                return ()
            same = {index for index, tensor in enumerate(made) if _is(tensor, carried[index])}
            found = [index for index, tensor in enumerate(made) if _is_shaped(self._starts[index], tensor)]
            if same <= fixed and not found:
                break
            fixed |= same
            for index in found:
                self._starts[index] = shaped(step, self._starts[index], made[index].shape[1:])
        return self._loop(region, first[0], goes_on[0], made, fixed)

    def _loop(
        self, region: Region, first: Tensor, goes_on: Tensor, made: Sequence[Tensor], fixed: frozenset[int]
    ) -> Sequence[Tensor]:
        step = self._step
        changing = [index for index in range(len(made)) if index not in fixed]
        for index in changing:
            before, after = self._starts[index], made[index]
            if before.type != after.type:
                step.unsupported(
                    f"a value starts as {before.type} and becomes {after.type}; values of a loop must keep their type",
                    "let the loop write into a tensor of its final size",
                )
        with step.inside(region):
            again = step.reshape(goes_on, ())
        step.give(region, [again, *(made[index] for index in changing)])
        starts = [self._starts[index] for index in changing]
        operands = [step.constant(np.array(_ENDLESS, np.int64)), step.reshape(first, ()), *starts]
        results = iter(step.emit_regions("loop", operands, [region], most=(), size=()))
        return [self._starts[index] if index in fixed else next(results) for index in range(len(made))]


def _is_shaped(start: Tensor, made: Tensor) -> bool:
    """Whether an iteration says what the list holds that it begins with."""
    return isinstance(start, OpenList) and not isinstance(made, OpenList)


def _is(tensor: Tensor, other: Tensor) -> bool:
    """Whether a tensor is another one, passed on."""
    return tensor is other or (tensor.value is not None and tensor.value is other.value)
