"""max_pool_indices: the largest element of every window and where it lies in the whole input."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array, Operator, OperatorError
from buildtool.ir.types import DType, TensorType
from buildtool.ops._shapes import extent, require_ints, window_count
from buildtool.ops._types import plain, require_float, stored, working
from buildtool.ops._volume import windows


@dataclass(frozen=True, kw_only=True)
class MaxPoolIndices(Operator):
    """Input x[N,C,spatial...], channels first, since the second output counts the elements in that order.

    Outputs the largest elements, and their places (s64) in the flattened input; `column_major` counts the first spatial
    axis fastest instead of the last. The first of equal elements wins, NaN wins over numbers. A window that lies in the
    padding alone gives -inf and the place -1. With `ceil_mode` a last window that hangs over the end counts too.
    """

    name: ClassVar[str] = "max_pool_indices"
    outputs: ClassVar[int | None] = 2

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    pads: tuple[int, ...]
    dilations: tuple[int, ...]
    ceil_mode: bool = False
    column_major: bool = False

    def check(self) -> None:
        rank = len(self.kernel)
        if not 1 <= rank <= 6:
            raise OperatorError(f"a pool has 1 to 6 spatial axes, not {rank}")
        require_ints("kernel", self.kernel, rank, 1)
        require_ints("strides", self.strides, rank, 1)
        require_ints("pads", self.pads, 2 * rank, 0)
        require_ints("dilations", self.dilations, rank, 1)
        for side, pad in enumerate(self.pads):
            span = extent(self.kernel[side % rank], self.dilations[side % rank])
            if pad >= span:
                raise OperatorError(f"'pads' holds {pad}, which is not below the {span} elements that a window spans")

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        (x,) = self.operands(inputs)
        require_float(x)
        rank = len(self.kernel)
        if x.rank != rank + 2:
            raise OperatorError(f"the input has rank {x.rank}, but a kernel of {rank} sizes needs {rank + 2}")
        sides = tuple(
            window_count(
                x.shape[2 + axis],
                (self.pads[axis], self.pads[axis + rank]),
                extent(self.kernel[axis], self.dilations[axis]),
                self.strides[axis],
                f"the output's spatial axis {axis}",
                self.ceil_mode,
            )
            for axis in range(rank)
        )
        shape = (*x.shape[:2], *sides)
        return plain(x, shape), TensorType(DType.S64, shape)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        x = working(inputs[0])
        rank = len(self.kernel)
        size = [
            int(side) for side in self.infer([TensorType(DType.F32, x.shape)])[0].shape[2:] if isinstance(side, int)
        ]
        widths = [(0, 0), (0, 0)]
        for axis in range(rank):
            reach = (size[axis] - 1) * self.strides[axis] + extent(self.kernel[axis], self.dilations[axis])
            behind = max(reach - x.shape[2 + axis] - self.pads[axis], 0)
            widths.append((self.pads[axis], behind))
        places = np.pad(self._places(x.shape), widths, constant_values=-1)
        x = np.pad(x, widths, constant_values=-np.inf)
        best = np.full((*x.shape[:2], *size), -np.inf, x.dtype)
        found = np.full(best.shape, -1, np.int64)
        for _, spots in windows(self.kernel, size, self.strides, self.dilations, 2):
            part, place = x[spots], places[spots]
            with np.errstate(invalid="ignore"):
                better = (place >= 0) & ((found < 0) | (part > best) | (np.isnan(part) & ~np.isnan(best)))
            best, found = np.where(better, part, best), np.where(better, place, found)
        return stored(best, inputs[0]), found

    def _places(self, shape: tuple[int, ...]) -> Array:
        if not self.column_major:
            return np.arange(math.prod(shape), dtype=np.int64).reshape(shape)
        turned = np.arange(math.prod(shape), dtype=np.int64).reshape(*shape[:2], *reversed(shape[2:]))
        return np.transpose(turned, (0, 1, *range(len(shape) - 1, 1, -1)))
