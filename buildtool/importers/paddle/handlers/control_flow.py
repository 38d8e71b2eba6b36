"""Branches and loops: blocks of a program that become regions, or replace their node where that can be decided now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from buildtool.importers.branches import sizes_that_differ
from buildtool.importers.builder import Tensor
from buildtool.importers.model import SourceBody
from buildtool.importers.paddle.loops import Loop
from buildtool.importers.paddle.program import CONDITIONAL, WHILE
from buildtool.importers.paddle.registry import REGISTRY, handler, many, one
from buildtool.importers.step import Step
from buildtool.ir.dims import Dim, bounds, symbols
from buildtool.ir.graph import Region
from buildtool.ir.types import DType


@REGISTRY.handler(WHILE)
def loop(step: Step) -> Sequence[Tensor]:
    return Loop(step).emitted()


@REGISTRY.handler(CONDITIONAL)
def conditional(step: Step) -> Sequence[Tensor]:
    """What a block does not write keeps the value that it had; what had none is zero."""
    then, otherwise = step.body("then"), step.body("else", len(step.body("then").outputs))
    read = [place for place, name in enumerate(step.node.outputs) if name]
    condition = _condition(step)
    if condition.content is not None:
        taken, other = (then, otherwise) if condition.content.reshape(-1)[:1].any() else (otherwise, then)
        made = _made(step, taken, read)
        if made is None:
            return ()
        if any(tensor is None for tensor in made):  # somebody reads what nobody writes
            with step.inside(Region()):
                made = _filled(step, made, _made(step, other, read))
        return _in_place(step, read, made)
    regions = Region(), Region()
    branches: list[list[Tensor | None]] = []
    for region, body in zip(regions, (then, otherwise), strict=True):
        with step.inside(region):
            outputs = _made(step, body, read)
        if outputs is None:
            return ()
        branches.append(outputs)
    for region, (mine, others) in zip(regions, (branches, branches[::-1]), strict=True):
        with step.inside(region):
            step.give(region, [item for item in _filled(step, mine, others) if item is not None])
    full = [[Tensor(value.type, None, value) for value in region.outputs] for region in regions]
    sizes = sizes_that_differ(step, *full)
    results = step.emit_regions("if_else", [step.reshape(condition, ())], regions, sizes=sizes)
    return _in_place(step, read, results)


def _condition(step: Step) -> Tensor:
    """One number; or it holds where tensors have elements."""
    if step.integer("is_scalar_condition", 0):
        return one(step, "Cond")
    sizes = [dim for tensor in many(step, "Cond") for dim in tensor.shape]
    if any(bounds(dim)[0] < 1 for dim in sizes if dim != 0):
        step.unsupported("whether a tensor has elements is known only at run time", "fix the input shapes")
    return step.constant(np.array(0 not in sizes))


def _made(step: Step, body: SourceBody, read: Sequence[int]) -> list[Tensor | None] | None:
    """What a block gives of what is read; None where it has not been written."""
    if any(place >= len(body.outputs) for place in read):
        step.malformed(f"its block gives {len(body.outputs)} tensors, and more are read")
    names = [body.outputs[place] for place in read]
    made = step.run_body(replace(body, outputs=tuple(name for name in names if name)), [])
    if made is None:
        return None
    found = iter(made)
    return [next(found) if name else None for name in names]


def _filled(step: Step, made: Sequence[Tensor | None], others: Sequence[Tensor | None] | None) -> list[Tensor | None]:
    """Zeros like those of the other block where there is nothing."""
    if others is None:
        return list(made)
    return [mine if mine is not None else _zeros(step, other) for mine, other in zip(made, others, strict=True)]


def _zeros(step: Step, like: Tensor | None) -> Tensor | None:
    """Without elements along the axes whose sizes are found inside of the other block."""
    if like is None:
        step.malformed("a block leaves a variable unwritten that is read")
    shape = tuple(dim if _is_fixed(dim) else 0 for dim in like.shape)
    zero = step.constant(np.zeros((), like.dtype.numpy))
    return step.emit("broadcast_to", zero, shape=shape) if shape else zero


def _is_fixed(dim: Dim) -> bool:
    return not symbols(dim)


def _in_place(step: Step, read: Sequence[int], made: Sequence[Tensor | None]) -> list[Tensor]:
    """All outputs in order. Those that nobody reads are any."""
    found = dict(zip(read, made, strict=True))
    filler = next((tensor for tensor in made if tensor is not None), None) or step.constant(np.array(0.0, np.float32))
    return [found.get(place) or filler for place in range(len(step.node.outputs))]


@handler("select_input")
def selected(step: Step) -> Tensor:
    """One of several tensors, by its number."""
    mask, given = one(step, "Mask"), many(step, "X")
    if mask.content is not None:
        number = int(mask.content.reshape(-1)[0])
        if not 0 <= number < len(given):
            step.malformed(f"it selects number {number} of {len(given)} tensors")
        return given[number]
    if len(given) != 2:
        step.unsupported(f"a choice among {len(given)} tensors that the data makes", "two are supported")
    is_second = step.reshape(step.emit("cast", mask, to=DType.BOOL), ())
    regions = []
    for tensor in given[::-1]:
        regions.append(Region())
        with step.inside(regions[-1]):
            step.give(regions[-1], [step.emit("identity", tensor)])
    sizes = sizes_that_differ(step, [given[1]], [given[0]])
    (y,) = step.emit_regions("if_else", [is_second], regions, sizes=sizes)
    return y
