"""Operators that only move elements: other shapes, other orders, pieces, copies, borders."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.paddle.registry import Outputs, handler, many, maybe, one
from buildtool.importers.paddle.values import (
    dims,
    flag,
    is_channels_last,
    one_whole,
    real,
    to_first,
    to_last,
    whole,
    without,
)
from buildtool.importers.step import Step
from buildtool.ir.dims import Dim, product
from buildtool.ops._shapes import broadcast

_BORDERS = {"constant": "constant", "reflect": "reflect", "edge": "edge", "replicate": "edge", "circular": "wrap"}


# -- other shapes ------------------------------------------------------------------------------------------------------
@handler("reshape", "reshape2")
def reshape(step: Step) -> Tensor:
    """0 keeps a size, -1 is what is left over."""
    x, wanted = one(step, "X"), dims(step, "shape", "Shape", "ShapeTensor")
    if wanted.count(-1) > 1 or any(isinstance(dim, int) and dim < -1 for dim in wanted):
        step.malformed(f"the shape {list(map(str, wanted))} is not possible")
    if any(dim == 0 and axis >= x.rank for axis, dim in enumerate(wanted)):
        step.malformed("the shape takes over a size that the input does not have")
    shape: list[Dim] = [x.shape[axis] if dim == 0 else dim for axis, dim in enumerate(wanted)]
    if -1 in shape:
        others = product(dim for dim in shape if dim != -1)
        if others == 0:
            step.malformed("a free size beside an empty one")
        shape[shape.index(-1)] = product(x.shape) // others
    return step.emit("reshape", x, shape=tuple(shape))


@handler("flatten", "flatten2")
def to_matrix(step: Step) -> Tensor:
    x, axis = one(step, "X"), step.integer("axis", 1)
    if not 0 <= axis <= x.rank:
        step.malformed(f"there is no axis {axis} in a tensor of rank {x.rank}")
    return step.reshape(x, (product(x.shape[:axis]), product(x.shape[axis:])))


@handler("flatten_contiguous_range")
def flatten(step: Step) -> Tensor:
    x = one(step, "X")
    if x.rank == 0:
        return step.reshape(x, (1,))
    first, last = (step.axis(step.integer(name, 1), x.rank) for name in ("start_axis", "stop_axis"))
    if first > last:
        step.malformed(f"the axes {first} to {last}")
    return step.reshape(x, (*x.shape[:first], product(x.shape[first : last + 1]), *x.shape[last + 1 :]))


@handler("squeeze", "squeeze2")
def squeeze(step: Step) -> Tensor:
    """Without axes all of one element go; with axes those of them that have one element."""
    x = one(step, "X")
    axes = step.axes(whole(step, "axes", "AxesTensor", "AxesTensorList"), x.rank) or range(x.rank)
    return step.reshape(x, without(x.shape, [axis for axis in axes if x.shape[axis] == 1]))


@handler("unsqueeze", "unsqueeze2")
def unsqueeze(step: Step) -> Tensor:
    """One axis comes in after the other."""
    x = one(step, "X")
    shape = list(x.shape)
    for axis in whole(step, "axes", "AxesTensor", "AxesTensorList"):
        shape.insert(step.axis(axis, len(shape) + 1), 1)
    return step.reshape(x, tuple(shape))


@handler("transpose", "transpose2")
def transpose(step: Step) -> Tensor:
    x = one(step, "X")
    perm = step.axes(step.integers("axis"), x.rank)
    if len(perm) != x.rank:
        step.malformed(f"{list(perm)} is not a permutation of {x.rank} axes")
    return step.emit("transpose", x, perm=perm)


# -- joining and splitting ---------------------------------------------------------------------------------------------
def _axis(step: Step, rank: int, default: int = 0) -> int:
    stated = step.has("axis") or maybe(step, "AxisTensor") is not None
    return step.axis(one_whole(step, "axis", "AxisTensor") if stated else default, rank)


@handler("concat")
def concat(step: Step) -> Tensor:
    parts = [part for part in many(step, "X") if part.shape != (0,)] or many(step, "X")
    if not parts:
        step.malformed("it has no inputs")
    parts = [step.reshape(part, (1,)) if part.rank == 0 else part for part in parts]
    if len(parts) == 1:
        return step.emit("identity", parts[0])
    return step.emit("concat", *parts, axis=_axis(step, parts[0].rank))


@handler("stack")
def stack(step: Step) -> Outputs:
    parts = many(step, "X")
    if not parts or any(part.rank != parts[0].rank for part in parts):
        step.malformed("its inputs are missing or have different ranks")
    axis = _axis(step, parts[0].rank + 1)
    rows = [step.reshape(part, (*part.shape[:axis], 1, *part.shape[axis:])) for part in parts]
    return {"Y": rows[0] if len(rows) == 1 else step.emit("concat", *rows, axis=axis)}


@handler("unstack", "unbind")
def unstack(step: Step) -> Outputs:
    x = one(step, "X")
    axis = _axis(step, x.rank)
    slot = "Y" if step.node.op == "unstack" else "Out"
    parts = _split(step, x, axis, [1] * len(step.node.outputs))
    return {slot: [step.reshape(part, without(x.shape, (axis,))) for part in parts]}


@handler("split")
def split(step: Step) -> Outputs:
    x = one(step, "X")
    axis, count = _axis(step, x.rank), len(step.node.outputs)
    size = x.shape[axis]
    stated = bool(step.integers("sections", ())) or maybe(step, "SectionsTensor") is not None
    sizes = list(whole(step, "sections", "SectionsTensor", "SectionsTensorList")) if stated else []
    if not sizes:
        if not isinstance(size, int) or size % count:
            step.unsupported(f"{size} elements in {count} parts", "fix the input shapes")
        sizes = [size // count] * count
    elif -1 in sizes:
        if not isinstance(size, int):
            step.unsupported(f"the run-time size {size} is split", "fix the input shapes")
        sizes[sizes.index(-1)] = size - sum(part for part in sizes if part != -1)
    return {"Out": list(_split(step, x, axis, sizes))}


def _split(step: Step, x: Tensor, axis: int, sizes: Sequence[int]) -> Sequence[Tensor]:
    if len(sizes) == 1:
        return (step.emit("identity", x),)
    return step.emit_all("split", x, axis=axis, sizes=tuple(sizes))


# -- copies ------------------------------------------------------------------------------------------------------------
@handler("expand")
def repeated(step: Step) -> Tensor:
    """The older operator of this name: each axis is repeated."""
    x = one(step, "X")
    times = whole(step, "expand_times", "ExpandTimes", "expand_times_tensor")
    if len(times) != x.rank:
        step.malformed(f"{list(times)} are not {x.rank} counts")
    return step.emit("tile", x, repeats=times)


@handler("tile")
def tile(step: Step) -> Tensor:
    x, times = one(step, "X"), whole(step, "repeat_times", "RepeatTimes", "repeat_times_tensor")
    rank = max(x.rank, len(times))
    x = step.reshape(x, (*(1 for _ in range(rank - x.rank)), *x.shape))
    return step.emit("tile", x, repeats=(*(1 for _ in range(rank - len(times))), *times))


@handler("expand_v2")
def expand(step: Step) -> Tensor:
    """-1 keeps a size."""
    x, wanted = one(step, "X"), list(dims(step, "shape", "Shape", "expand_shapes_tensor"))
    ahead = len(wanted) - x.rank
    if ahead < 0:
        step.malformed(f"a tensor of rank {x.rank} becomes one of rank {len(wanted)}")
    for axis, dim in enumerate(wanted):
        if dim == -1:
            wanted[axis] = x.shape[axis - ahead] if axis >= ahead else 1
    shape = tuple(wanted)
    return step.emit("identity", x) if shape == x.shape else step.emit("broadcast_to", x, shape=shape)


@handler("expand_as", "expand_as_v2")
def expand_as(step: Step) -> Tensor:
    x, like = one(step, "X"), maybe(step, "Y") or maybe(step, "target_tensor")
    shape = like.shape if like is not None else step.integers("target_shape")
    if step.node.op == "expand_as":
        if len(shape) != x.rank or 0 in x.shape:
            step.malformed(f"a tensor {list(map(str, x.shape))} cannot become {list(map(str, shape))}")
        counts = [size // dim for size, dim in zip(shape, x.shape, strict=True)]
        repeats = tuple(count for count in counts if isinstance(count, int))
        if len(repeats) != x.rank:
            step.unsupported("run-time counts of copies", "fix the input shapes")
        return step.emit("tile", x, repeats=repeats)
    return step.emit("broadcast_to", x, shape=tuple(shape))


@handler("broadcast_tensors")
def broadcast_tensors(step: Step) -> Outputs:
    parts = many(step, "X")
    shape = broadcast(*(part.shape for part in parts))
    return {"Out": [step.emit("broadcast_to", part, shape=shape) for part in parts]}


@handler("meshgrid")
def meshgrid(step: Step) -> Outputs:
    parts = many(step, "X")
    shape = tuple(part.shape[0] if part.rank else 1 for part in parts)
    grids = []
    for axis, part in enumerate(parts):
        line = step.reshape(part, tuple(dim if other == axis else 1 for other, dim in enumerate(shape)))
        grids.append(step.emit("broadcast_to", line, shape=shape))
    return {"Out": grids}


# -- other orders ------------------------------------------------------------------------------------------------------
@handler("flip", "reverse")
def flip(step: Step) -> Tensor:
    x = one(step, "X")
    axes = step.axes(whole(step, "axis"), x.rank)
    return step.emit(
        "slice",
        x,
        starts=tuple(dim - 1 if axis in axes else 0 for axis, dim in enumerate(x.shape)),
        steps=tuple(-1 if axis in axes else 1 for axis in range(x.rank)),
        sizes=x.shape,
    )


@handler("roll")
def roll(step: Step) -> Tensor:
    x, shifts = one(step, "X"), whole(step, "shifts", "ShiftsTensor")
    axes = whole(step, "axis") if step.has("axis") else ()
    shape = x.shape
    y = x if axes else step.reshape(x, (product(shape),))
    if len(shifts) != len(axes or (0,)):
        step.malformed(f"{len(shifts)} shifts along {len(axes or (0,))} axes")
    for axis, shift in zip(step.axes(axes or (0,), y.rank), shifts, strict=True):
        size = y.shape[axis]
        if not isinstance(size, int):
            step.unsupported("a roll along a run-time size", "fix the input shapes")
        if size and shift % size:
            first, second = step.emit_all("split", y, axis=axis, sizes=(size - shift % size, shift % size))
            y = step.emit("concat", second, first, axis=axis)
    return step.reshape(y, shape) if y is not x else step.emit("identity", x)


@handler("shuffle_channel", "channel_shuffle")
def shuffle_channel(step: Step) -> Tensor:
    x = one(step, "X")
    groups = step.integer("group" if step.has("group") else "groups", 1)
    last = is_channels_last(step)
    axis = step.axis(-1 if last else 1, x.rank)
    count = x.shape[axis]
    if not isinstance(count, int) or groups < 1 or count % groups:
        step.malformed(f"{count} channels in {groups} groups")
    split = step.reshape(x, (*x.shape[:axis], groups, count // groups, *x.shape[axis + 1 :]))
    perm = [*range(axis), axis + 1, axis, *range(axis + 2, split.rank)]
    return step.reshape(step.transpose(split, perm), x.shape)


@handler("pixel_shuffle", "pixel_unshuffle", "space_to_depth")
def between_space_and_depth(step: Step) -> Tensor:
    """Channels count the places within a block inside of each channel; for space_to_depth around the channels."""
    x, last = one(step, "X"), is_channels_last(step)
    if x.rank != 4:
        step.malformed(f"its input has rank {x.rank}, not 4")
    moved = x if last else to_last(step, x)
    if step.node.op == "pixel_shuffle":
        y = step.emit("depth_to_space", moved, block=step.integer("upscale_factor", 1), mode="CRD")
        return y if last else to_first(step, y)
    inside = step.node.op == "pixel_unshuffle"
    block = step.integer("downscale_factor" if inside else "blocksize", 1)
    batch, height, width, depth = moved.shape
    if any(isinstance(size, int) and (block < 1 or size % block) for size in (height, width)):
        step.malformed(f"images of {height} x {width} in blocks of {block}")
    split = step.reshape(moved, (batch, height // block, block, width // block, block, depth))
    turned = step.transpose(split, (0, 1, 3, 5, 2, 4) if inside else (0, 1, 3, 2, 4, 5))
    y = step.reshape(turned, (batch, height // block, width // block, depth * block * block))
    return y if last else to_first(step, y)


@handler("tril_triu")
def triangle(step: Step) -> Tensor:
    lower = flag(step, "lower", True)
    return step.emit("trilu", one(step, "X"), upper=not lower, k=step.integer("diagonal", 0))


# -- borders -----------------------------------------------------------------------------------------------------------
@handler("pad")
def pad(step: Step) -> Tensor:
    """Two numbers for each axis."""
    x, amounts = one(step, "X"), step.integers("paddings")
    value = real(step, "pad_value", "PadValue", default=0.0)
    return _padded(step, x, amounts[0::2], amounts[1::2], "constant", value)


@handler("pad2d", "pad3d")
def pad_pictures(step: Step) -> Tensor:
    """pad2d: top, bottom, left, right. pad3d: two numbers for each axis, the innermost first."""
    x = one(step, "X")
    amounts = list(whole(step, "paddings", "Paddings"))
    mode = step.text("mode", "constant")
    if mode not in _BORDERS or x.rank not in (4, 5) or len(amounts) != 2 * (x.rank - 2):
        step.malformed(f"a border {amounts} of the kind '{mode}' for a tensor of rank {x.rank}")
    pairs = [amounts[index : index + 2] for index in range(0, len(amounts), 2)]
    if step.node.op == "pad3d":
        pairs.reverse()
    none = [0, 0]
    pairs = [none, *pairs, none] if is_channels_last(step) else [none, none, *pairs]
    value = real(step, "pad_value" if step.node.op == "pad2d" else "value", default=0.0)
    return _padded(step, x, [pair[0] for pair in pairs], [pair[1] for pair in pairs], _BORDERS[mode], value)


def _padded(step: Step, x: Tensor, before: Sequence[int], after: Sequence[int], mode: str, value: float) -> Tensor:
    if len(before) != x.rank or len(after) != x.rank:
        step.malformed(f"borders of {len(before)} axes for a tensor of rank {x.rank}")
    if min(*before, *after, 0) < 0:
        step.unsupported("a negative border", "crop the tensor instead")
    return step.emit("pad", x, before=tuple(before), after=tuple(after), mode=mode, value=value)


@handler("pad_constant_like")
def pad_like(step: Step) -> Tensor:
    like, y = one(step, "X"), one(step, "Y")
    if like.rank != y.rank:
        step.malformed(f"tensors of the ranks {like.rank} and {y.rank}")
    after = [size - dim for size, dim in zip(like.shape, y.shape, strict=True)]
    known = [amount for amount in after if isinstance(amount, int)]
    if len(known) != len(after):
        step.unsupported("a border of a run-time size", "fix the input shapes")
    return _padded(step, y, [0] * y.rank, known, "constant", real(step, "pad_value", default=0.0))


@handler("crop", "crop_tensor")
def crop(step: Step) -> Tensor:
    x = one(step, "X")
    like = maybe(step, "Y")
    sizes = like.shape if like is not None else dims(step, "shape", "Shape", "ShapeTensor")
    starts = dims(step, "offsets", "Offsets", "OffsetsTensor")
    if not len(sizes) == len(starts) == x.rank:
        step.malformed(f"{len(sizes)} sizes and {len(starts)} offsets for a tensor of rank {x.rank}")
    shape = tuple(dim - start if size == -1 else size for size, start, dim in zip(sizes, starts, x.shape, strict=True))
    return step.emit("slice", x, starts=starts, steps=(1,) * x.rank, sizes=shape)


@handler("unfold")
def unfold(step: Step) -> Outputs:
    """[N, C, H, W] -> [N, C * windows' elements, windows]: a gather along each of both spatial axes."""
    x = one(step, "X")
    kernel, strides = step.integers("kernel_sizes"), step.integers("strides")
    amounts, dilations = step.integers("paddings"), step.integers("dilations")
    if x.rank != 4 or not len(kernel) == len(strides) == len(dilations) == 2 or len(amounts) not in (2, 4):
        step.malformed("its attributes are not those of images")
    if min(*kernel, *strides, *dilations) < 1:
        step.malformed(f"windows of {list(kernel)}, the strides {list(strides)} and the dilations {list(dilations)}")
    amounts = amounts if len(amounts) == 4 else (*amounts, *amounts)
    y = _padded(step, x, (0, 0, *amounts[:2]), (0, 0, *amounts[2:]), "constant", 0.0) if any(amounts) else x
    for axis in (0, 1):
        size = y.shape[2 + 2 * axis]
        if not isinstance(size, int):
            step.unsupported("windows of images of a run-time size", "fix the input shapes")
        count = (size - dilations[axis] * (kernel[axis] - 1) - 1) // strides[axis] + 1
        if count < 1:
            step.malformed(f"windows of {list(kernel)} in an image of {size}")
        step.check_table(count, kernel[axis])
        places = np.arange(kernel[axis])[:, None] * dilations[axis] + np.arange(count) * strides[axis]
        y = step.emit("gather", y, step.constant(places.astype(np.int32)), axis=2 + 2 * axis)
    batch, depth, *taps = y.shape  # KH, OH, KW, OW
    turned = step.transpose(y, (0, 1, 2, 4, 3, 5))
    return {"Y": step.reshape(turned, (batch, product((depth, taps[0], taps[2])), product((taps[1], taps[3]))))}


@handler("fold")
def fold(step: Step) -> Outputs:
    pads = step.integers("paddings")
    pads = pads if len(pads) == 4 else (*pads, *pads)
    y = step.emit(
        "col2im",
        one(step, "X"),
        image=step.integers("output_sizes"),
        block=step.integers("kernel_sizes"),
        strides=step.integers("strides"),
        pads=pads,
        dilations=step.integers("dilations"),
    )
    return {"Y": y}
