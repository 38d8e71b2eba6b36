"""inverse: the inverse of square matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.dims import Dim, product
from buildtool.ir.operator import Array, Operator, OperatorError
from buildtool.ir.types import TensorType
from buildtool.ops._shapes import equal_dim
from buildtool.ops._types import plain, require_float, stored


@dataclass(frozen=True)
class Inverse(Operator):
    """Input x[...,N,N]; output of the same shape. Computed in double precision.

    What has no inverse gives a matrix of NaN.
    """

    name: ClassVar[str] = "inverse"

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        (x,) = self.operands(inputs)
        require_float(x)
        if x.rank < 2:
            raise OperatorError(f"matrices have at least rank 2, not {x.rank}")
        equal_dim(x.shape[-2], x.shape[-1], "the sides of a square matrix")
        return (plain(x, x.shape),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        (x,) = inputs
        y = np.empty(x.shape, np.float64)
        for place in np.ndindex(x.shape[:-2]):
            y[place] = _inverse(x[place].astype(np.float64))
        return (stored(y, x),)

    def macs(self, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> Dim:
        return product(inputs[0].shape) * inputs[0].shape[-1]


def _inverse(matrix: Array) -> Array:
    try:
        with np.errstate(all="ignore"):
            return np.asarray(np.linalg.inv(matrix))
    except np.linalg.LinAlgError:
        return np.full(matrix.shape, np.nan)
