"""IF and WHILE: their graphs are regions, but a branch whose condition is known stands in its place."""

from __future__ import annotations

from collections.abc import Sequence

from buildtool.importers.branches import conditional, while_loop
from buildtool.importers.builder import Tensor
from buildtool.importers.step import Step
from buildtool.importers.tflite.registry import handler


@handler("IF")
def if_(step: Step) -> Sequence[Tensor]:
    return conditional(step, "then_subgraph_index", "else_subgraph_index")


@handler("WHILE")
def while_(step: Step) -> Sequence[Tensor]:
    return while_loop(step, "cond_subgraph_index", "body_subgraph_index")
