"""Gemm and MatMul."""

from __future__ import annotations

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.onnx.registry import handler
from buildtool.importers.spatial import NO_ACTIVATION
from buildtool.importers.step import Step
from buildtool.ir.types import DType


@handler("MatMul")
def matmul(step: Step) -> Tensor:
    return step.emit("matmul", step.input(0), step.input(1))


@handler("Gemm")
def gemm(step: Step) -> Tensor:
    return general_product(step)


def general_product(step: Step) -> Tensor:
    """alpha * A @ B + beta * C."""
    a, b, c = step.input(0), step.input(1), step.optional(2)
    if a.rank != 2 or b.rank != 2:
        step.malformed(f"its inputs have the ranks {a.rank} and {b.rank}, not 2")
    alpha, beta = step.real("alpha", 1.0), step.real("beta", 1.0)
    if step.integer("transA", 0):
        a = step.transpose(a, (1, 0))
    transposed = bool(step.integer("transB", 0))
    weights, rows = b.content, b.shape[0 if transposed else 1]
    if weights is None or a.dtype is not DType.F32 or not isinstance(rows, int):
        return _general(step, a, step.transpose(b, (1, 0)) if transposed else b, c)
    scaled = weights if alpha == 1.0 else (weights * alpha).astype(weights.dtype)
    filters = step.constant(scaled if transposed else scaled.T)
    bias = None if c is None else _bias(c, beta, rows)
    if bias is not None:
        return step.emit("fully_connected", a, filters, step.constant(bias), **NO_ACTIVATION)
    y = step.emit("fully_connected", a, filters, **NO_ACTIVATION)
    return y if c is None else _plus(step, y, c, beta)


def _bias(c: Tensor, beta: float, rows: int) -> np.ndarray[tuple[int, ...], np.dtype[np.floating]] | None:
    """C as one number per column, where it is known and the same for every row."""
    known = c.content
    if known is None or known.ndim > 2 or (known.ndim == 2 and known.shape[0] != 1) or known.size not in (1, rows):
        return None
    return np.ascontiguousarray(np.broadcast_to((known * beta).astype(known.dtype).reshape(-1), (rows,)))


def _general(step: Step, a: Tensor, b: Tensor, c: Tensor | None) -> Tensor:
    y = step.emit("matmul", a, b)
    alpha = step.real("alpha", 1.0)
    if alpha != 1.0:
        y = step.emit("mul", y, step.constant(np.array(alpha, y.dtype.numpy)))
    return y if c is None else _plus(step, y, c, step.real("beta", 1.0))


def _plus(step: Step, y: Tensor, c: Tensor, beta: float) -> Tensor:
    if beta != 1.0:
        c = step.emit("mul", c, step.constant(np.array(beta, c.dtype.numpy)))
    return step.emit("add", y, c, **NO_ACTIVATION)
