"""Orders of axes. A value may be there in several: in order q, axis i of what is there is axis q[i] of the value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, TypeVar

Order: TypeAlias = tuple[int, ...]
_Item = TypeVar("_Item")


def plain(rank: int) -> Order:
    """The order of the graph itself."""
    return tuple(range(rank))


def channels_first(rank: int) -> Order:
    """The order of ONNX's spatial operators, for values whose channels are last."""
    return (0, rank - 1, *range(1, rank - 1)) if rank > 2 else plain(rank)


def channels_last(rank: int) -> Order:
    """From channels first back to channels last."""
    return (0, *range(2, rank), 1) if rank > 2 else plain(rank)


def composed(first: Order, then: Sequence[int]) -> Order:
    """The order of what is in the order `first` when it has been transposed by `then`."""
    return tuple(first[axis] for axis in then)


def step_between(there: Order, wanted: Order) -> Order:
    """By what to transpose from one order to another."""
    return tuple(there.index(axis) for axis in wanted)


def arranged(items: Sequence[_Item], order: Order) -> tuple[_Item, ...]:
    """One item per axis of the value, in the order given."""
    return tuple(items[axis] for axis in order)
