"""resample: every element along an axis is a weighted sum of a few elements along that axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.dims import Dim, product
from buildtool.ir.operator import Array, Operator, OperatorError
from buildtool.ir.types import DType, TensorType
from buildtool.ops._shapes import equal_dim, positive, require_axis, require_rank
from buildtool.ops._types import plain, require_float, require_same_dtype, stored, working


@dataclass(frozen=True)
class Resample(Operator):
    """Inputs x, places[n, taps] (s32), weights[n, taps]: y[i] = sum over t of weights[i, t] * x[places[i, t]].

    Places outside of the axis are those at its ends. This is every resize whose axes are independent of each other
    (linear, cubic, with or without antialiasing), with tables that are made when the model is built.
    """

    name: ClassVar[str] = "resample"
    arity: ClassVar[tuple[int, int | None]] = (3, 3)

    axis: int

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        x, places, weights = self.operands(inputs)
        require_same_dtype((x, weights))
        require_float(x)
        require_axis(self.axis, x.rank)
        positive(x.shape[self.axis], "the resampled axis")
        if places.dtype is not DType.S32:
            raise OperatorError(f"indices are s32, not {places.dtype.value}")
        require_rank(places, 2, "the table of indices [n, taps]")
        require_rank(weights, 2, "the table of weights [n, taps]")
        for axis in (0, 1):
            equal_dim(places.shape[axis], weights.shape[axis], f"axis {axis} of the two tables")
        return (plain(x, (*x.shape[: self.axis], places.shape[0], *x.shape[self.axis + 1 :])),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        x, places, weights = inputs[0].astype(np.float64), inputs[1], working(inputs[2])
        moved = np.moveaxis(x, self.axis, 0)
        taken = moved[np.clip(places, 0, moved.shape[0] - 1)]  # [n, taps, ...]
        with np.errstate(all="ignore"):
            y = np.einsum("nt...,nt->n...", taken, weights.astype(np.float64))
        return (stored(np.moveaxis(y, 0, self.axis), inputs[0]),)

    def macs(self, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> Dim:
        return product(outputs[0].shape) * inputs[1].shape[1]

    def transposed(self, perm: tuple[int, ...], inputs: Sequence[TensorType]) -> Operator | None:
        return self if perm == tuple(range(len(perm))) else None  # the tables have an order of their own
