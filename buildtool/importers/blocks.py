"""Blocks of elements that become images of their own, and borders that mirror what is inside."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.step import Step
from buildtool.ir.dims import Dim, product
from buildtool.ir.operator import Array


def to_batch(step: Step, x: Tensor, blocks: Sequence[int], amounts: Array, zero: float) -> Tensor:
    """[N, y * b, ...] becomes [b * N, y, ...]: elements at the same place of their blocks form an image.

    The image has a border of `zero` before it is cut into blocks.
    """
    before, after = _borders(step, x, blocks, amounts)
    if any((*before, *after)):
        x = step.emit("pad", x, before=before, after=after, mode="constant", value=zero)
    count = len(blocks)
    split: list[Dim] = [x.shape[0]]
    for axis, block in enumerate(blocks):
        size = x.shape[1 + axis]
        if isinstance(size, int) and size % block:
            step.malformed(f"{size} elements in blocks of {block}")
        split += [size // block, block]
    cut = step.reshape(x, (*split, *x.shape[1 + count :]))
    perm = (*range(2, 2 + 2 * count, 2), 0, *range(1, 1 + 2 * count, 2), *range(1 + 2 * count, cut.rank))
    sizes = split[1::2]
    return step.reshape(step.transpose(cut, perm), (x.shape[0] * product(blocks), *sizes, *x.shape[1 + count :]))


def from_batch(step: Step, x: Tensor, blocks: Sequence[int], amounts: Array) -> Tensor:
    """The way back, without a border."""
    before, after = _borders(step, x, blocks, amounts)
    count, parts = len(blocks), product(blocks)
    batch = x.shape[0]
    if isinstance(batch, int) and isinstance(parts, int) and batch % parts:
        step.malformed(f"{batch} images are not a multiple of {parts}")
    cut = step.reshape(x, (*blocks, batch // parts, *x.shape[1:]))
    perm = [count]
    for axis in range(count):
        perm += [count + 1 + axis, axis]
    turned = step.transpose(cut, (*perm, *range(2 * count + 1, cut.rank)))
    grown = [size * block for size, block in zip(x.shape[1:], blocks, strict=False)]
    y = step.reshape(turned, (batch // parts, *grown, *x.shape[1 + count :]))
    if not any((*before, *after)):
        return y
    sizes = tuple(dim - start - end for dim, start, end in zip(y.shape, before, after, strict=True))
    return step.emit("slice", y, starts=before, steps=(1,) * y.rank, sizes=sizes)


def _borders(step: Step, x: Tensor, blocks: Sequence[int], amounts: Array) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """What stands before and behind each axis: the batch and the last axes have nothing."""
    if (
        not blocks
        or x.rank < len(blocks) + 1
        or len(amounts) != len(blocks)
        or min(*blocks, 1) < 1
        or amounts.min() < 0
    ):
        step.malformed(f"blocks {list(blocks)} and borders {amounts.tolist()} for a tensor of rank {x.rank}")
    rest = (0,) * (x.rank - len(blocks) - 1)
    before, after = ((0, *(int(item) for item in amounts[:, side]), *rest) for side in (0, 1))
    return before, after


def pairs(step: Step, index: int, what: str) -> Array:
    """An input that has two whole numbers for each axis."""
    amounts = step.known(index, what)
    if amounts.ndim != 2 or amounts.shape[1] != 2 or amounts.dtype.kind not in "iu":
        step.malformed(f"its {what} (input {index}) are not pairs of integers")
    return amounts


def mirrored(step: Step, x: Tensor, before: Sequence[int], after: Sequence[int]) -> Tensor:
    """A border in which the outermost elements are repeated."""
    for axis, (front, back) in enumerate(zip(before, after, strict=True)):
        size = x.shape[axis]
        if not front and not back:
            continue
        if min(front, back) < 0:
            step.malformed(f"a mirrored border of {front} and {back}")
        if not isinstance(size, int) or max(front, back) > size:
            step.unsupported(f"a mirrored border of {front} and {back} around {size} elements", "fix the input shapes")
        step.check_table(size + front + back)
        places = np.pad(np.arange(size, dtype=np.int32), (front, back), mode="symmetric")
        x = step.emit("gather", x, step.constant(places), axis=axis)
    return x
