"""Matrix products."""

from __future__ import annotations

from buildtool.exporters.onnx.handlers.activations import activated
from buildtool.exporters.onnx.registry import handler
from buildtool.exporters.onnx.step import Step
from buildtool.exporters.onnx.writer import MICROSOFT
from buildtool.ir.types import DType


@handler("fully_connected")
def fully_connected(step: Step) -> None:
    """Gemm takes matrices, and the weights as they are."""
    x, w, bias = step.input(0), step.forms.name(step.value(1)), step.input(2)
    if step.value(0).type.rank == 2:
        step.give(activated(step, step.emit("Gemm", x, w, bias, transB=1)))
        return
    y = step.emit("MatMul", x, step.transposed(w, (1, 0)))
    step.give(activated(step, step.emit("Add", y, bias) if bias else y))


@handler("matmul")
def matmul(step: Step) -> None:
    step.give(step.compute("MatMul", *step.inputs()))


@handler("matmul_integer")
def matmul_integer(step: Step) -> None:
    step.give(step.emit("MatMulInteger", *step.inputs()))


@handler("fully_connected_integer")
def fully_connected_integer(step: Step) -> None:
    x, w, x_zero, w_zero, scale, bias = step.input(0), step.forms.name(step.value(1)), *map(step.input, range(2, 6))
    sums = step.emit("MatMulInteger", x, step.transposed(w, (1, 0)), x_zero, w_zero)
    y = step.emit("Mul", step.cast(sums, DType.F32), scale)
    step.give(activated(step, step.emit("Add", y, bias) if bias else y))


@handler("qlinear_matmul")
def qlinear_matmul(step: Step) -> None:
    step.give(step.emit("QLinearMatMul", *step.inputs()))


@handler("inverse")
def inverse(step: Step) -> None:
    """The only operator that ONNX itself has no words for."""
    step.give(step.emit("Inverse", step.input(0), domain=MICROSOFT))
