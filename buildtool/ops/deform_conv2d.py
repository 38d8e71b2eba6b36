"""deform_conv2d: a convolution whose taps lie where another input tells, between elements too."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.dims import Dim, product
from buildtool.ir.operator import Array, Operator, OperatorError
from buildtool.ir.types import TensorType
from buildtool.ops._conv import filter_size, require_bias
from buildtool.ops._shapes import equal_dim, extent, number, positive, require_ints, require_rank, window_count
from buildtool.ops._types import plain, require_float, require_same_dtype, stored, working


@dataclass(frozen=True, kw_only=True)
class DeformConv2d(Operator):
    """Inputs x[N,H,W,C], w[O,KH,KW,C/groups], offsets[N,OH,OW,G*KH*KW*2], b[O]?, mask[N,OH,OW,G*KH*KW]?.

    Each of the G `offset_groups` moves the taps of its share of the input channels down and to the right by its
    offsets, reads between elements bilinearly (zeros lie outside), and multiplies what was read by the mask.

    `strides` and `dilations` have 2 numbers, `pads` 4: top, left, bottom, right.
    """

    name: ClassVar[str] = "deform_conv2d"
    arity: ClassVar[tuple[int, int | None]] = (3, 5)

    strides: tuple[int, ...] = (1, 1)
    pads: tuple[int, ...] = (0, 0, 0, 0)
    dilations: tuple[int, ...] = (1, 1)
    groups: int = 1
    offset_groups: int = 1

    def check(self) -> None:
        require_ints("strides", self.strides, 2, 1)
        require_ints("pads", self.pads, 4, 0)
        require_ints("dilations", self.dilations, 2, 1)
        if self.groups < 1 or self.offset_groups < 1:
            raise OperatorError(f"'groups' and 'offset_groups' are {self.groups} and {self.offset_groups}")

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        x, w, offsets, *rest = self.operands(inputs)
        require_same_dtype(inputs)
        require_float(x)
        require_rank(x, 4, "the input of a convolution [N, H, W, C]")
        require_rank(w, 4, "the filter")
        kernel = filter_size(w, 1)
        channels = number(w.shape[3], "the filter's input channels") * self.groups
        equal_dim(x.shape[3], channels, f"the input's channels and {self.groups} * {w.shape[3]} of the filter")
        filters = number(w.shape[0], "the filter's output channels")
        if filters % self.groups or filters < 1 or channels % self.offset_groups:
            raise OperatorError(
                f"{filters} filters on {channels} channels cannot be divided into {self.groups} groups and "
                f"{self.offset_groups} groups of offsets"
            )
        require_bias([x, w, *rest[:1]], filters)
        sides = tuple(
            window_count(
                positive(x.shape[1 + axis], f"the input's {side}"),
                (self.pads[axis], self.pads[axis + 2]),
                extent(kernel[axis], self.dilations[axis]),
                self.strides[axis],
                f"the output's {side}",
            )
            for axis, side in enumerate(("height", "width"))
        )
        taps = self.offset_groups * kernel[0] * kernel[1]
        for what, type_, last in (("offsets", offsets, 2 * taps), *(("mask", type_, taps) for type_ in rest[1:])):
            require_rank(type_, 4, f"the {what}")
            for axis, dim in enumerate((x.shape[0], *sides, last)):
                equal_dim(type_.shape[axis], dim, f"axis {axis} of the {what} and what the output needs")
        return (plain(x, (x.shape[0], *sides, filters)),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        x, w, offsets, *rest = (working(array) for array in inputs)
        kernel = w.shape[1:3]
        batch, height, width = offsets.shape[:3]
        shape = (batch, height, width, self.offset_groups, *kernel)
        offsets = offsets.reshape(*shape, 2)
        mask = rest[1].reshape(shape) if len(rest) > 1 else np.ones(shape, x.dtype)
        top = (np.arange(height) * self.strides[0] - self.pads[0]).reshape(1, -1, 1, 1)
        left = (np.arange(width) * self.strides[1] - self.pads[1]).reshape(1, 1, -1, 1)
        y = np.zeros((batch, height, width, w.shape[0]), np.float64)
        with np.errstate(all="ignore"):
            for row, column in itertools.product(range(kernel[0]), range(kernel[1])):
                down = np.float32(top + row * self.dilations[0]) + offsets[..., row, column, 0]
                across = np.float32(left + column * self.dilations[1]) + offsets[..., row, column, 1]
                read = self._read(x, down, across) * mask[..., row, column, None]
                y += self._product(read.reshape(batch, height, width, -1), w[:, row, column])
            return (stored(y + rest[0] if rest else y, inputs[0]),)

    def _read(self, x: Array, down: Array, across: Array) -> Array:
        """What lies at positions [N, OH, OW, G]: [N, OH, OW, G, C / G]."""
        parts = x.reshape(*x.shape[:3], self.offset_groups, -1)
        picture = np.arange(x.shape[0]).reshape(-1, 1, 1, 1)
        group = np.arange(self.offset_groups)
        rows, columns = (
            np.clip(np.nan_to_num(place, nan=-2), -2, size + 1)
            for place, size in ((down, x.shape[1]), (across, x.shape[2]))
        )
        total = np.zeros((*rows.shape, parts.shape[-1]), np.float64)
        for i, j in itertools.product((0, 1), (0, 1)):
            y, z = np.floor(rows) + i, np.floor(columns) + j
            weight = (1 - np.abs(rows - y)) * (1 - np.abs(columns - z))
            inside = (y >= 0) & (y < x.shape[1]) & (z >= 0) & (z < x.shape[2])
            at_row, at_column = (np.where(inside, place, 0).astype(np.int64) for place in (y, z))
            total += parts[picture, at_row, at_column, group] * np.where(inside, weight, 0)[..., None]
        return total

    def _product(self, read: Array, w: Array) -> Array:
        channels, filters = w.shape[1], w.shape[0] // self.groups
        parts = [
            read[..., group * channels : (group + 1) * channels] @ w[group * filters : (group + 1) * filters].T
            for group in range(self.groups)
        ]
        return np.concatenate(parts, axis=-1)

    def macs(self, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> Dim:
        return product(outputs[0].shape) * product(inputs[1].shape[1:])

    def transposed(self, perm: tuple[int, ...], inputs: Sequence[TensorType]) -> Operator | None:
        return self if perm == tuple(range(len(perm))) else None
