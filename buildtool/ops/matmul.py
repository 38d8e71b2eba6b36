"""matmul: y[..., m, n] = sum over k of a[..., m, k] * b[..., k, n], as NumPy's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.dims import Dim, product
from buildtool.ir.operator import Array, Operator, OperatorError
from buildtool.ir.types import TensorType
from buildtool.ops._shapes import broadcast, equal_dim
from buildtool.ops._types import plain, require_numeric, require_same_dtype, stored, working


@dataclass(frozen=True)
class Matmul(Operator):
    """Inputs a[...,M,K], b[...,K,N]. The leading axes broadcast.

    An input of rank 1 is a row (a) or a column (b) whose axis the result lacks.
    """

    name: ClassVar[str] = "matmul"
    arity: ClassVar[tuple[int, int | None]] = (2, 2)

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        a, b = self.operands(inputs)
        require_same_dtype(inputs)
        require_numeric(a)
        if not a.rank or not b.rank:
            raise OperatorError("matrices have at least rank 1, but an input has rank 0")
        equal_dim(a.shape[-1], b.shape[0 if b.rank == 1 else -2], "the last dimension of a and the inner one of b")
        shape: list[Dim] = list(broadcast(a.shape[:-2], b.shape[:-2]))
        shape += a.shape[-2:-1]
        shape += b.shape[-1:] if b.rank > 1 else ()
        return (plain(a, tuple(shape)),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        a, b = inputs
        with np.errstate(all="ignore"):
            return (stored(np.matmul(working(a), working(b)), a),)

    def macs(self, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> Dim:
        return product(outputs[0].shape) * inputs[0].shape[-1]

    def transposed(self, perm: tuple[int, ...], inputs: Sequence[TensorType]) -> Operator | None:
        rank = len(perm)
        same_rank = all(item.rank == rank for item in inputs)
        return self if same_rank and perm[-2:] == (rank - 2, rank - 1) else None
