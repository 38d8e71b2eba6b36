"""col2im: the picture that overlapping blocks add up to (the reverse of cutting a picture into columns)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array, Operator, OperatorError
from buildtool.ir.types import TensorType
from buildtool.ops._shapes import extent, number, require_ints, require_rank
from buildtool.ops._types import plain, require_numeric, stored, working


@dataclass(frozen=True)
class Col2im(Operator):
    """Input x[N, C*prod(block), L], output [N, C, *image]; S spatial axes, 1 to 6.

    Column l is a block of the padded image: blocks lie `strides` apart along each axis, row-major, and their elements
    `dilations` apart. Elements that meet are added; those on the border are dropped. `pads`: all before, then all
    behind.
    """

    name: ClassVar[str] = "col2im"

    image: tuple[int, ...]
    block: tuple[int, ...]
    strides: tuple[int, ...]
    pads: tuple[int, ...]
    dilations: tuple[int, ...]

    def check(self) -> None:
        spatial = len(self.image)
        if not 1 <= spatial <= 6:
            raise OperatorError(f"'image' has {spatial} axes; 1 to 6 are possible")
        require_ints("image", self.image, spatial, 1)
        require_ints("block", self.block, spatial, 1)
        require_ints("strides", self.strides, spatial, 1)
        require_ints("pads", self.pads, 2 * spatial, 0)
        require_ints("dilations", self.dilations, spatial, 1)

    def counts(self) -> tuple[int, ...]:
        """How many blocks lie along each axis."""
        spatial = len(self.image)
        rooms = (
            size + self.pads[axis] + self.pads[axis + spatial] - extent(self.block[axis], self.dilations[axis])
            for axis, size in enumerate(self.image)
        )
        return tuple(room // stride + 1 if room >= 0 else 0 for room, stride in zip(rooms, self.strides, strict=True))

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        (x,) = self.operands(inputs)
        require_numeric(x)
        require_rank(x, 3, "the input [N, C * block, L]")
        rows, columns = number(x.shape[1], "the length of a column"), number(x.shape[2], "the number of columns")
        if rows % math.prod(self.block):
            raise OperatorError(f"columns of {rows} elements do not hold blocks of {list(self.block)}")
        if columns != math.prod(self.counts()):
            raise OperatorError(f"{columns} columns do not match an image of {list(self.counts())} blocks")
        return (plain(x, (x.shape[0], rows // math.prod(self.block), *self.image)),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        x = working(inputs[0])
        spatial, counts = len(self.image), self.counts()
        channels = x.shape[1] // math.prod(self.block)
        columns = x.reshape(x.shape[0], channels, *self.block, *counts)
        padded = [size + self.pads[axis] + self.pads[axis + spatial] for axis, size in enumerate(self.image)]
        y = np.zeros((x.shape[0], channels, *padded), x.dtype)
        both = (slice(None), slice(None))  # batch and channels
        for tap in itertools.product(*(range(size) for size in self.block)):
            region = tuple(
                slice(place * dilation, place * dilation + (count - 1) * stride + 1, stride)
                for place, dilation, count, stride in zip(tap, self.dilations, counts, self.strides, strict=True)
            )
            y[both + region] += columns[both + tap]
        inner = tuple(slice(self.pads[axis], self.pads[axis] + size) for axis, size in enumerate(self.image))
        return (stored(y[both + inner], inputs[0]),)
