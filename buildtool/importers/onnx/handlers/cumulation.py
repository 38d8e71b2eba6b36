"""CumSum and CumProd: the axis is an input that has to be known."""

from __future__ import annotations

from buildtool.importers.builder import Tensor
from buildtool.importers.onnx.registry import handler
from buildtool.importers.step import Step

_OPERATORS = {"CumSum": "cumsum", "CumProd": "cumprod"}


@handler(*_OPERATORS)
def cumulated(step: Step) -> Tensor:
    x, stated = step.input(0), step.known_ints(1, "axis")
    if len(stated) != 1:
        step.malformed(f"its axis (input 1) is {list(stated)}, not one number")
    return step.emit(
        _OPERATORS[step.node.op],
        x,
        axis=step.axis(stated[0], x.rank),
        exclusive=bool(step.integer("exclusive", 0)),
        reverse=bool(step.integer("reverse", 0)),
    )
