"""Arithmetic on what is known on import, run-time dimensions included: how exporters compute target shapes.

Every function gives None where it is not about dimensions, or where something is not known; then the operator itself
computes it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from buildtool.importers.builder import SMALL, Tensor
from buildtool.importers.step import Step
from buildtool.ir import dims
from buildtool.ir.dims import DimensionError, DimExpr, OpenSizeError
from buildtool.ir.operator import Array
from buildtool.ir.types import DType


def _divisor(right: Any) -> Any:
    if not isinstance(right, DimExpr) and right == 0:
        raise DimensionError("a size is divided by 0")
    return right


def _quotient(left: Any, right: Any) -> Any:
    """Whole numbers are divided towards zero; sizes are not negative, so that the floor is the same for them."""
    right = _divisor(right)
    if isinstance(left, DimExpr) or isinstance(right, DimExpr):
        return left // right
    return left // right if (left < 0) == (right < 0) else -(-left // right)


def _power(base: Any, exponent: Any) -> Any:
    if isinstance(exponent, DimExpr) or exponent < 0 or exponent > 64:
        raise DimensionError("an exponent that is no small number")
    result: Any = 1
    for _ in range(exponent):
        result = result * base
    return result


_WHOLE: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda left, right: left + right,
    "sub": lambda left, right: left - right,
    "mul": lambda left, right: left * right,
    "div": _quotient,
    "floor_div": lambda left, right: left // _divisor(right),
    "pow": _power,
    "minimum": dims.minimum,
    "maximum": dims.maximum,
    "mod": lambda left, right: left % _divisor(right),
}


def combined(step: Step, operation: str) -> Tensor | None:
    """All inputs, one after the other: add, sub, mul, div (towards zero), floor_div, pow, minimum, maximum or mod."""
    dtype = step.input(0).dtype
    has_dims = any(tensor.known is not None and tensor.known.dtype == object for tensor in step.present())
    if not has_dims and not dtype.is_integer:
        return None  # numbers with fractions are computed by the operator itself
    arrays = _objects(step)
    if arrays is None:
        return None
    apply = np.frompyfunc(_WHOLE[operation], 2, 1)
    result = arrays[0]
    for array in arrays[1:]:
        if math.prod(_common_shape(step, result, array)) > SMALL:
            return None
        result = np.asarray(apply(result, array), object)
    if has_dims:
        _check_fit(step, result)
    return _made(result, dtype)


def _common_shape(step: Step, left: Array, right: Array) -> tuple[int, ...]:
    """What both are broadcast to."""
    try:
        return np.broadcast_shapes(left.shape, right.shape)
    except ValueError:
        step.malformed(f"the shapes {list(left.shape)} and {list(right.shape)} cannot be broadcast")


def _objects(step: Step) -> list[Array] | None:
    """The inputs as arrays of ints and dimensions; None where one is unknown or has fractions."""
    arrays = []
    for tensor in step.present():
        known = tensor.known
        if known is None or known.dtype.kind not in "iufO":
            return None
        if known.dtype.kind == "f":
            if not np.all(np.isfinite(known)) or not np.all(known == np.floor(known)):
                return None
            known = known.astype(np.int64)
        arrays.append(known.astype(object))
    return arrays


def _check_fit(step: Step, content: Any) -> None:
    """Arrays with dimensions in them hold Python's numbers, which grow without end."""
    items = np.asarray(content, object).reshape(-1)
    if not all(isinstance(item, DimExpr) or -(2**63) <= item < 2**63 for item in items):
        step.malformed("it computes a size beyond 64 bits")


def _made(content: Array, dtype: DType) -> Tensor:
    """Content of a type; whole numbers wrap around as in the type's arithmetic."""
    if dtype.is_integer and all(isinstance(item, int) for item in content.reshape(-1)):
        bits = 8 * dtype.itemsize
        wrapped = np.array([item % 2**bits for item in content.reshape(-1)], np.uint64)
        return Tensor.of(wrapped.astype(dtype.numpy).reshape(content.shape))
    return Tensor.of(content, dtype)


def rounded(step: Step, operation: str) -> Tensor | None:
    """Input 0 under neg, abs, or what leaves whole numbers as they are (floor, ceil, round)."""
    known = step.input(0).known
    if known is None or known.dtype != object:
        return None
    apply = {"neg": lambda item: 0 - item, "abs": _magnitude}.get(operation)
    changed = known if apply is None else np.asarray(np.frompyfunc(apply, 1, 1)(known), object)
    return Tensor.of(changed, step.input(0).dtype)


def _magnitude(item: Any) -> Any:
    if isinstance(item, DimExpr) and dims.bounds(item)[0] < 0:
        raise OpenSizeError(f"the sign of {item} is only known when the model runs")
    return item if isinstance(item, DimExpr) else abs(item)


def reduced(step: Step, operation: str, axes: Sequence[int], keepdims: bool) -> Tensor | None:
    """The sum or product (sum, prod) of input 0 along axes; without any, along all."""
    known = step.input(0).known
    if known is None or known.dtype != object:
        return None
    along = step.axes(axes, known.ndim) or tuple(range(known.ndim))
    result = (np.prod if operation == "prod" else np.sum)(known, axis=along, keepdims=keepdims)
    _check_fit(step, result)
    return Tensor.of(np.asarray(result, object), step.input(0).dtype)


def compared(step: Step, relation: str) -> Tensor | None:
    """Two inputs that are equal, less, greater, less_equal or greater_equal."""
    left, right = step.input(0).known, step.input(1).known
    if left is None or right is None or (left.dtype != object and right.dtype != object):
        return None  # plain numbers are compared by the operator itself
    _common_shape(step, left, right)
    apply = np.frompyfunc(_RELATIONS[relation], 2, 1)
    return Tensor.of(np.asarray(apply(left.astype(object), right.astype(object)), np.bool_))


def _equal(left: Any, right: Any) -> bool:
    """Whether dimensions are equal, where their bounds tell."""
    if left == right:
        return True
    if not isinstance(left, DimExpr) and not isinstance(right, DimExpr):
        return False
    (low, high), (least, most) = _interval(left), _interval(right)
    if high < least or most < low:
        return False
    raise OpenSizeError(f"whether {left} equals {right} is only known when the model runs")


def _less(left: Any, right: Any) -> bool:
    (low, high), (least, most) = _interval(left), _interval(right)
    if high < least:
        return True
    if low >= most:
        return False
    raise OpenSizeError(f"whether {left} is less than {right} is only known when the model runs")


def _interval(dim: Any) -> tuple[Any, Any]:
    return dims.bounds(dim) if isinstance(dim, DimExpr) else (dim, dim)


_RELATIONS: dict[str, Callable[[Any, Any], bool]] = {
    "equal": _equal,
    "less": _less,
    "greater": lambda left, right: _less(right, left),
    "less_equal": lambda left, right: not _less(right, left),
    "greater_equal": lambda left, right: not _less(left, right),
}
