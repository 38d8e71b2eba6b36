"""What the convolutions over three spatial axes share: attributes, checks, and the taps of a filter."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array, Operator, OperatorError
from buildtool.ir.types import TensorType
from buildtool.ops._activation import ActivatedOperator
from buildtool.ops._conv import require_bias
from buildtool.ops._shapes import equal_dim, number, require_ints, require_rank
from buildtool.ops._types import require_float, require_same_dtype

SIDES = ("depth", "height", "width")


@dataclass(frozen=True, kw_only=True)
class VolumeOperator(ActivatedOperator):
    """A filter that moves over the three spatial axes of x[N,D,H,W,C].

    `pads` are three amounts before the axes and three behind them.
    """

    arity: ClassVar[tuple[int, int | None]] = (2, 3)

    strides: tuple[int, ...] = (1, 1, 1)
    pads: tuple[int, ...] = (0, 0, 0, 0, 0, 0)
    dilations: tuple[int, ...] = (1, 1, 1)
    groups: int = 1

    def check(self) -> None:
        super().check()
        require_ints("strides", self.strides, 3, 1)
        require_ints("pads", self.pads, 6, 0)
        require_ints("dilations", self.dilations, 3, 1)
        if self.groups < 1:
            raise OperatorError(f"'groups' is {self.groups}, which is not positive")

    def transposed(self, perm: tuple[int, ...], inputs: Sequence[TensorType]) -> Operator | None:
        return self if perm == tuple(range(len(perm))) else None

    def checked_operands(self, inputs: Sequence[TensorType]) -> tuple[TensorType, tuple[int, ...], int]:
        """The input, the filter's three sides and the number of filters, after all checks of x, w and b."""
        self.operands(inputs)
        require_same_dtype(inputs)
        require_float(*inputs)
        x, w = inputs[:2]
        require_rank(x, 5, "the input of a convolution [N, D, H, W, C]")
        require_rank(w, 5, "the filter")
        sides = tuple(number(w.shape[1 + axis], f"the filter's {side}") for axis, side in enumerate(SIDES))
        if min(sides) < 1:
            raise OperatorError(f"the filter has the sides {list(sides)}, which are not all positive")
        channels = number(w.shape[4], "the filter's input channels") * self.groups
        equal_dim(x.shape[4], channels, f"the input's channels and {self.groups} * {w.shape[4]} of the filter")
        filters = number(w.shape[0], "the filter's output channels")
        if filters % self.groups or filters < 1:
            raise OperatorError(f"{filters} filters cannot be divided into {self.groups} groups")
        require_bias(inputs, filters)
        return x, sides, filters

    def pads_of(self, axis: int) -> tuple[int, int]:
        """Padding before and behind along a spatial axis, counted from 0."""
        return self.pads[axis], self.pads[axis + 3]


def windows(
    kernel: Sequence[int], size: Sequence[int], strides: Sequence[int], dilations: Sequence[int], leading: int = 1
) -> Iterator[tuple[tuple[slice | int, ...], tuple[slice, ...]]]:
    """For every tap: an index of the filter, and one of the elements of x that `size` windows have it at.

    In both, `leading` axes stand before the spatial ones.
    """
    whole = (slice(None),) * leading
    for tap in itertools.product(*map(range, kernel)):
        places = []
        for position, count, stride, dilation in zip(tap, size, strides, dilations, strict=True):
            first = position * dilation
            places.append(slice(first, first + (count - 1) * stride + 1, stride))
        yield (*whole, *tap), (*whole, *places)


def padded_volume(x: Array, pads: Sequence[int], value: float = 0.0) -> Array:
    """x[N, spatial..., C] with `pads` before all spatial axes and then behind all of them."""
    rank = x.ndim - 2
    widths = [(pads[axis], pads[axis + rank]) for axis in range(rank)]
    return np.pad(x, ((0, 0), *widths, (0, 0)), constant_values=value)
