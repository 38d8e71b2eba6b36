"""IF and WHILE: their graphs are regions, but a branch whose condition is known stands in its place."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from buildtool.importers.branches import sizes_that_differ
from buildtool.importers.builder import Tensor
from buildtool.importers.step import Step
from buildtool.importers.tflite.registry import handler
from buildtool.ir.graph import Region
from buildtool.ir.types import DType, TensorType

_ENDLESS = np.iinfo(np.int64).max
_COUNT = TensorType(DType.S64, ())


@handler("IF")
def if_(step: Step) -> Sequence[Tensor]:
    """Input 0 is the condition; both graphs get the others."""
    count, given = len(step.node.outputs), step.present()[1:]
    condition = step.input(0)
    if condition.content is not None:
        taken = "then_subgraph_index" if condition.content.reshape(-1)[:1].any() else "else_subgraph_index"
        return step.run_body(step.body(taken, count), given) or ()
    regions: list[Region] = []
    branches: list[Sequence[Tensor]] = []
    for name in ("then_subgraph_index", "else_subgraph_index"):
        regions.append(Region())
        with step.inside(regions[-1]):
            outputs = step.run_body(step.body(name, count), given)
        if outputs is None:
            return ()
        step.give(regions[-1], outputs)
        branches.append(outputs)
    sizes = sizes_that_differ(step, branches[0], branches[1])
    return step.emit_regions("if_else", [step.reshape(condition, ())], regions, sizes=sizes)


@handler("WHILE")
def while_(step: Step) -> Sequence[Tensor]:
    """One graph tells whether it goes on, the other makes the next values out of the last ones."""
    starts = step.present()
    condition, body = step.body("cond_subgraph_index", 1), step.body("body_subgraph_index", len(starts))
    first = step.run_body(condition, starts)
    if first is None:
        return ()
    region = Region()
    step.taken(region, _COUNT)
    carried = [step.taken(region, start.type) for start in starts]
    with step.inside(region):
        made = step.run_body(body, carried)
        goes_on = None if made is None else step.run_body(condition, made)
    if made is None or goes_on is None:
        return ()
    for before, after in zip(starts, made, strict=True):
        if before.type != after.type:
            step.unsupported(
                f"a value begins as {before.type} and becomes {after.type}; values keep their type in a loop",
                "let the loop write into a tensor of its final size",
            )
    with step.inside(region):
        again = step.reshape(goes_on[0], ())
    step.give(region, [again, *made])
    operands = [step.constant(np.array(_ENDLESS, np.int64)), step.reshape(first[0], ()), *starts]
    return step.emit_regions("loop", operands, [region], most=(), size=())
