"""Matrix products."""

from __future__ import annotations

from buildtool.importers.builder import Tensor
from buildtool.importers.spatial import NO_ACTIVATION, channels
from buildtool.importers.step import Step
from buildtool.importers.tflite.integer_shorts import keep_product
from buildtool.importers.tflite.registry import handler
from buildtool.importers.tflite.values import (
    activated,
    activated_bytes,
    is_of_bytes,
    optional_real,
    output_quantisation,
    parameters,
    quantisation,
    real,
    stored,
)
from buildtool.ir.dims import Dim, Shape, product
from buildtool.ir.types import DType


@handler("FULLY_CONNECTED")
def fully_connected(step: Step) -> Tensor:
    x, weights = step.input(0), step.input(1)
    if weights.rank != 2 or x.rank < 1:
        step.malformed(f"the input has rank {x.rank}, the weights {weights.rank}")
    if step.integer("weights_format", 0):
        step.unsupported("weights in a shuffled order", "convert the model without it")
    rows, deep = channels(step, weights, 0), channels(step, weights, 1)
    kept = step.integer("keep_num_dims", 0) != 0
    leading: Shape = x.shape[:-1] if kept else (_rows(step, x, deep),)
    flat = (*leading, deep)
    if is_of_bytes(step, 0, 1, 2):
        return step.reshape(_of_bytes(step, product(leading), rows, deep), (*leading, rows))
    values, matrix, bias = step.reshape(real(step, 0), flat), real(step, 1), optional_real(step, 2)
    rest = () if bias is None else (bias,)
    if matrix.content is not None:
        y = step.emit("fully_connected", values, matrix, *rest, **NO_ACTIVATION)
    else:
        y = step.emit("matmul", values, step.transpose(matrix, (1, 0)))
        y = step.emit("add", y, bias, **NO_ACTIVATION) if bias is not None else y
    y = stored(step, activated(step, y))
    keep_product(step, y, "dense16")
    return y


def _rows(step: Step, x: Tensor, deep: int) -> Dim:
    """How many rows of the matrix the input holds, whatever its shape."""
    count = product(x.shape)
    if isinstance(count, int) and count % deep:
        step.malformed(f"{count} numbers cannot be divided into rows of {deep}")
    return product(x.shape[:-1]) if x.shape[-1] == deep else count // deep


def _of_bytes(step: Step, count: Dim, rows: int, deep: int) -> Tensor:
    """A convolution over one point has a bias, and scales by rows."""
    x, weights, bias = step.input(0), step.input(1), step.optional(2)
    of_x, of_w, of_y = quantisation(step, 0), quantisation(step, 1), output_quantisation(step)
    assert of_x is not None and of_w is not None and of_y is not None
    y = step.emit(
        "qlinear_conv",
        step.reshape(x, (count, 1, 1, deep)),
        *parameters(step, of_x, x.dtype),
        step.reshape(weights, (rows, 1, 1, deep)),
        *parameters(step, of_w, weights.dtype),
        *parameters(step, of_y, step.made_dtype(0)),
        *(() if bias is None else (bias,)),
        strides=(1, 1),
        pads=(0, 0, 0, 0),
        dilations=(1, 1),
        groups=1,
    )
    return activated_bytes(step, y)


@handler("BATCH_MATMUL")
def batch_product(step: Step) -> Tensor:
    a, b = real(step, 0), real(step, 1)
    if a.rank < 2 or b.rank < 2:
        step.malformed(f"its inputs have the ranks {a.rank} and {b.rank}")
    if step.integer("adj_x", 0):
        a = _turned(step, a)
    if step.integer("adj_y", 0):
        b = _turned(step, b)
    if not a.dtype.is_float:
        wide = [step.emit("cast", tensor, to=DType.F64) for tensor in (a, b)]
        return step.emit("cast", step.emit("matmul", *wide), to=step.made_dtype(0))
    return stored(step, step.emit("matmul", a, b))


def _turned(step: Step, tensor: Tensor) -> Tensor:
    return step.transpose(tensor, (*range(tensor.rank - 2), tensor.rank - 1, tensor.rank - 2))


@handler("EMBEDDING_LOOKUP")
def embedding(step: Step) -> Tensor:
    return stored(step, step.emit("gather", real(step, 1), step.input(0), axis=0))
