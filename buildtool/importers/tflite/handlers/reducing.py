"""Reductions, running sums, and normalisations, which are made of them."""

from __future__ import annotations

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.step import Step
from buildtool.importers.tflite.registry import handler
from buildtool.importers.tflite.values import activated, real, stored
from buildtool.ir.types import DType

_REDUCTIONS = {
    "MEAN": "reduce_mean",
    "SUM": "reduce_sum",
    "REDUCE_MAX": "reduce_max",
    "REDUCE_MIN": "reduce_min",
    "REDUCE_PROD": "reduce_prod",
}
_LEAST_NORM = 1e-6  # of what L2_NORMALIZATION divides by


@handler(*_REDUCTIONS)
def reduction(step: Step) -> Tensor:
    return stored(step, _reduced(step, _REDUCTIONS[step.node.op], real(step, 0)))


@handler("REDUCE_ANY", "REDUCE_ALL")
def of_truth_values(step: Step) -> Tensor:
    """The largest says whether any is true, the smallest whether all are."""
    numbers = step.emit("cast", step.input(0), to=DType.U8)
    op = "reduce_max" if step.node.op == "REDUCE_ANY" else "reduce_min"
    return step.emit("cast", _reduced(step, op, numbers), to=DType.BOOL)


def _reduced(step: Step, op: str, x: Tensor) -> Tensor:
    axes = tuple(sorted({step.axis(axis, x.rank) for axis in step.known_ints(1, "axes")}))
    if not axes:
        return step.emit("identity", x)
    return step.emit(op, x, axes=axes, keepdims=step.integer("keep_dims", 0) != 0)


@handler("CUMSUM")
def running_sum(step: Step) -> Tensor:
    x = step.input(0)
    axis = step.known_int(1, "axis")
    return step.emit(
        "cumsum",
        x,
        axis=step.axis(axis, x.rank),
        exclusive=step.integer("exclusive", 0) != 0,
        reverse=step.integer("reverse", 0) != 0,
    )


@handler("SOFTMAX")
def softmax(step: Step) -> Tensor:
    x, beta = real(step, 0), step.real("beta", 0.0)
    if beta != 1.0:
        x = step.emit("mul", x, step.constant(np.array(beta, x.dtype.numpy)))
    return stored(step, step.emit("softmax", x, axis=x.rank - 1))


@handler("LOG_SOFTMAX")
def log_softmax(step: Step) -> Tensor:
    x = real(step, 0)
    return stored(step, step.emit("log_softmax", x, axis=x.rank - 1))


@handler("L2_NORMALIZATION")
def l2_normalisation(step: Step) -> Tensor:
    x = real(step, 0)
    squares = step.emit("reduce_sum", step.emit("mul", x, x), axes=(x.rank - 1,), keepdims=True)
    length = step.emit("maximum", step.emit("sqrt", squares), step.constant(np.array(_LEAST_NORM, x.dtype.numpy)))
    return stored(step, activated(step, step.emit("div", x, length)))


@handler("LOCAL_RESPONSE_NORMALIZATION")
def local_response_normalisation(step: Step) -> Tensor:
    """The sum is not divided by the number of channels in it, as it is in the graph."""
    size = 2 * step.integer("radius") + 1
    return step.emit(
        "lrn",
        step.input(0),
        size=size,
        alpha=step.real("alpha") * size,
        beta=step.real("beta"),
        bias=step.real("bias"),
    )


@handler("MATRIX_DIAG")
def matrix_diag(step: Step) -> Tensor:
    """Each row becomes the diagonal of a matrix that is zero elsewhere."""
    x = step.input(0)
    size = step.size(x, -1)
    if not isinstance(size, int):
        step.unsupported(f"a matrix of the run-time size {size}", "fix the input shapes")
    step.check_table(size, size)
    wide = step.reshape(x, (*x.shape[:-1], 1, size))
    zero = step.constant(np.zeros((), x.dtype.numpy))
    return step.emit("where", step.constant(np.eye(size, dtype=np.bool_)), wide, zero)
