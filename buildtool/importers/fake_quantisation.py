"""Tensors that training for quantisation rounds to the numbers that a few bits can stand for.

What is known is rounded on import. Everything else goes through `quantize_linear` and `dequantize_linear`, so that the
graph gives what the source gives, and whoever quantises it finds scales and zero points where they belong. The graph
keeps them beside the names of the tensors besides: what is folded into weights would be lost otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.step import Step
from buildtool.ir.operator import Array
from buildtool.ir.types import DType, QuantType

_HALF = np.float32(0.5)


def fake_quantised(
    step: Step, x: Tensor, low: Array | float, high: Array | float, *, bits: int, narrow: bool, axis: int | None = None
) -> Tensor:
    """Rounded to one of 2^bits numbers between two bounds, which are moved so that 0 is one of them.

    `narrow`: the least number is left out. `axis`: along it there are bounds for each element.
    """
    if not 2 <= bits <= 16:
        step.malformed(f"{bits} bits")
    grid = _Grid.between(step, np.asarray(low, np.float32), np.asarray(high, np.float32), bits, narrow)
    if axis is not None and (not -x.rank <= axis < x.rank or x.shape[axis] not in (grid.scale.size, 1)):
        step.malformed(f"{grid.scale.size} ranges along axis {axis} of {x.type}")
    axis = None if axis is None else axis % x.rank
    if axis is None and grid.scale.size != 1:
        step.malformed(f"{grid.scale.size} bounds instead of one")
    scales, zeros = (array.reshape(-1).tolist() for array in (grid.scale, grid.zero))
    step.has_range(QuantType(tuple(scales), tuple(zeros), axis, bits))
    if x.content is not None:
        return step.constant(grid.rounded(x.content, axis))
    return grid.emitted(step, x, axis)


@dataclass(frozen=True)
class _Grid:
    """The numbers that are left: (whole - zero) * scale. The whole numbers have a sign."""

    scale: Array
    zero: Array  # s32
    bits: int
    narrow: bool

    @classmethod
    def between(cls, step: Step, low: Array, high: Array, bits: int, narrow: bool) -> _Grid:
        """As TensorFlow finds them, in single precision. Between 0 and 0 there is nothing but 0."""
        if low.shape != high.shape or low.ndim > 1 or not low.size:
            step.malformed(f"bounds of the shapes {list(low.shape)} and {list(high.shape)}")
        none = (low == 0) & (high == 0)
        if not (none | (low < high)).all():
            step.malformed(f"bounds from {_some(low)} to {_some(high)}")
        least, most = np.float32(narrow), np.float32(2**bits - 1)
        scale = np.where(none, np.finfo(np.float32).tiny, (high - low) / (most - least)).astype(np.float32)
        if not (np.isfinite(scale) & (scale > 0)).all():
            step.malformed(f"bounds from {_some(low)} to {_some(high)}")
        zero = np.clip(np.floor(least - low / scale + _HALF), least, most)
        return cls(scale, zero.astype(np.int32) - 2 ** (bits - 1), bits, narrow)

    def rounded(self, x: Array, axis: int | None) -> Array:
        """A half is rounded up, as TensorFlow does."""
        scale, low, high = (_laid_over(array, x.ndim, axis) for array in (self.scale, *self._ends()))
        whole = np.floor((np.clip(x, low, high) - low) / scale + _HALF)
        return np.asarray(whole * scale + low, np.float32)

    def emitted(self, step: Step, x: Tensor, axis: int | None) -> Tensor:
        to = DType.S8 if self.bits <= 8 else DType.S16
        if self.narrow or self.bits not in (8, 16):  # otherwise the element type ends where the numbers do
            low, high = self._ends()
            if axis is None:
                x = step.emit("clip", x, low=float(low.reshape(-1)[0]), high=float(high.reshape(-1)[0]))
            else:
                x = step.emit("minimum", x, step.constant(_laid_over(high, x.rank, axis)))
                x = step.emit("maximum", x, step.constant(_laid_over(low, x.rank, axis)))
        shape = () if axis is None else (-1,)
        scale = step.constant(self.scale.reshape(shape))
        zero = step.constant(self.zero.astype(to.numpy).reshape(shape))
        whole = step.emit("quantize_linear", x, scale, zero, axis=axis or 0, block=0, to=to)
        return step.emit("dequantize_linear", whole, scale, zero, axis=axis or 0, block=0)

    def _ends(self) -> tuple[Array, Array]:
        """The least and the greatest number."""
        least, most = -(2 ** (self.bits - 1)) + self.narrow, 2 ** (self.bits - 1) - 1
        return tuple(((end - self.zero).astype(np.float32) * self.scale) for end in (least, most))


def _laid_over(array: Array, rank: int, axis: int | None) -> Array:
    shape = () if axis is None else [-1 if place == axis else 1 for place in range(rank)]
    return np.ascontiguousarray(array.reshape(shape)) if axis is not None else array.reshape(())


def _some(array: Array) -> str:
    return f"{float(array.reshape(-1)[0]):g}" if array.size == 1 else f"{array.size} numbers"
