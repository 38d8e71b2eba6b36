"""Operators that only move elements."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from buildtool.importers.blocks import from_batch, mirrored, pairs, to_batch
from buildtool.importers.builder import Tensor
from buildtool.importers.step import Step
from buildtool.importers.strided_slices import reversed_along, strided_slice
from buildtool.importers.tensorflow.registry import handler
from buildtool.importers.tensorflow.values import Picture
from buildtool.ir.dims import product

handler("StridedSlice")(strided_slice)


@handler("Reshape")
def reshape(step: Step) -> Tensor:
    x, wanted = step.input(0), list(step.known_dims(1, "shape"))
    free = [axis for axis, dim in enumerate(wanted) if dim == -1]
    if len(free) > 1:
        step.malformed(f"the shape {wanted} leaves {len(free)} sizes open")
    if free:
        count, others = product(x.shape), product(dim for dim in wanted if dim != -1)
        if others == 0 or (isinstance(count, int) and isinstance(others, int) and count % others):
            step.malformed(f"{count} elements cannot be divided into rows of {others}")
        wanted[free[0]] = count // others
    return step.reshape(x, tuple(wanted))


@handler("Squeeze")
def squeeze(step: Step) -> Tensor:
    x = step.input(0)
    axes = step.axes(step.integers("squeeze_dims", step.integers("axis", ())), x.rank)
    if not axes:
        axes = tuple(axis for axis, dim in enumerate(x.shape) if dim == 1)
    return step.reshape(x, tuple(dim for axis, dim in enumerate(x.shape) if axis not in axes))


@handler("ExpandDims")
def expand_dims(step: Step) -> Tensor:
    x = step.input(0)
    axis = step.known_int(1, "axis")
    axis = step.axis(axis, x.rank + 1)
    return step.reshape(x, (*x.shape[:axis], 1, *x.shape[axis:]))


@handler("Transpose")
def transpose(step: Step) -> Tensor:
    x = step.input(0)
    perm = step.axes(step.known_ints(1, "permutation"), x.rank)
    if len(perm) != x.rank:
        step.malformed(f"a permutation of {len(perm)} axes for a tensor of rank {x.rank}")
    return step.transpose(x, perm)


# -- joining and splitting ---------------------------------------------------------------------------------------------
@handler("ConcatV2", "Concat")
def concatenation(step: Step) -> Tensor:
    """The axis is the last input, in the older form the first."""
    place = len(step.inputs) - 1 if step.node.op == "ConcatV2" else 0
    axis = step.known_int(place, "axis")
    parts = [step.input(index) for index in range(len(step.inputs)) if index != place]
    if not parts:
        step.malformed("it has nothing to join")
    axis = step.axis(axis, parts[0].rank)
    return parts[0] if len(parts) == 1 else step.emit("concat", *parts, axis=axis)


@handler("Pack", "Stack")
def pack(step: Step) -> Tensor:
    parts = step.present()
    shape = parts[0].shape
    axis = step.axis(step.integer("axis", 0), len(shape) + 1)
    if any(part.rank != len(shape) for part in parts):
        step.malformed("its inputs have different ranks")
    rows = [step.reshape(part, (*part.shape[:axis], 1, *part.shape[axis:])) for part in parts]
    return rows[0] if len(rows) == 1 else step.emit("concat", *rows, axis=axis)


@handler("Unpack", "Unstack")
def unpack(step: Step) -> Sequence[Tensor]:
    x = step.input(0)
    axis = step.axis(step.integer("axis", 0), x.rank)
    count = step.integer("num")
    size = x.shape[axis]
    if count < 1 or (isinstance(size, int) and count != size):
        step.malformed(f"{count} outputs of a tensor with {size} elements along that axis")
    step.check_table(count)
    shape = tuple(dim for other, dim in enumerate(x.shape) if other != axis)
    return [step.reshape(part, shape) for part in _split(step, x, axis, [1] * count)]


@handler("Split")
def split(step: Step) -> Sequence[Tensor]:
    x, count = step.input(1), step.integer("num_split")
    axis = step.known_int(0, "axis")
    axis = step.axis(axis, x.rank)
    size = x.shape[axis]
    if not isinstance(size, int):
        step.unsupported(f"the run-time size {size} is split", "fix the input shapes")
    if count < 1 or size % count:
        step.malformed(f"{size} elements in {count} parts")
    return _split(step, x, axis, [size // count] * count)


@handler("SplitV")
def split_by_sizes(step: Step) -> Sequence[Tensor]:
    x, sizes = step.input(0), list(step.known_ints(1, "sizes"))
    axis = step.known_int(2, "axis")
    axis = step.axis(axis, x.rank)
    whole = x.shape[axis]
    if -1 in sizes and isinstance(whole, int):
        sizes[sizes.index(-1)] = whole - sum(size for size in sizes if size != -1)
    return _split(step, x, axis, sizes)


def _split(step: Step, x: Tensor, axis: int, sizes: Sequence[int]) -> Sequence[Tensor]:
    return (x,) if len(sizes) == 1 else step.emit_all("split", x, axis=axis, sizes=tuple(sizes))


# -- repeating and reversing -------------------------------------------------------------------------------------------
@handler("Tile")
def tile(step: Step) -> Tensor:
    return step.emit("tile", step.input(0), repeats=step.known_ints(1, "counts"))


@handler("BroadcastTo")
def broadcast_to(step: Step) -> Tensor:
    return step.emit("broadcast_to", step.input(0), shape=step.known_dims(1, "shape"))


@handler("ReverseV2")
def reverse(step: Step) -> Tensor:
    return reversed_along(step)


@handler("ReverseSequence")
def reverse_sequence(step: Step) -> Tensor:
    x = step.input(0)
    return step.emit(
        "reverse_sequence",
        x,
        step.input(1),
        batch_axis=step.axis(step.integer("batch_dim", 0), x.rank),
        time_axis=step.axis(step.integer("seq_dim"), x.rank),
    )


@handler("Roll")
def roll(step: Step) -> Tensor:
    """What falls off at the end comes back in front."""
    x, shifts, axes = step.input(0), step.known_ints(1, "shifts"), step.known_ints(2, "axes")
    if len(shifts) != len(axes):
        step.malformed(f"{len(shifts)} shifts along {len(axes)} axes")
    for shift, axis in zip(shifts, (step.axis(axis, x.rank) for axis in axes), strict=True):
        size = x.shape[axis]
        if not isinstance(size, int):
            step.unsupported(f"the run-time size {size} is rolled", "fix the input shapes")
        cut = shift % size if size else 0
        if cut:
            front, back = step.emit_all("split", x, axis=axis, sizes=(size - cut, cut))
            x = step.emit("concat", back, front, axis=axis)
    return x


# -- blocks ------------------------------------------------------------------------------------------------------------
_BLOCKS = {"SpaceToDepth": "space_to_depth", "DepthToSpace": "depth_to_space"}


@handler(*_BLOCKS)
def between_space_and_depth(step: Step) -> Tensor:
    """The place in a block counts before the channel, whatever the data format."""
    picture = Picture.of(step, step.input(0), 4)
    y = step.emit(_BLOCKS[step.node.op], picture.last(step.input(0)), block=step.integer("block_size"), mode="DCR")
    return picture.back(y)


@handler("SpaceToBatchND", "SpaceToBatch")
def space_to_batch(step: Step) -> Tensor:
    """The older form has its one block size, for both axes of a picture, as an attribute."""
    if step.node.op == "SpaceToBatch":
        return to_batch(step, step.input(0), (step.integer("block_size"),) * 2, pairs(step, 1, "paddings"), 0.0)
    return to_batch(step, step.input(0), step.known_ints(1, "blocks"), pairs(step, 2, "paddings"), 0.0)


@handler("BatchToSpaceND", "BatchToSpace")
def batch_to_space(step: Step) -> Tensor:
    if step.node.op == "BatchToSpace":
        return from_batch(step, step.input(0), (step.integer("block_size"),) * 2, pairs(step, 1, "crops"))
    return from_batch(step, step.input(0), step.known_ints(1, "blocks"), pairs(step, 2, "crops"))


# -- borders -----------------------------------------------------------------------------------------------------------
@handler("Pad", "PadV2")
def pad(step: Step) -> Tensor:
    x = step.input(0)
    value = step.known_number(2, "value") if step.node.op == "PadV2" else 0.0
    before, after = _paddings(step, x)
    if x.dtype.is_integer and float(np.float32(value)) != value:
        step.unsupported(f"a border of {value}", "integers that a 32-bit float holds are supported")
    return step.emit("pad", x, before=before, after=after, mode="constant", value=value)


@handler("MirrorPad")
def mirror_pad(step: Step) -> Tensor:
    """REFLECT does not repeat the outermost elements, SYMMETRIC does."""
    x, mode = step.input(0), step.text("mode")
    before, after = _paddings(step, x)
    if mode == "REFLECT":
        return step.emit("pad", x, before=before, after=after, mode="reflect", value=0.0)
    if mode != "SYMMETRIC":
        step.malformed(f"the mode is '{mode}'")
    return mirrored(step, x, before, after)


def _paddings(step: Step, x: Tensor) -> tuple[tuple[int, ...], tuple[int, ...]]:
    amounts = pairs(step, 1, "paddings")
    if len(amounts) != x.rank:
        step.malformed(f"paddings of {len(amounts)} axes for a tensor of rank {x.rank}")
    return tuple(int(item) for item in amounts[:, 0]), tuple(int(item) for item in amounts[:, 1])
