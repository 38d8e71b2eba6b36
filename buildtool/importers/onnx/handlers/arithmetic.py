"""Arithmetic on what is known at import, run-time dimensions included: how exporters compute target shapes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from buildtool.importers.builder import SMALL, Tensor
from buildtool.importers.onnx.handlers.reduction import reduced_axes
from buildtool.importers.onnx.registry import evaluator
from buildtool.importers.step import Step
from buildtool.ir import dims
from buildtool.ir.dims import DimExpr
from buildtool.ir.operator import Array
from buildtool.ir.types import DType


def _quotient(left: Any, right: Any) -> Any:
    """Whole numbers are divided towards zero; sizes are not negative, so that the floor is the same for them."""
    if isinstance(left, DimExpr) or isinstance(right, DimExpr):
        return left // right
    return left // right if (left < 0) == (right < 0) else -(-left // right)


def _power(base: Any, exponent: Any) -> Any:
    if isinstance(exponent, DimExpr) or exponent < 0 or exponent > 64:
        raise ValueError("an exponent that is no small number")
    result: Any = 1
    for _ in range(exponent):
        result = result * base
    return result


_WHOLE: dict[str, Callable[[Any, Any], Any]] = {
    "Add": lambda left, right: left + right,
    "Sub": lambda left, right: left - right,
    "Mul": lambda left, right: left * right,
    "Div": _quotient,
    "Pow": _power,
    "Min": dims.minimum,
    "Max": dims.maximum,
    "Mod": lambda left, right: left % right,
}


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


@evaluator(*_WHOLE)
def whole_numbers(step: Step) -> Tensor | None:
    dtype = step.input(0).dtype
    has_dims = any(tensor.known is not None and tensor.known.dtype == object for tensor in step.present())
    if not has_dims and not dtype.is_integer:
        return None  # numbers with fractions are computed by the operator itself
    if step.node.op == "Mod" and step.integer("fmod", 0):
        return None
    arrays = _objects(step)
    if arrays is None:
        return None
    apply = np.frompyfunc(_WHOLE[step.node.op], 2, 1)
    result = arrays[0]
    for array in arrays[1:]:
        if np.prod(np.broadcast_shapes(result.shape, array.shape)) > SMALL:
            return None
        result = np.asarray(apply(result, array), object)
    if has_dims and not all(_fits(item) for item in result.reshape(-1)):
        step.malformed("it computes a size beyond 64 bits")
    return _made(result, dtype)


def _fits(item: Any) -> bool:
    """Whether 64 bits hold it: arrays with dimensions in them hold Python's numbers, which grow without end."""
    return isinstance(item, DimExpr) or -(2**63) <= item < 2**63


def _made(content: Array, dtype: DType) -> Tensor:
    """Content of a type; whole numbers wrap around as in the type's arithmetic."""
    if dtype.is_integer and all(isinstance(item, int) for item in content.reshape(-1)):
        bits = 8 * dtype.itemsize
        wrapped = np.array([item % 2**bits for item in content.reshape(-1)], np.uint64)
        return Tensor.of(wrapped.astype(dtype.numpy).reshape(content.shape))
    return Tensor.of(content, dtype)


@evaluator("Neg", "Floor", "Ceil", "Round", "Abs")
def rounding(step: Step) -> Tensor | None:
    known = step.input(0).known
    if known is None or known.dtype != object:
        return None
    apply = {"Neg": lambda item: 0 - item, "Abs": _magnitude}.get(step.node.op)
    changed = known if apply is None else np.asarray(np.frompyfunc(apply, 1, 1)(known), object)
    return Tensor.of(changed, step.input(0).dtype)


def _magnitude(item: Any) -> Any:
    if isinstance(item, DimExpr) and dims.bounds(item)[0] < 0:
        raise ValueError(f"the sign of {item} is only known when the model runs")
    return item if isinstance(item, DimExpr) else abs(item)


@evaluator("ReduceProd", "ReduceSum")
def reduced_dims(step: Step) -> Tensor | None:
    known = step.input(0).known
    if known is None or known.dtype != object:
        return None
    axes = step.axes(reduced_axes(step), known.ndim) or tuple(range(known.ndim))
    reduce = np.prod if step.node.op == "ReduceProd" else np.sum
    result = reduce(known, axis=axes, keepdims=bool(step.integer("keepdims", 1)))
    if not all(_fits(item) for item in np.asarray(result, object).reshape(-1)):
        step.malformed("it computes a size beyond 64 bits")
    return Tensor.of(np.asarray(result, object), step.input(0).dtype)


def _compare(operator: str) -> Callable[[Any, Any], bool]:
    """A comparison that also decides over dimensions where their bounds tell."""

    def equal(left: Any, right: Any) -> bool:
        if left == right:
            return True
        if not isinstance(left, DimExpr) and not isinstance(right, DimExpr):
            return False
        (low, high), (least, most) = _interval(left), _interval(right)
        if high < least or most < low:
            return False
        raise ValueError(f"whether {left} equals {right} is only known when the model runs")

    def less(left: Any, right: Any) -> bool:
        (low, high), (least, most) = _interval(left), _interval(right)
        if high < least:
            return True
        if low >= most:
            return False
        raise ValueError(f"whether {left} is less than {right} is only known when the model runs")

    return {
        "Equal": equal,
        "Less": less,
        "Greater": lambda left, right: less(right, left),
        "LessOrEqual": lambda left, right: not less(right, left),
        "GreaterOrEqual": lambda left, right: not less(left, right),
    }[operator]


def _interval(dim: Any) -> tuple[Any, Any]:
    return dims.bounds(dim) if isinstance(dim, DimExpr) else (dim, dim)


@evaluator("Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual")
def comparison(step: Step) -> Tensor | None:
    left, right = step.input(0).known, step.input(1).known
    if left is None or right is None or (left.dtype != object and right.dtype != object):
        return None  # plain numbers are compared by the operator itself
    apply = np.frompyfunc(_compare(step.node.op), 2, 1)
    return Tensor.of(np.asarray(apply(left.astype(object), right.astype(object)), np.bool_))


@evaluator("Where")
def where(step: Step) -> Tensor | None:
    arrays = _known(step)
    if arrays is None or all(array.dtype != object for array in arrays):
        return None
    if len(arrays) != 3 or arrays[0].dtype != np.bool_:
        step.malformed("its inputs are not a condition and two tensors")
    return Tensor.of(np.where(*arrays), step.input(1).dtype)


@evaluator("NonZero")
def non_zero(step: Step) -> Tensor | None:
    known = step.input(0).content
    return None if known is None else Tensor.of(np.array(np.nonzero(known), np.int64))


def _known(step: Step) -> Sequence[Array] | None:
    arrays = [tensor.known for tensor in step.present() if tensor.known is not None]
    return arrays if len(arrays) == len(step.present()) else None
