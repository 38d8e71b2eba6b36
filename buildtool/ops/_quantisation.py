"""What the quantised operators share: rules of scales and zero points, rounding, and how parameters are laid over x.

A quantised number q stands for (q - zero_point) * scale.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from buildtool.ir.dims import Dim, ceil_div
from buildtool.ir.operator import Array, Operator, OperatorError
from buildtool.ir.types import DType, TensorType
from buildtool.ops._shapes import equal_dim, require_axis, show

BYTES = (DType.S8, DType.U8)
QUANTISED = (DType.S8, DType.U8, DType.S16, DType.U16)


def require_type(type_: TensorType, allowed: Sequence[DType], what: str) -> None:
    if type_.dtype not in allowed:
        words = ", ".join(dtype.value for dtype in allowed)
        raise OperatorError(f"{what} must be one of {words}, not {type_.dtype.value}")


def require_scalar(type_: TensorType, dtype: DType, what: str) -> None:
    """One number of this element type."""
    require_type(type_, (dtype,), what)
    if type_.rank:
        raise OperatorError(f"{what} is a scalar of rank 0, but its shape is {show(type_.shape)}")


def require_scalar_or_row(type_: TensorType, dtype: DType, count: Dim, what: str) -> None:
    """One number, or as many as there are rows, columns or channels."""
    require_type(type_, (dtype,), what)
    if type_.rank > 1:
        raise OperatorError(f"{what} has rank 0 or 1, but its shape is {show(type_.shape)}")
    if type_.rank:
        equal_dim(type_.shape[0], count, f"the length of {what} and the size of its axis")


def saturated(rounded: Array, zero_point: Array | int, dtype: DType) -> Array:
    """Whole numbers (as floats) plus the zero point, limited to the range of the element type.

    What is not a number stands for nothing: the zero point.
    """
    limits = np.iinfo(dtype.numpy.name)
    total = np.nan_to_num(rounded.astype(np.float64), nan=0.0, posinf=np.inf, neginf=-np.inf) + zero_point
    return np.asarray(np.clip(total, limits.min, limits.max)).astype(dtype.numpy)


def requantised(sums: Array, factors: Array, zero_point: Array, dtype: DType) -> Array:
    """s32 sums of products as quantised numbers: times a factor in single precision, rounded half to even."""
    with np.errstate(all="ignore"):
        return saturated(np.rint(sums.astype(np.float32) * factors.astype(np.float32)), zero_point.astype(int), dtype)


def centred(x: Array, zero_point: Array) -> Array:
    """x - zero_point as s32."""
    return np.asarray(x.astype(np.int32) - zero_point.astype(np.int32))


@dataclass(frozen=True)
class AffineOperator(Operator):
    """x with a scale and a zero point: for the whole tensor (rank 0), per element of an axis (rank 1), or per block.

    Blocks are runs of `block` elements along `axis`; the scale then has the rank of x, and the length of that axis is
    the number of blocks. Where `block` is 0 there are none.
    """

    axis: int
    block: int

    def check(self) -> None:
        if self.block < 0:
            raise OperatorError(f"'block' is {self.block}, which is negative")

    def require_parameters(self, inputs: Sequence[TensorType]) -> None:
        """The scale fits x, and the zero point the scale."""
        x, scale = inputs[:2]
        require_type(scale, (DType.F32, DType.F16), "the scale")
        if len(inputs) > 2 and (inputs[2].rank != scale.rank or inputs[2].shape != scale.shape):
            raise OperatorError(f"the scale has the shape {show(scale.shape)}, the zero point {show(inputs[2].shape)}")
        if self.block:
            require_axis(self.axis, x.rank)
            if scale.rank != x.rank:
                raise OperatorError(f"the scale of blocks has the rank {x.rank} of x, not {scale.rank}")
            blocks = ceil_div(x.shape[self.axis], self.block)
            wanted = (*x.shape[: self.axis], blocks, *x.shape[self.axis + 1 :])
            for found, dim in zip(scale.shape, wanted, strict=True):
                equal_dim(found, dim, "the dimensions of the scale and the blocks of x")
        elif scale.rank == 1:
            require_axis(self.axis, x.rank)
            equal_dim(scale.shape[0], x.shape[self.axis], "the length of the scale and the size of its axis")
        elif scale.rank:
            raise OperatorError(f"a scale without blocks has rank 0 or 1, but its shape is {show(scale.shape)}")

    def transposed(self, perm: tuple[int, ...], inputs: Sequence[TensorType]) -> Operator | None:
        return replace(self, axis=perm.index(self.axis)) if self.block or inputs[1].rank else self

    def laid_over(self, parameter: Array, x: Array) -> Array:
        """Scale or zero point in a shape that broadcasts over x."""
        if self.block:
            spread = np.repeat(parameter, self.block, axis=self.axis)
            return np.take(spread, range(x.shape[self.axis]), axis=self.axis)
        if parameter.ndim == 1:
            return parameter.reshape([-1 if axis == self.axis else 1 for axis in range(x.ndim)])
        return parameter
