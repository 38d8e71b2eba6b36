"""What the convolutions share: attributes, checks, and the taps of a filter as slices of the padded input."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.dims import Dim
from buildtool.ir.operator import Array, Operator, OperatorError
from buildtool.ir.types import TensorType
from buildtool.ops._activation import ActivatedOperator
from buildtool.ops._shapes import number, require_ints, require_rank
from buildtool.ops._types import require_float, require_same_dtype


@dataclass(frozen=True, kw_only=True)
class ConvOperator(ActivatedOperator):
    """A filter that moves over the two spatial axes of x[N,H,W,C]; pads are top, left, bottom, right."""

    arity: ClassVar[tuple[int, int | None]] = (2, 3)

    strides: tuple[int, ...] = (1, 1)
    pads: tuple[int, ...] = (0, 0, 0, 0)
    dilations: tuple[int, ...] = (1, 1)

    def check(self) -> None:
        super().check()
        require_ints("strides", self.strides, 2, 1)
        require_ints("pads", self.pads, 4, 0)
        require_ints("dilations", self.dilations, 2, 1)

    def transposed(self, perm: tuple[int, ...], inputs: Sequence[TensorType]) -> Operator | None:
        return self if perm == tuple(range(len(perm))) else None

    def checked_operands(self, inputs: Sequence[TensorType], filter_rank: int) -> tuple[TensorType, TensorType]:
        """Input and filter, after the checks that all convolutions make."""
        self.operands(inputs)
        require_same_dtype(inputs)
        require_float(*inputs)
        x, w = inputs[:2]
        require_rank(x, 4, "the input of a convolution [N, H, W, C]")
        require_rank(w, filter_rank, "the filter")
        return x, w

    def pads_of(self, axis: int) -> tuple[int, int]:
        """Padding before and behind along spatial axis 0 (height) or 1 (width)."""
        return self.pads[axis], self.pads[axis + 2]


def require_bias(inputs: Sequence[TensorType], channels: Dim) -> None:
    if len(inputs) > 2:
        require_rank(inputs[2], 1, "the bias")
        if inputs[2].shape[0] != channels:
            raise OperatorError(f"the bias has {inputs[2].shape[0]} elements for {channels} output channels")


def filter_size(w: TensorType, first_axis: int) -> tuple[int, int]:
    """Height and width of the filter."""
    sides = []
    for axis, what in ((first_axis, "height"), (first_axis + 1, "width")):
        side = number(w.shape[axis], f"the filter's {what}")
        if side < 1:
            raise OperatorError(f"the filter's {what} is {side}, which is not positive")
        sides.append(side)
    return sides[0], sides[1]


def padded(x: Array, pads: Sequence[int]) -> Array:
    top, left, bottom, right = pads
    return np.pad(x, ((0, 0), (top, bottom), (left, right), (0, 0)))


def taps(
    x: Array, kernel: tuple[int, int], size: tuple[int, int], strides: Sequence[int], dilations: Sequence[int]
) -> Iterator[tuple[int, int, Array]]:
    """For every tap of a window: its position and the elements [N, OH, OW, C] that it reads for each output."""
    for row in range(kernel[0]):
        for column in range(kernel[1]):
            top, left = row * dilations[0], column * dilations[1]
            bottom = top + (size[0] - 1) * strides[0] + 1
            right = left + (size[1] - 1) * strides[1] + 1
            yield row, column, x[:, top : bottom : strides[0], left : right : strides[1], :]


def grouped_product(x: Array, w: Array, groups: int) -> Array:
    """x[..., C] times w[O, C/groups], group by group: [..., O]."""
    channels, outputs = x.shape[-1] // groups, w.shape[0] // groups
    parts = [
        x[..., group * channels : (group + 1) * channels] @ w[group * outputs : (group + 1) * outputs].T
        for group in range(groups)
    ]
    return np.concatenate(parts, axis=-1) if groups > 1 else parts[0]
