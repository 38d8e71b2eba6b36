"""What layer_norm and rms_norm share: rows that are all axes from `axis` on, and operands for each place in a row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.dims import Dim, product
from buildtool.ir.operator import Array, Operator, OperatorError
from buildtool.ir.types import TensorType
from buildtool.ops._shapes import equal_dim, require_axis, require_rank
from buildtool.ops._types import plain, require_float, require_same_dtype, stored, working


@dataclass(frozen=True)
class RowNormOperator(Operator):
    """Inputs x and operands of the shape x.shape[axis:]; every row is normalised by itself."""

    operand_names: ClassVar[tuple[str, ...]] = ()

    axis: int
    epsilon: float

    def normalised(self, rows: Array) -> Array:
        """The rows (the last axis), in double precision."""
        raise NotImplementedError

    def combined(self, rows: Array, *operands: Array) -> Array:
        """The normalised rows with the operands."""
        raise NotImplementedError

    def check(self) -> None:
        if not 0 <= self.epsilon < np.inf:
            raise OperatorError(f"'epsilon' is {self.epsilon}, which is not a finite number of 0 or more")

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        x, *operands = self.operands(inputs)
        require_same_dtype(inputs)
        require_float(x)
        require_axis(self.axis, x.rank)
        for what, operand in zip(self.operand_names, operands, strict=False):
            require_rank(operand, x.rank - self.axis, f"the {what} of rows from axis {self.axis} on")
            for axis, dim in enumerate(operand.shape, start=self.axis):
                equal_dim(x.shape[axis], dim, f"axis {axis} of the input and of the {what}")
        return (plain(x, x.shape),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        x, *operands = (working(array) for array in inputs)
        if not x.size:
            return (inputs[0].copy(),)
        rows = x.reshape(*x.shape[: self.axis], -1).astype(np.float64)
        with np.errstate(all="ignore"):
            y = self.combined(self.normalised(rows), *(operand.reshape(-1) for operand in operands))
        return (stored(y.reshape(x.shape), inputs[0]),)

    def macs(self, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> Dim:
        return product(outputs[0].shape) * 2
