"""Layers that only move elements: cut, join, turn and repeat blobs."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from buildtool.importers.builder import Tensor
from buildtool.importers.caffe.operands import axis_of, bottoms, known_sizes, picture, two_bottoms
from buildtool.importers.caffe.registry import handler
from buildtool.importers.spatial import channels
from buildtool.importers.step import Step
from buildtool.ir.dims import Dim, Shape, product


@handler("Concat")
def concat(step: Step) -> Tensor:
    tensors = bottoms(step)
    axis = axis_of(step, tensors[0], old="concat_dim")
    return step.emit("concat", *tensors, axis=axis)


@handler("Slice")
def cut(step: Step) -> Sequence[Tensor]:
    """Parts that begin at the points given, or else of one size."""
    x, parts = step.input(0), len(step.node.outputs)
    axis = axis_of(step, x, old="slice_dim")
    (size,) = known_sizes(step, (x.shape[axis],), "parts of a blob along an axis of size")
    points = step.integers("slice_point", [])
    if points:
        if len(points) != parts - 1:
            step.malformed(f"{len(points)} points for {parts} tops")
        sizes = [end - start for start, end in itertools.pairwise((0, *points, size))]
    else:
        sizes = [size // parts] * parts
    if sum(sizes) != size or min(sizes) < 1:
        step.malformed(f"{size} elements cannot be cut into {parts} parts of {sizes}")
    return step.emit_all("split", x, axis=axis, sizes=tuple(sizes))


@handler("Flatten")
def flatten(step: Step) -> Tensor:
    x = step.input(0)
    first, last = axis_of(step, x), axis_of(step, x, "end_axis", -1)
    if last < first:
        step.malformed(f"the axes {first} to {last}")
    return step.reshape(x, (*x.shape[:first], product(x.shape[first : last + 1]), *x.shape[last + 1 :]))


@handler("Reshape")
def reshape(step: Step) -> Tensor:
    """New sizes for `num_axes` axes from `axis` on: 0 keeps a size, -1 takes what is left."""
    x, wanted = step.input(0), step.integers("dim", [])
    axis, count = step.integer("axis", 0), step.integer("num_axes", -1)
    first = axis if axis >= 0 else axis + x.rank + 1
    last = x.rank if count == -1 else first + count
    if not 0 <= first <= last <= x.rank or count < -1 or wanted.count(-1) > 1 or min(wanted, default=0) < -1:
        step.malformed(f"the sizes {list(wanted)} for {count} axes from axis {axis} on, of a blob of rank {x.rank}")
    sizes: list[Dim] = []
    for place, size in enumerate(wanted):
        if size == 0 and first + place >= last:
            step.malformed(f"size {place} is to stay, but only {last - first} axes get new sizes")
        sizes.append(x.shape[first + place] if size == 0 else size)
    if -1 in wanted:
        place = wanted.index(-1)
        sizes[place] = _rest(step, x.shape[first:last], (*sizes[:place], *sizes[place + 1 :]))
    return step.reshape(x, (*x.shape[:first], *sizes, *x.shape[last:]))


def _rest(step: Step, whole: Shape, known: Shape) -> Dim:
    """How many elements are left for one axis. Run-time sizes that stand on both sides do not matter."""
    left, right = list(whole), list(known)
    for dim in whole:
        if not isinstance(dim, int) and dim in right:
            left.remove(dim)
            right.remove(dim)
    given = product(right)
    total = product(left)
    if not isinstance(given, int):
        step.unsupported(f"a size computed from {total} and {given}", "fix the input shapes")
    if given < 1 or (isinstance(total, int) and total % given):
        step.malformed(f"{total} elements cannot be divided by {given}")
    return total // given


@handler("Permute")
def permute(step: Step) -> Tensor:
    """Axes that are not named keep their order behind those that are."""
    x = step.input(0)
    order = step.axes(step.integers("order", []), x.rank)
    return step.transpose(x, (*order, *(axis for axis in range(x.rank) if axis not in order)))


@handler("Crop")
def crop(step: Step) -> Tensor:
    """As large as the second bottom from `axis` on."""
    x, like = two_bottoms(step)
    axis, offsets = axis_of(step, x, default=2), step.integers("offset", [])
    count = x.rank - axis
    if len(offsets) not in (0, 1, count) or like.rank != x.rank:
        step.malformed(f"{len(offsets)} offsets for {count} axes, of blobs of the ranks {x.rank} and {like.rank}")
    starts = (*(0 for _ in range(axis)), *(offsets if len(offsets) == count else (offsets or (0,)) * count))
    sizes = (*x.shape[:axis], *like.shape[axis:])
    return step.emit("slice", x, starts=starts, steps=(1,) * x.rank, sizes=sizes)


@handler("Tile")
def tile(step: Step) -> Tensor:
    x, count = step.input(0), step.integer("tiles")
    axis = axis_of(step, x)
    if count < 1:
        step.malformed(f"'tiles' is {count}")
    return step.emit("tile", x, repeats=tuple(count if one == axis else 1 for one in range(x.rank)))


@handler("ShuffleChannel")
def shuffle_channels(step: Step) -> Tensor:
    """Channels of all groups in turn."""
    x, groups = picture(step), step.integer("group", 1)
    count = channels(step, x)
    if groups < 1 or count % groups:
        step.malformed(f"{count} channels cannot be divided into {groups} groups")
    batch, _, height, width = x.shape
    parts = step.reshape(x, (batch, groups, count // groups, height, width))
    return step.reshape(step.transpose(parts, (0, 2, 1, 3, 4)), x.shape)


@handler("Reorg")
def reorganise(step: Step) -> Tensor:
    """Darknet's: blocks of neighbours become channels, in an order that cuts across channels and rows."""
    x, stride = picture(step), step.integer("stride", 2)
    batch, (count, height, width) = x.shape[0], known_sizes(step, x.shape[1:], "a blob")
    if stride < 1:
        step.malformed(f"'stride' is {stride}")
    square = stride * stride
    if not step.integer("reverse", 0):
        if height % stride or width % stride or count * height % square:
            step.malformed(f"blocks of {stride} in {count} channels of {height} x {width}")
        parts = step.reshape(x, (batch, count * height // square, stride, width, stride))
        return step.reshape(
            step.transpose(parts, (0, 2, 4, 1, 3)), (batch, count * square, height // stride, width // stride)
        )
    if count % square or count * height % (square * stride):
        step.malformed(f"{count} channels of {height} rows cannot become blocks of {stride} x {stride}")
    parts = step.reshape(x, (batch, stride, stride, count * height // (square * stride), width * stride))
    turned = step.transpose(parts, (0, 3, 1, 4, 2))
    return step.reshape(turned, (batch, count // square, height * stride, width * stride))


@handler("NonlocalReshape")
def nonlocal_reshape(step: Step) -> Tensor:
    """MACE's: height and width are those of the second bottom."""
    x, like = bottoms(step)[0], picture(step, 1)
    return step.reshape(x, (*x.shape[:2], *like.shape[2:]))
