"""If and While of functions: regions of the graph, but for what is decided on import."""

from __future__ import annotations

from collections.abc import Sequence

from buildtool.importers.branches import conditional
from buildtool.importers.builder import Tensor
from buildtool.importers.step import Step
from buildtool.importers.tensorflow.loops import loop
from buildtool.importers.tensorflow.registry import handler


@handler("If", "StatelessIf")
def if_(step: Step) -> Sequence[Tensor]:
    """Input 0 is the condition; both functions get the others."""
    return conditional(step, "then_branch", "else_branch")


@handler("While", "StatelessWhile")
def while_(step: Step) -> Sequence[Tensor]:
    """One function tells whether it goes on, the other makes the next values out of the last ones."""
    return loop(step, "cond", "body")
