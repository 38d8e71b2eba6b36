"""Operators that only move elements. Quantised tensors keep their numbers, since they keep their quantisation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from buildtool.importers.blocks import from_batch, mirrored, pairs, to_batch
from buildtool.importers.builder import Tensor
from buildtool.importers.step import Step
from buildtool.importers.strided_slices import reversed_along
from buildtool.importers.tflite.registry import handler
from buildtool.importers.tflite.values import activated, output_quantisation, quantisation, real, stored
from buildtool.importers.tflite.variables import VALUE
from buildtool.ir.dims import Dim, product


@handler("RESHAPE")
def reshape(step: Step) -> Tensor:
    x = step.input(0)
    second = step.optional(1)
    if second is not None and (second.known is not None or not step.has("new_shape")):
        wanted = list(step.known_dims(1, "shape"))
    else:
        wanted = list(step.integers("new_shape", ()))
    if wanted == [0]:  # how old converters spelled a tensor without axes
        wanted = []
    free = [axis for axis, dim in enumerate(wanted) if dim == -1]
    if len(free) > 1:
        step.malformed(f"the shape {wanted} leaves {len(free)} sizes open")
    if free:
        others = product(dim for dim in wanted if dim != -1)
        wanted[free[0]] = _quotient(step, product(x.shape), others)
    return step.reshape(x, tuple(wanted))


def _quotient(step: Step, count: Dim, others: Dim) -> Dim:
    if others == 0 or (isinstance(count, int) and isinstance(others, int) and count % others):
        step.malformed(f"{count} elements cannot be divided into rows of {others}")
    return count // others


@handler(VALUE)
def value_of_variable(step: Step) -> Tensor:
    return step.emit("identity", step.input(0))


@handler("SQUEEZE")
def squeeze(step: Step) -> Tensor:
    x = step.input(0)
    axes = step.axes(step.integers("squeeze_dims", ()), x.rank)
    if not axes:
        axes = tuple(axis for axis, dim in enumerate(x.shape) if dim == 1)
    return step.reshape(x, tuple(dim for axis, dim in enumerate(x.shape) if axis not in axes))


@handler("EXPAND_DIMS")
def expand_dims(step: Step) -> Tensor:
    x = step.input(0)
    axis = step.known_int(1, "axis")
    axis = step.axis(axis, x.rank + 1)
    return step.reshape(x, (*x.shape[:axis], 1, *x.shape[axis:]))


@handler("TRANSPOSE")
def transpose(step: Step) -> Tensor:
    x = step.input(0)
    perm = step.axes(step.known_ints(1, "permutation"), x.rank)
    if len(perm) != x.rank:
        step.malformed(f"a permutation of {len(perm)} axes for a tensor of rank {x.rank}")
    return step.transpose(x, perm)


# -- joining and splitting ---------------------------------------------------------------------------------------------
def _alike(step: Step) -> list[Tensor]:
    """All inputs, as numbers in the quantisation of the output where they all have it, else what they stand for."""
    wanted = output_quantisation(step)
    indices = range(len(step.inputs))
    if wanted is None or all(quantisation(step, index) == wanted for index in indices):
        return [step.input(index) for index in indices]
    return [real(step, index) for index in indices]


@handler("CONCATENATION")
def concatenation(step: Step) -> Tensor:
    parts = [part for part in _alike(step) if 0 not in part.shape or part.rank > 1] or step.present()
    axis = step.axis(step.integer("axis"), parts[0].rank)
    y = parts[0] if len(parts) == 1 else step.emit("concat", *parts, axis=axis)
    return stored(step, activated(step, y))


@handler("PACK")
def pack(step: Step) -> Tensor:
    step.present()
    parts = _alike(step)
    axis = step.axis(step.integer("axis", 0), parts[0].rank + 1)
    shape = parts[0].shape
    rows = [step.reshape(part, (*part.shape[:axis], 1, *part.shape[axis:])) for part in parts]
    if any(part.rank != len(shape) for part in parts):
        step.malformed("its inputs have different ranks")
    return stored(step, rows[0] if len(rows) == 1 else step.emit("concat", *rows, axis=axis))


@handler("UNPACK")
def unpack(step: Step) -> Sequence[Tensor]:
    x = step.input(0)
    axis = step.axis(step.integer("axis", 0), x.rank)
    parts = _split(step, x, axis, [1] * len(step.node.outputs))
    shape = tuple(dim for other, dim in enumerate(x.shape) if other != axis)
    return [step.reshape(part, shape) for part in parts]


@handler("SPLIT")
def split(step: Step) -> Sequence[Tensor]:
    x, count = step.input(1), len(step.node.outputs)
    axis = step.known_int(0, "axis")
    axis = step.axis(axis, x.rank)
    size = x.shape[axis]
    if not isinstance(size, int):
        step.unsupported(f"the run-time size {size} is split", "fix the input shapes")
    if size % count:
        step.malformed(f"{size} elements in {count} parts")
    return _split(step, x, axis, [size // count] * count)


@handler("SPLIT_V")
def split_by_sizes(step: Step) -> Sequence[Tensor]:
    x, sizes = step.input(0), list(step.known_ints(1, "sizes"))
    axis = step.known_int(2, "axis")
    axis = step.axis(axis, x.rank)
    whole = x.shape[axis]
    if -1 in sizes and isinstance(whole, int):
        sizes[sizes.index(-1)] = whole - sum(size for size in sizes if size != -1)
    return _split(step, x, axis, sizes)


def _split(step: Step, x: Tensor, axis: int, sizes: Sequence[int]) -> Sequence[Tensor]:
    if len(sizes) == 1:
        return (step.emit("identity", x),)
    return step.emit_all("split", x, axis=axis, sizes=tuple(sizes))


# -- repeating and reversing -------------------------------------------------------------------------------------------
@handler("TILE")
def tile(step: Step) -> Tensor:
    return step.emit("tile", step.input(0), repeats=step.known_ints(1, "counts"))


@handler("BROADCAST_TO")
def broadcast_to(step: Step) -> Tensor:
    return step.emit("broadcast_to", step.input(0), shape=step.known_dims(1, "shape"))


@handler("REVERSE_V2")
def reverse(step: Step) -> Tensor:
    return reversed_along(step)


@handler("REVERSE_SEQUENCE")
def reverse_sequence(step: Step) -> Tensor:
    x = step.input(0)
    return step.emit(
        "reverse_sequence",
        x,
        step.input(1),
        batch_axis=step.axis(step.integer("batch_dim", 0), x.rank),
        time_axis=step.axis(step.integer("seq_dim"), x.rank),
    )


# -- blocks ------------------------------------------------------------------------------------------------------------
@handler("SPACE_TO_DEPTH", "DEPTH_TO_SPACE")
def between_space_and_depth(step: Step) -> Tensor:
    return step.emit(step.node.op.lower(), step.input(0), block=step.integer("block_size"), mode="DCR")


@handler("SPACE_TO_BATCH_ND")
def space_to_batch(step: Step) -> Tensor:
    return to_batch(step, step.input(0), step.known_ints(1, "blocks"), pairs(step, 2, "paddings"), zero_of(step))


@handler("BATCH_TO_SPACE_ND")
def batch_to_space(step: Step) -> Tensor:
    return from_batch(step, step.input(0), step.known_ints(1, "blocks"), pairs(step, 2, "crops"))


# -- borders -----------------------------------------------------------------------------------------------------------
def zero_of(step: Step) -> float:
    """What stands for 0 in input 0."""
    quant = quantisation(step, 0)
    return 0.0 if quant is None else float(quant.zero_points[0])


@handler("PAD", "PADV2")
def pad(step: Step) -> Tensor:
    x = step.input(0)
    value = zero_of(step)
    if step.node.op == "PADV2":
        value = step.known_number(2, "value")
    before, after = _paddings(step, x)
    if x.dtype.is_integer and float(np.float32(value)) != value:
        step.unsupported(f"a border of {value}", "integers that a 32-bit float holds are supported")
    return step.emit("pad", x, before=before, after=after, mode="constant", value=value)


@handler("MIRROR_PAD")
def mirror_pad(step: Step) -> Tensor:
    """Mode 0 does not repeat the outermost elements, mode 1 does."""
    x, mode = step.input(0), step.integer("mode", 0)
    before, after = _paddings(step, x)
    if mode == 0:
        return step.emit("pad", x, before=before, after=after, mode="reflect", value=0.0)
    return mirrored(step, x, before, after)


def _paddings(step: Step, x: Tensor) -> tuple[tuple[int, ...], tuple[int, ...]]:
    amounts = pairs(step, 1, "paddings")
    if len(amounts) != x.rank:
        step.malformed(f"paddings of {len(amounts)} axes for a tensor of rank {x.rank}")
    return tuple(int(item) for item in amounts[:, 0]), tuple(int(item) for item in amounts[:, 1])
