"""Which values may stand inside of others: what a concat joins, in its result; what a slice takes, in its source.

Then the node has nothing to copy. Where the parts are of one piece anybody may make and read them; where they are
channels of pixels, rows of the last axis lie apart, and all kernels that touch them have to know.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from buildtool.ir.dims import Dim, Shape
from buildtool.ir.graph import Graph, Node, Value
from buildtool.ops.concat import Concat
from buildtool.ops.slice import Slice
from buildtool.plan.liveness import upper_shape
from buildtool.plan.plan import WorksInPlace


@dataclass(frozen=True)
class Part:
    """The place of a value inside of another one."""

    whole: Value
    at: int  # byte, at the upper bounds of all sizes


def groups(graph: Graph, kernels: Sequence[WorksInPlace]) -> list[dict[Value, Part]]:
    """By node that joins or cuts, the values that may be parts. No whole is a part of another one."""
    uses = _Uses(graph, kernels)
    claimed: set[Value] = set()
    parts: set[Value] = set()
    wholes: set[Value] = set()
    result = []
    for node, kernel in zip(graph.walk(), kernels, strict=True):
        group: dict[Value, Part] = {}
        for value, axis, part in _claims(node, kernel):
            if value in claimed or value.is_constant:
                continue
            claimed.add(value)
            if part is None or value in wholes or part.whole in parts or not uses.allow(value, part.whole, axis):
                continue
            group[value] = part
        if group:
            parts.update(group)
            wholes.update(part.whole for part in group.values())
            result.append(group)
    return result


def _claims(node: Node, kernel: WorksInPlace) -> Iterator[tuple[Value, int, Part | None]]:
    """Values, the axes along which they are parts, and their places. The kernel says the same (PlanContext).

    None is for what no planner can rely on: the kernel may say that it is a part, and the first to say so decides.
    """
    if kernel.parts == "inputs" and isinstance(node.op, Concat):
        whole, begin, axis = node.outputs[0], 0, node.op.axis
        for value in node.inputs:
            yield value, axis, Part(whole, begin * _step(whole, axis))
            begin += upper_shape(value)[axis]
    if kernel.parts == "outputs" and isinstance(node.op, Slice) and _takes_part(node):
        axis, start = _cut(node.op, node.inputs[0].type.shape)
        at = start * _step(node.inputs[0], axis) if isinstance(start, int) else None
        part = Part(node.inputs[0], at) if at is not None and not node.inputs[0].is_constant else None
        yield node.outputs[0], axis, part


def _takes_part(node: Node) -> bool:
    """Whether the output is a part of the input: with other steps it is written, and as one piece."""
    return isinstance(node.op, Slice) and all(step == 1 for step in node.op.steps)


def _cut(op: Slice, shape: Shape) -> tuple[int, Dim | None]:
    """The only axis along which a slice leaves elements out, and where it begins; None where that cannot be said."""
    cut = [axis for axis, size in enumerate(op.sizes) if size != shape[axis]]
    return (cut[0], op.starts[cut[0]]) if len(cut) == 1 else (0, None)


def _step(value: Value, axis: int) -> int:
    """Bytes from one element along an axis to the next."""
    return math.prod(upper_shape(value)[axis + 1 :]) * value.type.dtype.itemsize


class _Uses:
    """Who makes and reads each value, and how."""

    def __init__(self, graph: Graph, kernels: Sequence[WorksInPlace]) -> None:
        self.borders = {value for body in graph.bodies() for value in (*body.inputs, *body.outputs)}
        self.rigid: set[Value] = set()  # somebody makes or reads them as one piece
        self.viewed: set[Value] = set()  # made or read by views, which would have to copy
        self.numbers_only = False
        for node, kernel in zip(graph.walk(), kernels, strict=True):
            self.numbers_only |= bool(node.op.defined_symbols())
            for index, value in enumerate(node.inputs):
                if kernel.parts != "inputs" and index not in kernel.strided_inputs:
                    self.rigid.add(value)
            cut = kernel.parts == "outputs" and _takes_part(node)  # nobody else places its output
            self.rigid.update(node.outputs[0 if not (kernel.strided_output or cut) else 1 :])
            if node.op.is_view:
                self.viewed.update((*node.inputs, *node.outputs))

    def allow(self, value: Value, whole: Value, axis: int) -> bool:
        """Whether the value may be a part that is cut out of the whole along this axis."""
        if value in self.borders or value in self.viewed or 0 in upper_shape(value):
            return False
        shapes = (*value.type.shape, *whole.type.shape)
        if self.numbers_only and not all(isinstance(dim, int) for dim in shapes):
            return False  # sizes that the data decides would move the parts
        if all(dim == 1 for dim in whole.type.shape[:axis]):
            return True
        return axis == whole.type.rank - 1 and value not in self.rigid


def accepted(parts: Sequence[Mapping[Value, Part]]) -> dict[Value, Part]:
    """All parts of these nodes."""
    return {value: part for group in parts for value, part in group.items()}
