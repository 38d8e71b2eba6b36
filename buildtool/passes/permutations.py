"""Orders of axes. `perm` always means: axis i of the result is axis perm[i] of the operand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, TypeVar

from buildtool.ir.dims import Dim, Shape, product

Perm: TypeAlias = tuple[int, ...]
_Item = TypeVar("_Item")


def identity(rank: int) -> Perm:
    return tuple(range(rank))


def is_identity(perm: Perm) -> bool:
    return perm == identity(len(perm))


def inverse(perm: Perm) -> Perm:
    return tuple(perm.index(axis) for axis in range(len(perm)))


def then(first: Perm, second: Perm) -> Perm:
    """The one permutation that does the work of two in a row."""
    return tuple(first[axis] for axis in second)


def permuted(items: Sequence[_Item], perm: Perm) -> tuple[_Item, ...]:
    return tuple(items[axis] for axis in perm)


def moves_only_ones(shape: Shape, perm: Perm) -> bool:
    """Whether a transposition leaves all elements where they are in memory: it is a reshape."""
    moved = [axis for axis in perm if shape[axis] != 1]
    return moved == sorted(moved)


def through_reshape(source: Shape, target: Shape, perm: Perm) -> Perm | None:
    """The order of `target` that a reshape gives when `source` comes in another order.

    None where that cannot be: an axis would have to be merged with, or split from, axes that are no longer next to it.
    """
    blocks = _blocks(source, target)
    if blocks is None:
        return None
    moved = [axis for axis in perm if source[axis] != 1]
    order: list[int] = []
    position = 0
    while position < len(moved):
        before, after = next(block for block in blocks if moved[position] in block[0])
        if moved[position : position + len(before)] != before:
            return None
        order += after
        position += len(before)
    return _with_ones(target, order)


def _with_ones(target: Shape, order: list[int]) -> Perm:
    """Puts each axis of size 1 behind the axis that stood before it."""
    result: list[int] = []
    following: dict[int, list[int]] = {}
    last: int | None = None
    for axis, dim in enumerate(target):
        if dim != 1:
            last = axis
        elif last is None:
            result.append(axis)
        else:
            following.setdefault(last, []).append(axis)
    for axis in order:
        result += [axis, *following.get(axis, ())]
    return tuple(result)


def _blocks(source: Shape, target: Shape) -> list[tuple[list[int], list[int]]] | None:
    """The smallest groups of neighbouring axes, without those of size 1, that hold the same number of elements."""
    left = [axis for axis, dim in enumerate(source) if dim != 1]
    right = [axis for axis, dim in enumerate(target) if dim != 1]
    blocks: list[tuple[list[int], list[int]]] = []
    i = j = 0
    while i < len(left) and j < len(right):
        before, after = [left[i]], [right[j]]
        i, j = i + 1, j + 1
        while True:
            a, b = product(source[axis] for axis in before), product(target[axis] for axis in after)
            if a == b:
                break
            if _extends_left(a, b) and i < len(left):
                before.append(left[i])
                i += 1
            elif not _extends_left(a, b) and j < len(right):
                after.append(right[j])
                j += 1
            else:
                return None
        blocks.append((before, after))
    return blocks if i == len(left) and j == len(right) else None


def _extends_left(a: Dim, b: Dim) -> bool:
    """Which of two unequal products needs another factor: the smaller number; a number rather than a symbol."""
    if isinstance(a, int) and isinstance(b, int):
        return a < b
    if isinstance(a, int) or isinstance(b, int):
        return isinstance(a, int)
    return len(str(a)) < len(str(b))
