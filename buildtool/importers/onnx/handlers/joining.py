"""Concat and Split."""

from __future__ import annotations

from collections.abc import Sequence

from buildtool.importers.onnx.builder import Tensor
from buildtool.importers.onnx.registry import handler
from buildtool.importers.onnx.step import Step


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
        sizes = _equal(step, x, axis)
    if len(sizes) != len(step.node.outputs) or any(size < 0 for size in sizes) or sum(sizes) != x.shape[axis]:
        step.malformed(f"it cannot split {x.shape[axis]} into {list(sizes)} for {len(step.node.outputs)} outputs")
    return step.emit_all("split", x, axis=axis, sizes=sizes)


def _equal(step: Step, x: Tensor, axis: int) -> tuple[int, ...]:
    size, count = x.shape[axis], step.integer("num_outputs", len(step.node.outputs))
    if not isinstance(size, int):
        step.unsupported("a split of a run-time dimension into equal parts", "state the sizes")
    if count != len(step.node.outputs) or count < 1:
        step.malformed(f"it has {len(step.node.outputs)} outputs, but num_outputs is {count}")
    part = -(-size // count)
    return (*([part] * (count - 1)), size - part * (count - 1))
