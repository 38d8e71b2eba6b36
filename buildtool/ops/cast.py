"""cast: the same values as another element type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from buildtool.ir.operator import Array, Operator
from buildtool.ir.types import DType, TensorType, round_to_bf16


@dataclass(frozen=True)
class Cast(Operator):
    """Input x of any element type.

    To a smaller float: rounded to nearest even, infinite where too large. Float to integer: cut towards zero, limited
    to the range of the integers, 0 where not a number. Integer to integer: wraps around. To bool: whether not 0.
    """

    name: ClassVar[str] = "cast"
    is_elementwise: ClassVar[bool] = True

    to: DType

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        (x,) = self.operands(inputs)
        return (TensorType(self.to, x.shape),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        (x,) = inputs
        if self.to.is_integer and np.issubdtype(x.dtype, np.floating):
            return (_to_integers(x, self.to.numpy),)
        with np.errstate(all="ignore"):
            y = x.astype(self.to.numpy)
            return (round_to_bf16(y) if self.to is DType.BF16 else y,)

    def transposed(self, perm: tuple[int, ...], inputs: Sequence[TensorType]) -> Operator | None:
        return self


def _to_integers(x: Array, dtype: np.dtype[Any]) -> Array:
    limits = np.iinfo(dtype)
    whole = np.nan_to_num(np.trunc(x.astype(np.float64)), nan=0.0, posinf=np.inf, neginf=-np.inf)
    too_low, too_high = whole < float(limits.min), whole >= float(limits.max + 1)
    inside = np.where(too_low | too_high, 0.0, whole).astype(dtype)
    y = np.where(too_high, dtype.type(limits.max), inside)
    return np.where(too_low, dtype.type(limits.min), y).astype(dtype)
