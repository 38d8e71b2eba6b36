"""What the matrix products of quantised numbers share: checks, and the s32 sums of products."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from buildtool.ir.dims import Dim, product
from buildtool.ir.operator import Array, Operator
from buildtool.ir.types import TensorType
from buildtool.ops._quantisation import BYTES, centred, require_scalar_or_row, require_type
from buildtool.ops.matmul import Matmul


class IntegerMatmulOperator(Operator):
    """a[..., M, K] times b[..., K, N] as `matmul`. Zero points: of a for all or per row, of b for all or per column."""

    def checked_shape(
        self, a: TensorType, a_zero: TensorType, b: TensorType, b_zero: TensorType
    ) -> tuple[tuple[Dim, ...], Dim, Dim]:
        """The shape of the output, and how many rows and columns have zero points, after all checks."""
        for type_, what in ((a, "a"), (b, "b")):
            require_type(type_, BYTES, what)
        (y,) = Matmul().infer([TensorType(a.dtype, a.shape), TensorType(a.dtype, b.shape)])
        rows = a.shape[-2] if a.rank > 1 else 1
        columns = b.shape[-1] if b.rank > 1 else 1
        require_scalar_or_row(a_zero, a.dtype, rows, "the zero point of a")
        require_scalar_or_row(b_zero, b.dtype, columns, "the zero point of b")
        return y.shape, rows, columns

    @staticmethod
    def sums(a: Array, a_zero: Array, b: Array, b_zero: Array) -> Array:
        """The s32 sums of products, which wrap around."""
        offset = a_zero.reshape(-1, 1) if a_zero.ndim and a.ndim > 1 else a_zero.reshape(-1)
        with np.errstate(all="ignore"):
            return np.asarray(np.matmul(centred(a, offset), centred(b, b_zero.reshape(-1))), np.int32)

    def macs(self, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> Dim:
        return product(outputs[0].shape) * inputs[0].shape[-1]
