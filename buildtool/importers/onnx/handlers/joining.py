"""Concat and Split."""

from __future__ import annotations

from collections.abc import Sequence

from buildtool.importers.builder import Tensor
from buildtool.importers.onnx.registry import handler
from buildtool.importers.step import Step
from buildtool.ir.dims import Dim, bounds, ceil_div


@handler("Concat")
def concat(step: Step) -> Tensor:
    tensors = step.present()
    axis = step.axis(step.integer("axis"), tensors[0].rank)
    # Exporters join empty tensors too; they add nothing.
    filled = [tensor for tensor in tensors if tensor.rank > axis and tensor.shape[axis] != 0] or tensors[:1]
    return step.emit("concat", *filled, axis=axis)


@handler("Split")
def split(step: Step) -> Sequence[Tensor]:
    x = step.input(0)
    axis = step.axis(step.integer("axis", 0), x.rank)
    if step.opset >= 13 and step.optional(1) is not None:
        sizes = step.known_ints(1, "split")
    elif step.opset < 13 and step.has("split"):
        sizes = step.integers("split")
    else:
        return _equal(step, x, axis)
    if len(sizes) != len(step.node.outputs) or any(size < 0 for size in sizes) or not _can_sum_to(sizes, x.shape[axis]):
        step.malformed(f"it cannot split {x.shape[axis]} into {list(sizes)} for {len(step.node.outputs)} outputs")
    return step.emit_all("split", x, axis=axis, sizes=sizes)


def _can_sum_to(sizes: Sequence[int], whole: Dim) -> bool:
    low, high = bounds(whole)
    return low <= sum(sizes) <= high


def _equal(step: Step, x: Tensor, axis: int) -> Sequence[Tensor]:
    """Parts of one size; the last one is smaller where the dimension is no multiple."""
    size, count = x.shape[axis], step.integer("num_outputs", len(step.node.outputs))
    if count != len(step.node.outputs) or count < 1:
        step.malformed(f"it has {len(step.node.outputs)} outputs, but num_outputs is {count}")
    part = ceil_div(size, count)
    last = size - part * (count - 1)
    if bounds(last)[1] < 0:
        step.malformed(f"it cannot split {size} into {count} parts")
    if isinstance(part, int) and isinstance(last, int):
        return step.emit_all("split", x, axis=axis, sizes=(*([part] * (count - 1)), last))
    parts = []
    for index in range(count):
        starts: list[Dim] = [0] * x.rank
        starts[axis] = part * index
        sizes = list(x.shape)
        sizes[axis] = last if index == count - 1 else part
        parts.append(step.emit("slice", x, starts=tuple(starts), steps=(1,) * x.rank, sizes=tuple(sizes)))
    return parts
