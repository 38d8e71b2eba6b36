"""What makes content out of shapes and numbers that are known on import."""

from __future__ import annotations

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.ranges import range_of
from buildtool.importers.size_arithmetic import combined, compared, reduced
from buildtool.importers.step import Step
from buildtool.importers.tflite.registry import evaluator, handler

_WHOLE = {
    "ADD": "add",
    "SUB": "sub",
    "MUL": "mul",
    "FLOOR_DIV": "floor_div",
    "DIV": "div",
    "MINIMUM": "minimum",
    "MAXIMUM": "maximum",
    "FLOOR_MOD": "mod",
}


@evaluator("SHAPE", any_size=True)
def shape(step: Step) -> Tensor:
    dims = step.input(0).shape
    content = np.empty(len(dims), object)
    content[:] = dims
    return Tensor.of(content, step.made_dtype(0))


@evaluator("RANK", any_size=True)
def rank(step: Step) -> Tensor:
    return Tensor.of(np.array(step.input(0).rank, np.int32))


@handler("FILL")
def fill(step: Step) -> Tensor:
    value = step.input(1)
    return step.emit("broadcast_to", step.reshape(value, ()), shape=step.known_dims(0, "shape"))


@handler("RANGE")
def range_(step: Step) -> Tensor:
    return range_of(step, (step.input(0), step.input(1), step.input(2)))


@evaluator("BROADCAST_ARGS")
def broadcast_args(step: Step) -> Tensor | None:
    if step.input(0).content is None or step.input(1).content is None:
        return None
    one, other = step.known_ints(0, "shape"), step.known_ints(1, "other shape")
    try:
        made = np.broadcast_shapes(one, other)
    except ValueError:
        step.malformed(f"the shapes {list(one)} and {list(other)} cannot be broadcast")
    return Tensor.of(np.array(made, step.input(0).dtype.numpy))


@evaluator(*_WHOLE)
def whole_numbers(step: Step) -> Tensor | None:
    if any(step.node.quantisation.get(name) for name in step.node.inputs):
        return None
    if step.integer("fused_activation_function", 0):
        return None
    return combined(step, _WHOLE[step.node.op])


@evaluator("REDUCE_PROD", "SUM")
def reduced_sizes(step: Step) -> Tensor | None:
    axes = step.known_ints(1, "axes")
    op = "prod" if step.node.op == "REDUCE_PROD" else "sum"
    return reduced(step, op, axes, step.integer("keep_dims", 0) != 0)


@evaluator("EQUAL", "LESS", "GREATER", "LESS_EQUAL", "GREATER_EQUAL")
def comparison(step: Step) -> Tensor | None:
    return compared(step, step.node.op.lower())
