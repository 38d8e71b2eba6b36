"""The rules of element types that several operators share, and the precision that references compute in."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from buildtool.ir.dims import Shape
from buildtool.ir.operator import Array, OperatorError
from buildtool.ir.types import DType, TensorType


def require_float(*types: TensorType) -> None:
    for type_ in types:
        if not type_.dtype.is_float:
            raise OperatorError(f"the elements must be floating-point numbers, not {type_.dtype.value}")


def require_numeric(*types: TensorType) -> None:
    for type_ in types:
        if type_.dtype is DType.BOOL:
            raise OperatorError("the elements must be numeric, not bool")


def require_integer(*types: TensorType) -> None:
    for type_ in types:
        if not type_.dtype.is_integer:
            raise OperatorError(f"the elements must be integers, not {type_.dtype.value}")


def require_bool(*types: TensorType) -> None:
    for type_ in types:
        if type_.dtype is not DType.BOOL:
            raise OperatorError(f"the elements must be bool, not {type_.dtype.value}")


def require_finite(name: str, value: float) -> None:
    """An attribute that is a finite number."""
    if not np.isfinite(value):
        raise OperatorError(f"'{name}' is {value}, which is not finite")


def require_same_dtype(types: Sequence[TensorType]) -> None:
    for type_ in types[1:]:
        if type_.dtype is not types[0].dtype:
            raise OperatorError(
                f"all inputs must have one element type, but they have {types[0].dtype.value} and {type_.dtype.value}"
            )


def moved(type_: TensorType, shape: Shape) -> TensorType:
    """The type of elements that are only moved: they keep their quantisation, unless it is tied to an axis."""
    if type_.quant is not None and type_.quant.axis is not None:
        raise OperatorError(f"a tensor that is quantised along axis {type_.quant.axis} cannot be rearranged")
    return type_.with_shape(shape)


def plain(type_: TensorType, shape: Shape) -> TensorType:
    """A type with the same element type and no quantisation: a computed value has its own range."""
    return TensorType(type_.dtype, shape)


def working(array: Array) -> Array:
    """The values in the precision that references compute in: half as single, everything else as it is."""
    return array.astype(np.float32) if array.dtype == np.float16 else array


def stored(result: Array, like: Array) -> Array:
    """A result in the element type of an input."""
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(result).astype(like.dtype, copy=False)
