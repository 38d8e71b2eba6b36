"""Products of matrices and vectors."""

from __future__ import annotations

from buildtool.importers.builder import Tensor
from buildtool.importers.paddle.registry import handler, maybe, one
from buildtool.importers.paddle.values import activated, flag, plus, real, scalar
from buildtool.importers.spatial import NO_ACTIVATION, channels
from buildtool.importers.step import Step
from buildtool.ir.dims import Dim, product


@handler("matmul_v2", "matmul")
def matmul(step: Step) -> Tensor:
    """Vectors are a row on the left, a column on the right; that axis goes again."""
    x, y = one(step, "X"), one(step, "Y")
    newer = step.node.op == "matmul_v2"
    for name in ("fused_reshape_X", "fused_reshape_Y", "fused_transpose_X", "fused_transpose_Y", "fused_reshape_Out"):
        if step.integers(name, ()):
            step.unsupported("a product with fused changes of shape", "save the model without optimisations")
    if x.rank < 1 or y.rank < 1:
        step.malformed("a product of single numbers")
    row, column = x.rank == 1, y.rank == 1
    a = step.reshape(x, (1, *x.shape)) if row else x
    b = step.reshape(y, (*y.shape, 1)) if column else y
    if flag(step, "trans_x" if newer else "transpose_X") and not row:
        a = _turned(step, a)
    if flag(step, "trans_y" if newer else "transpose_Y") and not column:
        b = _turned(step, b)
    z = step.emit("matmul", a, b)
    alpha = real(step, "alpha", default=1.0)
    if alpha != 1.0:
        z = step.emit("mul", z, scalar(step, alpha, z))
    shape: list[Dim] = list(z.shape)
    if column:
        del shape[-1]
    if row:
        del shape[-1 if column else -2]
    return step.reshape(z, tuple(shape))


def _turned(step: Step, x: Tensor) -> Tensor:
    return step.transpose(x, (*range(x.rank - 2), x.rank - 1, x.rank - 2))


@handler("bmm")
def of_batches(step: Step) -> Tensor:
    return step.emit("matmul", one(step, "X"), one(step, "Y"))


@handler("mv")
def with_vector(step: Step) -> Tensor:
    x, vector = one(step, "X"), one(step, "Vec")
    y = step.emit("matmul", x, step.reshape(vector, (*vector.shape, 1)))
    return step.reshape(y, x.shape[:-1])


@handler("dot")
def dot(step: Step) -> Tensor:
    x = step.emit("mul", one(step, "X"), one(step, "Y"))
    return step.emit("reduce_sum", x, axes=(x.rank - 1,), keepdims=False)


@handler("addmm")
def addmm(step: Step) -> Tensor:
    z = step.emit("matmul", one(step, "X"), one(step, "Y"))
    other = one(step, "Input")
    for name in ("Alpha", "Beta"):
        factor = real(step, name, default=1.0)
        if factor != 1.0 and name == "Alpha":
            z = step.emit("mul", z, scalar(step, factor, z))
        elif factor != 1.0:
            other = step.emit("mul", other, scalar(step, factor, other))
    return plus(step, z, other)


@handler("mul")
def flat_product(step: Step) -> Tensor:
    """Both are matrices: the axes before a given one are the rows, the others the columns."""
    x, y = one(step, "X"), one(step, "Y")
    ahead, before = step.integer("x_num_col_dims", 1), step.integer("y_num_col_dims", 1)
    if not 0 < ahead < x.rank or not 0 < before < y.rank:
        step.malformed(f"{ahead} and {before} axes of tensors of rank {x.rank} and {y.rank}")
    a = step.reshape(x, (product(x.shape[:ahead]), product(x.shape[ahead:])))
    b = step.reshape(y, (product(y.shape[:before]), product(y.shape[before:])))
    z = step.emit("matmul", a, b)
    return step.reshape(z, (*x.shape[:ahead], *y.shape[before:]))


@handler("fc")
def fully_connected(step: Step) -> Tensor:
    """The weights are [inputs, outputs]."""
    x, weights, bias = one(step, "Input"), one(step, "W"), maybe(step, "Bias")
    ahead = step.integer("in_num_col_dims", 1)
    if ahead < 0:
        ahead += x.rank
    if not 0 < ahead < x.rank or weights.rank != 2 or flag(step, "padding_weights"):
        step.malformed(f"weights {list(map(str, weights.shape))} for a tensor of rank {x.rank} with {ahead} axes ahead")
    count = channels(step, weights, 1)
    flat = step.reshape(x, (*x.shape[:ahead], product(x.shape[ahead:])))
    rest = () if bias is None else (step.reshape(bias, (count,)),)
    y = step.emit("fully_connected", flat, step.transpose(weights, (1, 0)), *rest, **NO_ACTIVATION)
    return activated(step, y, step.text("activation_type", ""))
