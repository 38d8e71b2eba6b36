"""det: the determinant of square matrices."""

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
class Det(Operator):
    """Input x[...,N,N]; output [...]. Computed in double precision."""

    name: ClassVar[str] = "det"

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        (x,) = self.operands(inputs)
        require_float(x)
        if x.rank < 2:
            raise OperatorError(f"matrices have at least rank 2, not {x.rank}")
        equal_dim(x.shape[-2], x.shape[-1], "the sides of a square matrix")
        return (plain(x, x.shape[:-2]),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        with np.errstate(all="ignore"):
            return (stored(np.asarray(np.linalg.det(inputs[0].astype(np.float64))), inputs[0]),)

    def macs(self, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> Dim:
        return product(inputs[0].shape) * inputs[0].shape[-1]
