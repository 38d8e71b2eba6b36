"""Layers that move elements: shapes, orders of axes, borders, parts."""

from __future__ import annotations

from collections.abc import Sequence

from buildtool.importers.builder import Tensor
from buildtool.importers.keras.registry import handler
from buildtool.importers.keras.values import as_it_was, channels_last, is_channels_first, only, sizes
from buildtool.importers.step import Step
from buildtool.ir.dims import Dim, product

_MOST_BORDER = 2**20


@handler("Flatten")
def flatten(step: Step) -> Tensor:
    """Channels come last before all axes become one."""
    x = only(step)
    if x.rank < 1:
        step.malformed("its input has rank 0")
    if is_channels_first(step) and x.rank > 2:
        x = step.transpose(x, (0, *range(2, x.rank), 1))
    return step.reshape(x, (x.shape[0], product(x.shape[1:])))


@handler("Reshape")
def reshape(step: Step) -> Tensor:
    x = only(step)
    wanted = step.integers("target_shape")
    known = product([size for size in wanted if size != -1])
    if any(size < -1 for size in wanted) or wanted.count(-1) > 1 or not isinstance(known, int) or known < 1:
        step.malformed(f"'target_shape' is {list(wanted)}")
    if x.rank < 1:
        step.malformed("its input has rank 0")
    total = product(x.shape[1:])
    made: tuple[Dim, ...] = tuple(total // known if size == -1 else size for size in wanted)
    return step.reshape(x, (x.shape[0], *made))


@handler("Permute")
def permute(step: Step) -> Tensor:
    x, order = only(step), step.integers("dims")
    if sorted(order) != list(range(1, x.rank)):
        step.malformed(f"'dims' are {list(order)} for a tensor of rank {x.rank}")
    return step.transpose(x, (0, *order))


@handler("RepeatVector")
def repeat(step: Step) -> Tensor:
    x, count = only(step), step.integer("n")
    if x.rank != 2 or not 0 < count < 2**31:
        step.malformed(f"an input of rank {x.rank} is repeated {count} times")
    return step.emit(
        "broadcast_to", step.reshape(x, (x.shape[0], 1, x.shape[1])), shape=(x.shape[0], count, x.shape[1])
    )


def _borders(step: Step, name: str, rank: int) -> list[tuple[int, int]]:
    """One number, one for each axis, or one before and one behind each axis."""
    value = step.attribute(name)
    count = len(value) if isinstance(value, tuple) else 1
    numbers = sizes(step, name, count, least=0)
    if not numbers or max(numbers) > _MOST_BORDER:
        step.malformed(f"'{name}' is {list(numbers)}")
    if count == 1:
        numbers = numbers * 2 * rank
    elif count == rank and rank > 1:
        numbers = tuple(item for item in numbers for _ in range(2))
    if len(numbers) != 2 * rank:
        step.malformed(f"'{name}' is {list(numbers)} for {rank} axes")
    return [(numbers[2 * axis], numbers[2 * axis + 1]) for axis in range(rank)]


@handler("ZeroPadding1D", "ZeroPadding2D", "ZeroPadding3D")
def pad(step: Step) -> Tensor:
    rank = int(step.node.op[-2])
    x = channels_last(step, only(step), rank)
    borders = [(0, 0), *_borders(step, "padding", rank), (0, 0)]
    before, after = (tuple(pair[side] for pair in borders) for side in (0, 1))
    return as_it_was(step, step.emit("pad", x, before=before, after=after, mode="constant", value=0.0))


@handler("Cropping1D", "Cropping2D", "Cropping3D")
def crop(step: Step) -> Tensor:
    rank = int(step.node.op[-2])
    x = channels_last(step, only(step), rank)
    cuts = _borders(step, "cropping", rank)
    kept = [size - before - after for size, (before, after) in zip(x.shape[1:-1], cuts, strict=True)]
    return as_it_was(step, part(step, x, [before for before, _ in cuts], kept))


def part(step: Step, x: Tensor, starts: Sequence[Dim], kept: Sequence[Dim]) -> Tensor:
    """Some places along all axes but the first and the last one."""
    return step.emit(
        "slice",
        x,
        starts=(0, *starts, 0),
        steps=(1,) * x.rank,
        sizes=(x.shape[0], *kept, x.shape[-1]),
    )


@handler("CenterCrop")
def crop_to_center(step: Step) -> Tensor:
    x = channels_last(step, only(step), 2)
    wanted = step.integer("height"), step.integer("width")
    starts = []
    for size, kept in zip(x.shape[1:3], wanted, strict=True):
        if not isinstance(size, int) or size < kept:
            step.unsupported(f"{kept} elements out of {size}", "declare input_shapes that are at least as large")
        starts.append((size - kept) // 2)
    return as_it_was(step, part(step, x, starts, wanted))
