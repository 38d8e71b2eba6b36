"""Pools over any number of spatial axes.

Pools over three and more are pools over two of them at a time: the largest element of a box is that of its lines, the
mean of a box is the mean of the means, and as much holds for how many elements of a window count.
"""

from __future__ import annotations

from dataclasses import dataclass

from buildtool.importers.builder import Tensor
from buildtool.importers.spatial import NO_ACTIVATION, channels
from buildtool.importers.step import Step
from buildtool.ir.attributes import AttrValue
from buildtool.ir.dims import product


@dataclass(frozen=True)
class Window:
    """One entry per spatial axis, for at least two axes; `pads` has those before and then those behind."""

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    pads: tuple[int, ...]
    dilations: tuple[int, ...]

    def along(self, *axes: int | None) -> dict[str, AttrValue]:
        """The attributes of a pool over two of the axes; None is an axis where nothing happens."""

        def picked(values: tuple[int, ...], idle: int) -> tuple[int, ...]:
            return tuple(idle if axis is None else values[axis] for axis in axes)

        rank = len(self.kernel)
        return {
            "kernel": picked(self.kernel, 1),
            "strides": picked(self.strides, 1),
            "pads": picked(self.pads[:rank], 0) + picked(self.pads[rank:], 0),
            "dilations": picked(self.dilations, 1),
        }


def boxes(step: Step, x: Tensor, op: str, window: Window, more: dict[str, AttrValue]) -> Tensor:
    """A pool [N, ..., C] over all spatial axes: the last two at once, then one by one."""
    rank = len(window.kernel)
    x = _over_two_axes(step, x, op, rank - 2, window.along(rank - 2, rank - 1) | more)
    for axis in reversed(range(rank - 2)):
        x = _over_two_axes(step, x, op, axis, window.along(axis, None) | more)
    return x


def _over_two_axes(step: Step, x: Tensor, op: str, first: int, attributes: dict[str, AttrValue]) -> Tensor:
    """A pool over spatial axis `first` and all behind it as one; the spatial axes before it count as batch."""
    if x.rank == 4:
        return _pool(step, x, op, attributes)
    axis = 1 + first
    before, behind = x.shape[:axis], x.shape[axis + 1 : -1]
    y = _pool(step, step.reshape(x, (product(before), x.shape[axis], product(behind), x.shape[-1])), op, attributes)
    if len(behind) == 1:  # then the second axis was pooled as well
        behind = y.shape[2:3]
    return step.reshape(y, (*before, y.shape[1], *behind, x.shape[-1]))


def _pool(step: Step, x: Tensor, op: str, attributes: dict[str, AttrValue]) -> Tensor:
    if op != "sum":
        return step.emit(op, x, **attributes)
    kernel, rest = attributes["kernel"], {key: value for key, value in attributes.items() if key != "kernel"}
    assert isinstance(kernel, tuple)
    sides = [side for side in kernel if isinstance(side, int)]
    ones = step.filled((*sides, channels(step, x, -1)), 1, x.dtype)
    return step.emit("dwconv2d", x, ones, multiplier=1, **rest, **NO_ACTIVATION)
