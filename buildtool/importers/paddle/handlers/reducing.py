"""Reductions, norms, and the places of extremes."""

from __future__ import annotations

import math

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.paddle.beams import PARENTS
from buildtool.importers.paddle.registry import evaluator, handler, maybe, one
from buildtool.importers.paddle.values import (
    as_declared,
    as_type,
    dtype_attribute,
    flag,
    part,
    plus,
    real,
    scalar,
    whole,
)
from buildtool.importers.powers import power, root
from buildtool.importers.size_arithmetic import reduced
from buildtool.importers.step import Step
from buildtool.ir.dims import product
from buildtool.ir.types import DType

_REDUCTIONS = {f"reduce_{name}": f"reduce_{name}" for name in ("sum", "mean", "max", "min", "prod")}
_TRUTH = {"reduce_all": "reduce_min", "reduce_any": "reduce_max"}


def _axes(step: Step, rank: int) -> tuple[int, ...]:
    """The axes that are reduced, sorted; all where none are stated."""
    name = "dim" if step.has("dim") else "axis"
    stated = maybe(step, "AxesTensor") is not None or step.has(name)
    axes = whole(step, name, "AxesTensor") if stated and not flag(step, "reduce_all") else ()
    return tuple(sorted(step.axes(axes, rank))) or tuple(range(rank))


def _keepdims(step: Step) -> bool:
    return flag(step, "keep_dim") or flag(step, "keepdim")


@evaluator("reduce_sum", "reduce_prod")
def reduced_sizes(step: Step) -> Tensor | None:
    known = one(step, "X").known
    if known is None or known.dtype != object:
        return None
    axes = _axes(step, known.ndim)
    return reduced(step, step.node.op.removeprefix("reduce_"), axes, _keepdims(step))


@handler(*_REDUCTIONS)
def reduction(step: Step) -> Tensor:
    x = one(step, "X")
    out = dtype_attribute(step, "out_dtype" if step.has("out_dtype") else "dtype", x.dtype)
    if x.dtype is DType.BOOL:
        out = DType.S64
    x = as_type(step, x, out)
    if x.rank == 0:
        return step.emit("identity", x)
    return as_declared(step, step.emit(step.node.op, x, axes=_axes(step, x.rank), keepdims=_keepdims(step)))


@handler(*_TRUTH)
def truth(step: Step) -> Tensor:
    """Of truth values as numbers, the smallest says whether all are true, the largest whether any is."""
    x = as_type(step, one(step, "X"), DType.U8)
    y = step.emit(_TRUTH[step.node.op], x, axes=_axes(step, x.rank), keepdims=_keepdims(step))
    return as_declared(step, step.emit("cast", y, to=DType.BOOL))


@handler("mean")
def mean(step: Step) -> Tensor:
    x = one(step, "X")
    return as_declared(step, step.emit("reduce_mean", x, axes=tuple(range(x.rank)), keepdims=False))


@handler("logsumexp")
def log_sum_exp(step: Step) -> Tensor:
    """The largest element is taken off before and added again afterwards, so that nothing overflows."""
    x = one(step, "X")
    axes = _axes(step, x.rank)
    largest = step.emit("reduce_max", x, axes=axes, keepdims=True)
    powers = step.emit("exp", step.emit("sub", x, largest))
    y = plus(step, step.emit("log", step.emit("reduce_sum", powers, axes=axes, keepdims=True)), largest)
    if _keepdims(step):
        return y
    return as_declared(step, step.reshape(y, tuple(dim for axis, dim in enumerate(x.shape) if axis not in axes)))


@handler("frobenius_norm", "squared_l2_norm")
def euclidean(step: Step) -> Tensor:
    x = one(step, "X")
    squares = step.emit("mul", x, x)
    if step.node.op == "squared_l2_norm":
        return step.reshape(step.emit("reduce_sum", squares, axes=tuple(range(x.rank)), keepdims=False), (1,))
    y = step.emit("reduce_sum", squares, axes=_axes(step, x.rank), keepdims=_keepdims(step))
    return as_declared(step, step.emit("sqrt", y))


@handler("p_norm")
def p_norm(step: Step) -> Tensor:
    x, p = one(step, "X"), real(step, "porder", default=2.0)
    if math.isnan(p):
        step.malformed("the attribute 'porder' is not a number")
    if flag(step, "asvector"):
        x = step.reshape(x, (product(x.shape),))
    axes = (step.axis(step.integer("axis", -1) if not flag(step, "asvector") else 0, x.rank),)
    keepdims = _keepdims(step)
    if math.isinf(p):
        op = "reduce_max" if p > 0 else "reduce_min"
        return as_declared(step, step.emit(op, step.emit("abs", x), axes=axes, keepdims=keepdims))
    if p == 0.0:
        ones = as_type(step, step.emit("logical_not", step.emit("equal", x, scalar(step, 0, x))), x.dtype)
        return as_declared(step, step.emit("reduce_sum", ones, axes=axes, keepdims=keepdims))
    if p == int(p) and p > 0:
        y = step.emit("reduce_sum", power(step, x, int(p)), axes=axes, keepdims=keepdims)
        return as_declared(step, root(step, y, int(p)))
    powers = step.emit("pow", step.emit("abs", x), scalar(step, p, x))
    y = step.emit("reduce_sum", powers, axes=axes, keepdims=keepdims)
    return as_declared(step, step.emit("pow", y, scalar(step, 1 / p, x)))


@handler("arg_max", "arg_min")
def place(step: Step) -> Tensor:
    x = one(step, "X")
    keepdims = flag(step, "keepdims")
    rank = x.rank
    if flag(step, "flatten"):
        x = step.reshape(x, (product(x.shape),))
        axis = 0
    else:
        stated = maybe(step, "AxisTensor") is not None or step.has("axis")
        axis = step.axis(step.whole(real(step, "axis", "AxisTensor"), "axis") if stated else -1, x.rank)
    y = step.emit(step.node.op.replace("_", ""), x, axis=axis, keepdims=keepdims, select_last_index=False)
    if flag(step, "flatten") and keepdims:
        y = step.reshape(y, (1,) * rank)
    y = as_type(step, y, dtype_attribute(step, "dtype", DType.S64))
    return as_declared(step, y)


@handler("is_empty")
def is_empty(step: Step) -> Tensor:
    parents = maybe(step, PARENTS)
    if parents is not None:  # of a search that keeps its rows when it has ended
        return step.emit("less", part(step, parents, 0, 0, 1), step.constant(np.array(0)))
    count = product(one(step, "X").shape)
    if not isinstance(count, int):
        step.unsupported("whether a tensor of a run-time size is empty", "fix the input shapes")
    return as_declared(step, step.constant(np.array(count == 0)))
