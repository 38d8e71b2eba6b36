"""Matrix products."""

from __future__ import annotations

from buildtool.importers.builder import Tensor
from buildtool.importers.einsum import einsum
from buildtool.importers.step import Step
from buildtool.importers.tensorflow.registry import handler
from buildtool.ir.types import DType

handler("Einsum")(einsum)


@handler("MatMul")
def product_of_matrices(step: Step) -> Tensor:
    return _product(step, "transpose_a", "transpose_b")


@handler("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")
def product_of_batches(step: Step) -> Tensor:
    return _product(step, "adj_x", "adj_y")


def _product(step: Step, left: str, right: str) -> Tensor:
    """Of whole numbers in double precision, in which they are exact up to 2^53."""
    a, b = step.input(0), step.input(1)
    if a.rank < 2 or b.rank < 2:
        step.malformed(f"its inputs have the ranks {a.rank} and {b.rank}")
    whole = None if a.dtype.is_float else a.dtype
    if whole is not None:
        a, b = (step.emit("cast", tensor, to=DType.F64) for tensor in (a, b))
    y = step.emit(
        "matmul",
        _turned(step, a) if step.integer(left, 0) else a,
        _turned(step, b) if step.integer(right, 0) else b,
    )
    return y if whole is None else step.emit("cast", y, to=whole)


def _turned(step: Step, tensor: Tensor) -> Tensor:
    return step.transpose(tensor, (*range(tensor.rank - 2), tensor.rank - 1, tensor.rank - 2))
