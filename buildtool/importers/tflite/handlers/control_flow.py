"""IF and WHILE: their graphs are regions, but a branch whose condition is known replaces the node."""

from __future__ import annotations

from collections.abc import Sequence

from buildtool.importers.branches import conditional, while_loop
from buildtool.importers.builder import Tensor
from buildtool.importers.step import Step
from buildtool.importers.tflite.registry import handler
from buildtool.importers.tflite.rows import SET_ROW
from buildtool.ir.types import DType


@handler("IF")
def if_(step: Step) -> Sequence[Tensor]:
    return conditional(step, "then_subgraph_index", "else_subgraph_index")


@handler(SET_ROW)
def set_row(step: Step) -> Tensor:
    x, place, row = step.input(0), step.input(1), step.input(2)
    if row.shape[1:] != x.shape[1:] or row.shape[0] != 1:
        step.malformed(f"a row {list(row.shape)} of a tensor {list(x.shape)}")
    number = step.emit("cast", step.reshape(place, (1, 1)), to=DType.S64)
    return step.emit("scatter_nd", x, number, row, reduction="none")


@handler("WHILE")
def while_(step: Step) -> Sequence[Tensor]:
    return while_loop(step, "cond_subgraph_index", "body_subgraph_index")
