"""Operators that only give a tensor another shape or another order of axes."""

from __future__ import annotations

from buildtool.importers.builder import Tensor
from buildtool.importers.onnx.registry import handler
from buildtool.importers.step import Step
from buildtool.ir.dims import Dim, product
from buildtool.ir.verify import MAX_RANK


@handler("Reshape")
def reshape(step: Step) -> Tensor:
    x, wanted = step.input(0), step.known_dims(1, "shape")
    if any(isinstance(dim, int) and dim < -1 for dim in wanted) or wanted.count(-1) > 1:
        step.malformed(f"the shape {[str(dim) for dim in wanted]} is not possible")
    keeps = not step.integer("allowzero", 0)
    if keeps and any(dim == 0 and axis >= x.rank for axis, dim in enumerate(wanted)):
        step.malformed("the shape takes over a dimension that the input does not have")
    shape: list[Dim] = [x.shape[axis] if dim == 0 and keeps else dim for axis, dim in enumerate(wanted)]
    if -1 in shape:
        others = product(dim for dim in shape if dim != -1)
        if others == 0:
            step.malformed("a free dimension beside an empty one")
        shape[shape.index(-1)] = product(x.shape) // others
    return step.emit("reshape", x, shape=tuple(shape))


@handler("Flatten")
def flatten(step: Step) -> Tensor:
    x = step.input(0)
    axis = step.integer("axis", 1)
    if not -x.rank <= axis <= x.rank:
        step.malformed(f"there is no axis {axis} in a tensor of rank {x.rank}")
    axis = axis + x.rank if axis < 0 else axis
    return step.emit("reshape", x, shape=(product(x.shape[:axis]), product(x.shape[axis:])))


@handler("Squeeze")
def squeeze(step: Step) -> Tensor:
    x = step.input(0)
    stated = _axes(step)
    if stated is None:
        axes = tuple(axis for axis, dim in enumerate(x.shape) if dim == 1)
    else:
        axes = step.axes(stated, x.rank)
    if any(x.shape[axis] != 1 for axis in axes):
        step.malformed(f"it removes axes {list(axes)} of {list(x.shape)}, but not all of them are 1")
    return step.emit("reshape", x, shape=tuple(dim for axis, dim in enumerate(x.shape) if axis not in axes))


@handler("Unsqueeze")
def unsqueeze(step: Step) -> Tensor:
    x = step.input(0)
    stated = _axes(step)
    if stated is None:
        step.malformed("the axes are missing")
    rank = x.rank + len(stated)
    if rank > MAX_RANK:
        step.unsupported(f"a tensor of rank {rank}", f"tensors have at most {MAX_RANK} axes")
    axes = step.axes(stated, rank)
    rest = iter(x.shape)
    return step.emit("reshape", x, shape=tuple(1 if axis in axes else next(rest) for axis in range(rank)))


def _axes(step: Step) -> tuple[int, ...] | None:
    """The axes: an attribute before opset 13, an input from then on."""
    if step.opset >= 13:
        return step.known_ints(1, "axes") if step.optional(1) is not None else None
    return step.integers("axes") if step.has("axes") else None


@handler("Transpose")
def transpose(step: Step) -> Tensor:
    x = step.input(0)
    perm = step.integers("perm", tuple(reversed(range(x.rank))))
    if sorted(perm) != list(range(x.rank)):
        step.malformed(f"{list(perm)} is not a permutation of {x.rank} axes")
    return step.emit("transpose", x, perm=perm)
