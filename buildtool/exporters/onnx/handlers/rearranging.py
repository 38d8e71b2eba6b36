"""Operators that only move elements: shapes, orders, pieces."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from buildtool.exporters.onnx.orders import Order, arranged, channels_first, plain
from buildtool.exporters.onnx.registry import handler
from buildtool.exporters.onnx.step import Step
from buildtool.ir.dims import Dim, bounds, product
from buildtool.ir.types import DType

_END = 2**63 - 1
_BEFORE_THE_START = -(2**31)


@handler("transpose")
def transpose(step: Step) -> None:
    """Nothing is moved: the same values under another order."""
    step.forms.share(step.node.outputs[0], step.value(0), step.node.op.perm)  # type: ignore[attr-defined]


@handler("reshape")
def reshape(step: Step) -> None:
    """Where the operand is in another order, axes that go together may be next to each other there as well."""
    value, shape = step.value(0), step.node.outputs[0].type.shape
    before = value.type.shape
    groups = _groups(before, shape)
    usual = plain(len(before))
    orders = step.forms.orders(value) or (usual,)
    found = next((order for order in (usual, *orders) if order in orders and _fits(order, groups, before)), usual)
    if found not in orders and step.channels_first_wanted:  # one transpose, into the order that is wanted behind it
        found = _together(orders[0], groups, before)
    result = _resulting(found, groups, before, shape)
    wanted = channels_first(len(shape))
    if step.channels_first_wanted and _moving(result, shape) == _moving(wanted, shape):
        result = wanted
    name = step.reshaped(step.forms.name(value, found), arranged(before, found), arranged(shape, result))
    step.forms.give(step.node.outputs[0], result, name)


_Group = tuple[tuple[int, ...], tuple[int, ...]]


def _groups(before: Sequence[Dim], after: Sequence[Dim]) -> tuple[_Group, ...]:
    """Axes that become axes, as few of them together as can be; axes of one element belong to nothing."""
    old = [axis for axis, dim in enumerate(before) if dim != 1]
    new = [axis for axis, dim in enumerate(after) if dim != 1]
    groups: list[_Group] = []
    while old and new:
        pairs = ((i, j) for i in range(1, len(old) + 1) for j in range(1, len(new) + 1))
        same = [
            (i, j)
            for i, j in pairs
            if product(before[axis] for axis in old[:i]) == product(after[axis] for axis in new[:j])
        ]
        i, j = min(same, key=sum, default=(len(old), len(new)))
        groups.append((tuple(old[:i]), tuple(new[:j])))
        old, new = old[i:], new[j:]
    if old or new:  # no elements, or sizes that are 1 by arithmetic that is not seen through
        return ((tuple(range(len(before))), tuple(range(len(after)))),)
    return tuple(groups)


def _moving(order: Order, shape: Sequence[Dim]) -> Order:
    return tuple(axis for axis in order if shape[axis] != 1)


def _fits(order: Order, groups: Sequence[_Group], shape: Sequence[Dim]) -> bool:
    moving = _moving(order, shape)
    if any(len(old) == len(shape) for old, _ in groups):
        return order == plain(len(order))
    places = [tuple(moving.index(axis) for axis in old) for old, _ in groups]
    return all(place == tuple(range(place[0], place[0] + len(place))) for place in places)


def _together(order: Order, groups: Sequence[_Group], shape: Sequence[Dim]) -> Order:
    """The order next to this one in which the axes of every group stand together."""
    if any(len(old) == len(shape) for old, _ in groups):
        return plain(len(shape))
    sets = sorted((old for old, _ in groups), key=lambda old: min(order.index(axis) for axis in old))
    rest = [axis for axis in order if not any(axis in old for old in sets)]
    return (*rest, *(axis for old in sets for axis in old))


def _resulting(order: Order, groups: Sequence[_Group], before: Sequence[Dim], after: Sequence[Dim]) -> Order:
    """The order of the result: groups as in `order`, axes of one element behind the axis before them."""
    if order == plain(len(order)):
        return plain(len(after))
    moving = _moving(order, before)
    axes = [axis for old, new in sorted(groups, key=lambda group: moving.index(group[0][0])) for axis in new]
    for axis in range(len(after)):
        if axis not in axes:
            axes.insert(axes.index(axis - 1) + 1 if axis else 0, axis)
    return tuple(axes)


@handler("concat")
def concat(step: Step) -> None:
    step.give(step.emit("Concat", *step.inputs(), axis=step.op.axis))


@handler("split")
def split(step: Step) -> None:
    op = step.op
    names = step.emit_many("Split", len(op.sizes), step.input(0), step.integers(op.sizes), axis=op.axis)
    for index, name in enumerate(names):
        step.give(name, index)


@handler("slice")
def slice_(step: Step) -> None:
    """Only the axes that change are named."""
    op, shape = step.op, step.type().shape
    items = zip(op.starts, op.steps, op.sizes, shape, strict=True)
    cut = [
        (axis, start, step_, size, dim)
        for axis, (start, step_, size, dim) in enumerate(items)
        if (start, step_, size) != (0, 1, dim)
    ]
    if not cut:
        step.give(step.emit("Identity", step.input(0)))
        return
    ends = [_end(step, *item[1:]) for item in cut]
    step.give(
        step.emit(
            "Slice",
            step.input(0),
            step.dims([item[1] for item in cut]),
            step.writer.joined(ends, 0, "ends"),
            step.integers([item[0] for item in cut]),
            step.integers([item[2] for item in cut]),
        )
    )


def _end(step: Step, start: Dim, step_: int, size: Dim, dim: Dim) -> str:
    """Where a slice ends. A number below zero would count from the end of the axis."""
    end = start + size * step_
    if step_ > 0:
        return step.integers([_END]) if end == dim else step.dims((end,))
    if isinstance(end, int):
        return step.integers([end if end >= 0 else _BEFORE_THE_START])
    name = step.dims((end,))
    if bounds(end)[0] >= 0:
        return name
    below = step.emit("Min", name, step.integers([0]))
    return step.emit("Add", name, step.emit("Mul", below, step.integers([2**31])))


@handler("to_device", "from_device")
def border(step: Step) -> None:
    """Where a value is has no meaning in ONNX."""
    step.give(step.emit("Identity", step.input(0)))


@handler("pad")
def pad(step: Step) -> None:
    op = step.op
    if not any(op.before + op.after):
        step.give(step.emit("Identity", step.input(0)))
        return
    value = step.number(op.value) if op.mode == "constant" and op.value else ""
    step.give(step.emit("Pad", step.input(0), step.integers((*op.before, *op.after)), value, mode=op.mode))


@handler("broadcast_to")
def broadcast_to(step: Step) -> None:
    value, goal = step.value(0), step.op.shape
    missing = len(goal) - value.type.rank
    # Expand leaves an axis as it is where the size is 1.
    own = (*(None,) * missing, *step.type().shape)
    step.give(
        step.emit("Expand", step.input(0), step.dims([1 if a == b else b for a, b in zip(own, goal, strict=True)]))
    )


@handler("tile")
def tile(step: Step) -> None:
    step.give(step.emit("Tile", step.input(0), step.integers(step.op.repeats)))


@handler("trilu")
def trilu(step: Step) -> None:
    k = step.writer.constant(np.array(step.op.k, np.int64), hint="k")
    step.give(step.emit("Trilu", step.input(0), k, upper=int(step.op.upper)))


@handler("depth_to_space", channels_first=True)
def depth_to_space(step: Step) -> None:
    y = step.emit("DepthToSpace", step.input(0, channels_first(4)), blocksize=step.op.block, mode=step.op.mode)
    step.give(y, order=channels_first(4))


@handler("space_to_depth", channels_first=True)
def space_to_depth(step: Step) -> None:
    block = step.op.block
    if step.op.mode == "DCR":
        step.give(step.emit("SpaceToDepth", step.input(0, channels_first(4)), blocksize=block), order=channels_first(4))
        return
    n, h, w, c = step.type().shape
    apart: tuple[Dim, ...] = (n, c, h // block, block, w // block, block)
    parts = step.reshaped(step.input(0, channels_first(4)), (n, c, h, w), apart)
    moved = step.transposed(parts, (0, 1, 3, 5, 2, 4))
    shape = (n, c * block * block, h // block, w // block)
    step.give(step.reshaped(moved, arranged(apart, (0, 1, 3, 5, 2, 4)), shape), order=channels_first(4))


@handler("reverse_sequence")
def reverse_sequence(step: Step) -> None:
    """ONNX knows the first two axes only."""
    batch, time = step.op.batch_axis, step.op.time_axis
    rank = step.value(0).type.rank
    lengths = step.input(1)
    if step.type(1).dtype is not DType.S64:
        lengths = step.cast(lengths, DType.S64)
    if {batch, time} == {0, 1}:
        step.give(step.emit("ReverseSequence", step.input(0), lengths, batch_axis=batch, time_axis=time))
        return
    order = (batch, time, *(axis for axis in range(rank) if axis not in (batch, time)))
    y = step.emit("ReverseSequence", step.input(0, order), lengths, batch_axis=0, time_axis=1)
    step.give(y, order=order)


@handler("col2im")
def col2im(step: Step) -> None:
    """Runtimes take two axes and more: one of a single element comes before an only one."""
    op = step.op
    half = len(op.image)
    more = 1 if half == 1 else 0
    y = step.emit(
        "Col2Im",
        step.input(0),
        step.integers((*(1,) * more, *op.image)),
        step.integers((*(1,) * more, *op.block)),
        dilations=[*(1,) * more, *op.dilations],
        pads=[*(0,) * more, *op.pads[:half], *(0,) * more, *op.pads[half:]],
        strides=[*(1,) * more, *op.strides],
    )
    shape = step.output_type().shape
    step.give(step.reshaped(y, (*shape[:2], 1, *shape[2:]), shape) if more else y)


@handler("dimensions")
def dimensions(step: Step) -> None:
    name = step.dims(step.op.dims)
    step.give(name if step.op.to is DType.S64 else step.cast(name, step.op.to))
