"""Operators that hold regions: these become bodies, which read values from around them as the regions do."""

from __future__ import annotations

import numpy as np

from buildtool.exporters.onnx.registry import handler
from buildtool.exporters.onnx.step import Step


@handler("if_else")
def if_else(step: Step) -> None:
    then, other = (step.body(region, False) for region in step.node.regions)
    condition = step.forms.name(step.value(0))
    bodies = {"then_branch": then, "else_branch": other}
    names = step.writer.emit("If", [condition], "if", len(step.node.outputs), bodies=bodies)
    for index, name in enumerate(names):
        step.give(name, index)


@handler("device_region")
def device_region(step: Step) -> None:
    """ONNX has bodies in branches and loops only: a branch that is always taken."""
    bodies = {name: step.body(step.node.regions[0], False) for name in ("then_branch", "else_branch")}
    condition = step.writer.constant(np.array(True))
    names = step.writer.emit("If", [condition], "if", len(step.node.outputs), bodies=bodies)
    for index, name in enumerate(names):
        step.give(name, index)


@handler("loop")
def loop(step: Step) -> None:
    """The limit of the graph's loop joins the number of iterations."""
    body = step.body(step.node.regions[0], True)
    trips, condition, *carried = (step.forms.name(value) for value in step.node.inputs)
    if step.op.most:
        row = step.writer.reshaped(trips, (1,), "trips")
        trips = step.emit("Min", row, step.dims(step.op.most))
    operands = [step.writer.reshaped(name, (), "loop") for name in (trips, condition)]
    names = step.writer.emit("Loop", [*operands, *carried], "loop", len(step.node.outputs), bodies={"body": body})
    for index, name in enumerate(names):
        step.give(name, index)
