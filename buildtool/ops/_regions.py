"""What the operators that hold regions share."""

from __future__ import annotations

from buildtool.ir.dims import product
from buildtool.ir.operator import OperatorError
from buildtool.ir.types import DType, TensorType


def check_single(type_: TensorType, dtype: DType, what: str) -> None:
    """OperatorError unless a tensor of this type is one element of that type."""
    if type_.dtype is not dtype or product(type_.shape) != 1:
        raise OperatorError(f"{what} is {type_}, not one element of type {dtype.value}")
