"""What operators that pick or place elements by index share: the rule of indices, and reductions of what is placed."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from buildtool.ir.operator import Array, OperatorError
from buildtool.ir.types import DType, TensorType

REDUCTIONS = ("none", "add", "mul", "min", "max")
_UNBUFFERED: Mapping[str, Callable[[Array, tuple[Array, ...], Array], None]] = {
    "add": np.add.at,
    "mul": np.multiply.at,
    "min": np.minimum.at,
    "max": np.maximum.at,
}


def require_indices(type_: TensorType) -> None:
    if type_.dtype not in (DType.S32, DType.S64):
        raise OperatorError(f"indices are s32 or s64, not {type_.dtype.value}")


def from_start(indices: Array, size: int) -> Array:
    """Indices counted from the start; negative ones count from the end."""
    wrong = indices[(indices < -size) | (indices >= size)]
    if wrong.size:
        raise OperatorError(f"index {wrong.flat[0]} is outside {-size}..{size - 1}")
    return np.where(indices < 0, indices + size, indices).astype(np.int64)


def place(y: Array, where: tuple[Array, ...], updates: Array, reduction: str) -> None:
    """Writes updates into `y`, in the order in which they stand; of equal places without a reduction the last wins."""
    with np.errstate(all="ignore"):
        if reduction == "none":
            y[where] = updates
        else:
            _UNBUFFERED[reduction](y, where, updates)
