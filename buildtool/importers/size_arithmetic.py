"""Arithmetic on what is known on import, run-time dimensions included: how exporters compute target shapes.

Every function gives None where it is not about dimensions, or where a result is neither a number nor an expression of
dimensions; then the operator itself computes it, when the model runs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from buildtool.importers import ratios
from buildtool.importers.builder import SMALL, Tensor
from buildtool.importers.ratios import Ratio
from buildtool.importers.step import Step
from buildtool.ir import dims
from buildtool.ir.dims import Dim, DimensionError, DimExpr, DimOp
from buildtool.ir.operator import Array
from buildtool.ir.types import DType

MOST_SIZES = 64  # of a list of run-time sizes: longer ones are no shapes, but computed when the model runs


def _divisor(right: Any) -> Any:
    if not isinstance(right, DimExpr) and right == 0:
        raise DimensionError("a size is divided by 0")
    return right


def _quotient(left: Any, right: Any) -> Any:
    """Integers are divided towards zero; None where only the run tells the sign of the divisor."""
    right = _divisor(right)
    if isinstance(left, DimExpr) or isinstance(right, DimExpr):
        low, high = dims.bounds(right)
        return ratios.cut(left, right) if low >= 0 else ratios.cut(0 - left, 0 - right) if high < 0 else None
    return left // right if (left < 0) == (right < 0) else -(-left // right)


def _power(base: Any, exponent: Any) -> Any:
    if isinstance(exponent, DimExpr) or exponent < 0 or exponent > 64:
        raise DimensionError("an exponent that is not a small integer")
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
    compute = _whole(operation) if dtype.is_integer else _real(operation)
    result = arrays[0]
    for array in arrays[1:]:
        if math.prod(_common_shape(step, result, array)) > (MOST_SIZES if has_dims else SMALL):
            return None
        result = np.asarray(np.frompyfunc(compute, 2, 1)(result, array), object)
        if any(item is None for item in result.reshape(-1)):
            return None
    if has_dims:
        _check_fit(step, result)
    return _made(result, dtype)


def _whole(operation: str) -> Callable[[Any, Any], Any]:
    return _WHOLE[operation]


def _real(operation: str) -> Callable[[Any, Any], Any]:
    """The operation on floats, which are exact fractions here; None as the result where it cannot be one."""
    if operation == "floor_div":
        return lambda left, right: ratios.rounded("floor", ratios.apply("div", left, right))
    return lambda left, right: ratios.apply(operation, left, right)


def _common_shape(step: Step, left: Array, right: Array) -> tuple[int, ...]:
    """What both are broadcast to."""
    try:
        return np.broadcast_shapes(left.shape, right.shape)
    except ValueError:
        step.malformed(f"the shapes {list(left.shape)} and {list(right.shape)} cannot be broadcast")


def _objects(step: Step) -> list[Array] | None:
    """The inputs as arrays of exact numbers and dimensions; None where one is unknown or not exact."""
    arrays = []
    for tensor in step.present():
        known = tensor.known
        if known is None or known.dtype.kind not in "iufO":
            return None
        known = np.asarray(np.frompyfunc(ratios.exact, 1, 1)(known.astype(object)), object)
        if any(item is None for item in known.reshape(-1)):
            return None
        arrays.append(known)
    return arrays


def _check_fit(step: Step, content: Any) -> None:
    """Arrays with dimensions in them hold Python's numbers, which grow without end."""
    items = np.asarray(content, object).reshape(-1)
    if not all(isinstance(item, DimExpr | Ratio) or -(2**63) <= item < 2**63 for item in items):
        step.malformed("it computes a size beyond 64 bits")


def _made(content: Array, dtype: DType) -> Tensor:
    """Content of a type; whole numbers wrap around as in the type's arithmetic."""
    if dtype.is_integer and all(isinstance(item, int) for item in content.reshape(-1)):
        bits = 8 * dtype.itemsize
        wrapped = np.array([item % 2**bits for item in content.reshape(-1)], np.uint64)
        return Tensor.of(wrapped.astype(dtype.numpy).reshape(content.shape))
    return Tensor.of(content, dtype)


def rounded(step: Step, operation: str) -> Tensor | None:
    """Input 0 under neg, abs, floor, ceil or round."""
    known = step.input(0).known
    if known is None or known.dtype != object:
        return None
    changed = np.asarray(np.frompyfunc(lambda item: ratios.rounded(operation, item), 1, 1)(known), object)
    return None if any(item is None for item in changed.reshape(-1)) else Tensor.of(changed, step.input(0).dtype)


def converted(step: Step, target: DType) -> Tensor | None:
    """Input 0 as another element type. Casts to float and back often only serve a scale in between."""
    known = step.input(0).known
    if known is None or known.dtype != object or target is DType.BOOL:
        return None
    if target.is_integer:
        known = np.asarray(np.frompyfunc(lambda item: ratios.rounded("cut", item), 1, 1)(known), object)
    return None if any(item is None for item in known.reshape(-1)) else Tensor.of(known, target)


def reduced(step: Step, operation: str, axes: Sequence[int], keepdims: bool) -> Tensor | None:
    """The sum or product (sum, prod) of input 0 along axes; without any, along all."""
    known = step.input(0).known
    if known is None or known.dtype != object:
        return None
    along = step.axes(axes, known.ndim) or tuple(range(known.ndim))
    if any(isinstance(item, Ratio) for item in known.reshape(-1)):
        return None
    result = (np.prod if operation == "prod" else np.sum)(known, axis=along, keepdims=keepdims)
    _check_fit(step, result)
    return Tensor.of(np.asarray(result, object), step.input(0).dtype)


def compared(step: Step, relation: str) -> Tensor | None:
    """Two inputs that are equal, less, greater, less_equal or greater_equal, where the bounds of sizes tell."""
    left, right = step.input(0).known, step.input(1).known
    if left is None or right is None or (left.dtype != object and right.dtype != object):
        return None  # plain numbers are compared by the operator itself
    _common_shape(step, left, right)
    arrays = _objects(step)
    if arrays is None:
        return None
    apply = np.frompyfunc(lambda one, other: _RELATIONS[relation](*ratios.compared(one, other)), 2, 1)
    results = np.asarray(apply(*arrays), object)
    if any(item is None for item in results.reshape(-1)):
        return None
    return Tensor.of(results.astype(np.bool_))


def _equal(left: Dim, right: Dim) -> bool | None:
    low, high = _difference(left, right)
    if low == high:
        return low == 0
    return None if low <= 0 <= high else False


def _less(left: Dim, right: Dim) -> bool | None:
    low, high = _difference(left, right)
    return True if high < 0 else False if low >= 0 else None


def _difference(left: Dim, right: Dim) -> tuple[int, int]:
    """Between which numbers `left - right` is; sizes that occur in both are subtracted first."""
    terms: Counter[DimExpr] = Counter()
    low = high = _add_terms(terms, left, 1) + _add_terms(terms, right, -1)
    for term, factor in terms.items():
        ends = [factor * end for end in dims.bounds(term)]
        low, high = low + min(ends), high + max(ends)
    return low, high


def _add_terms(terms: Counter[DimExpr], dim: Dim, factor: int) -> int:
    """Adds a multiple of a sum to one: the terms with their factors, and the constant as the result."""
    if isinstance(dim, int):
        return factor * dim
    if dim.op in (DimOp.ADD, DimOp.SUB):
        sign = 1 if dim.op is DimOp.ADD else -1
        return _add_terms(terms, dim.left, factor) + _add_terms(terms, dim.right, sign * factor)
    if dim.op is DimOp.MUL and isinstance(dim.right, int):
        return _add_terms(terms, dim.left, factor * dim.right)
    terms[dim] += factor
    return 0


def _not(told: bool | None) -> bool | None:
    return None if told is None else not told


_RELATIONS: dict[str, Callable[[Dim, Dim], bool | None]] = {
    "equal": _equal,
    "less": _less,
    "greater": lambda left, right: _less(right, left),
    "less_equal": lambda left, right: _not(_less(right, left)),
    "greater_equal": lambda left, right: _not(_less(left, right)),
}
