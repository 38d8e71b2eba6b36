"""What makes content out of shapes and numbers that are known on import."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.ranges import range_of
from buildtool.importers.size_arithmetic import combined, compared, reduced
from buildtool.importers.step import Step
from buildtool.importers.tensorflow.registry import evaluator, handler
from buildtool.importers.tensorflow.values import element_type
from buildtool.ir.dims import product
from buildtool.schemas import tensorflow_graph_pb2 as pb

_WHOLE = {
    "Add": "add",
    "AddV2": "add",
    "Div": "div",
    "FloorDiv": "floor_div",
    "FloorMod": "mod",
    "Maximum": "maximum",
    "Minimum": "minimum",
    "Mul": "mul",
    "Pow": "pow",
    "Sub": "sub",
    "TruncateDiv": "div",
}
_RELATIONS = {
    "Equal": "equal",
    "Greater": "greater",
    "GreaterEqual": "greater_equal",
    "Less": "less",
    "LessEqual": "less_equal",
}


def _sizes(step: Step, tensor: Tensor) -> Tensor:
    content = np.empty(tensor.rank, object)
    content[:] = tensor.shape
    return Tensor.of(content, element_type(step, "out_type", pb.DT_INT32))


@evaluator("Shape", any_size=True)
def shape(step: Step) -> Tensor:
    return _sizes(step, step.input(0))


@handler("ShapeN")
def shapes(step: Step) -> Sequence[Tensor]:
    return [_sizes(step, tensor) for tensor in step.present()]


@evaluator("Rank", any_size=True)
def rank(step: Step) -> Tensor:
    return Tensor.of(np.array(step.input(0).rank, np.int32))


@evaluator("Size", any_size=True)
def size(step: Step) -> Tensor:
    content = np.empty((), object)
    content[()] = product(step.input(0).shape)
    return Tensor.of(content, element_type(step, "out_type", pb.DT_INT32))


@handler("Fill")
def fill(step: Step) -> Tensor:
    value = step.input(1)
    return step.emit("broadcast_to", step.reshape(value, ()), shape=step.known_dims(0, "shape"))


@handler("Range")
def range_(step: Step) -> Tensor:
    return range_of(step, (step.input(0), step.input(1), step.input(2)))


@handler("LinSpace")
def even_steps(step: Step) -> Tensor:
    start, stop = (step.known_number(index, "bounds") for index in range(2))
    count = step.known_int(2, "count")
    step.check_table(max(count, 1))
    return step.constant(np.linspace(start, stop, max(count, 0)).astype(step.input(0).dtype.numpy))


@evaluator("BroadcastArgs")
def broadcast_args(step: Step) -> Tensor | None:
    one, other = step.input(0).content, step.input(1).content
    if one is None or other is None:
        return None
    try:
        made = np.broadcast_shapes(*(tuple(int(dim) for dim in np.atleast_1d(shape)) for shape in (one, other)))
    except ValueError:
        step.malformed("its two shapes do not broadcast")
    return Tensor.of(np.array(made, one.dtype))


@evaluator(*_WHOLE)
def whole_numbers(step: Step) -> Tensor | None:
    return combined(step, _WHOLE[step.node.op])


@evaluator("Prod", "Sum")
def reduced_sizes(step: Step) -> Tensor | None:
    axes = step.known_ints(1, "axes")
    return reduced(step, step.node.op.lower(), axes, step.integer("keep_dims", 0) != 0) if axes else None


@evaluator(*_RELATIONS)
def comparison(step: Step) -> Tensor | None:
    return compared(step, _RELATIONS[step.node.op])
