"""What makes content out of shapes and numbers that are known on import."""

from __future__ import annotations

import math

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.paddle.registry import evaluator, handler, maybe, one
from buildtool.importers.paddle.values import as_type, dims, dtype_attribute, real
from buildtool.importers.ranges import range_of
from buildtool.importers.step import Step
from buildtool.ir.dims import Dim, bounds, product
from buildtool.ir.operator import Array
from buildtool.ir.types import DType

#: Where older programs keep the numbers of a constant, by their type.
_VALUES = ("values", "fp32_values", "int32_values", "int64_values", "bool_values", "fp64_values", "int8_values")


@evaluator("shape", "shape64", any_size=True)
def shape(step: Step) -> Tensor:
    sizes = one(step, "Input").shape
    content = np.empty(len(sizes), object)
    content[:] = sizes
    return Tensor.of(content, DType.S64 if step.node.op == "shape64" else DType.S32)


@evaluator("size", any_size=True)
def size(step: Step) -> Tensor:
    content = np.empty((), object)
    content[()] = product(one(step, "Input").shape)
    return Tensor.of(content, DType.S64)


@handler("fill_constant")
def fill_constant(step: Step) -> Tensor:
    wanted = dims(step, "shape", "ShapeTensor", "ShapeTensorList")
    if any(bounds(dim)[1] < 0 for dim in wanted):
        step.malformed(f"the shape {list(map(str, wanted))} is not possible")
    dtype = dtype_attribute(step, "dtype", DType.F32)
    value = maybe(step, "ValueTensor")
    filling = step.constant(_number(step, dtype)) if value is None else step.reshape(as_type(step, value, dtype), ())
    return step.emit("broadcast_to", filling, shape=wanted) if wanted else filling


def _number(step: Step, dtype: DType) -> Array:
    """Older programs spell it as a text, so that no digit is lost."""
    text = step.text("str_value", "")
    if not text:
        return np.array(real(step, "value", default=0.0)).astype(dtype.numpy)
    try:
        number = int(text) if text.lstrip("+-").isdecimal() else float(text)
    except ValueError:
        step.malformed(f"the attribute 'str_value' is not a number but '{text:.40}'")
    return np.array(number).astype(dtype.numpy)


@handler("fill_any_like", "fill_zeros_like")
def fill_like(step: Step) -> Tensor:
    x = one(step, "X")
    dtype = dtype_attribute(step, "dtype", x.dtype)
    value = maybe(step, "ValueTensor")
    number = np.array(real(step, "value", default=0.0)).astype(dtype.numpy)
    filling = step.constant(number) if value is None else step.reshape(as_type(step, value, dtype), ())
    return step.emit("broadcast_to", filling, shape=x.shape)


@handler("fill_constant_batch_size_like")
def fill_with_batch(step: Step) -> Tensor:
    like, wanted = one(step, "Input"), list(step.integers("shape"))
    source, target = step.integer("input_dim_idx", 0), step.integer("output_dim_idx", 0)
    shape: list[Dim] = [*wanted]
    shape[step.axis(target, len(shape))] = like.shape[step.axis(source, like.rank)]
    filling = step.constant(_number(step, dtype_attribute(step, "dtype", DType.F32)))
    return step.emit("broadcast_to", filling, shape=tuple(shape))


@handler("assign_value")
def assign_value(step: Step) -> Tensor:
    dtype, wanted = dtype_attribute(step, "dtype", DType.F32), step.integers("shape")
    lists = [step.attribute(name) for name in _VALUES if isinstance(step.attribute(name), tuple)]
    numbers = max((item for item in lists if isinstance(item, tuple)), key=len, default=())
    if math.prod(wanted) != len(numbers):
        step.malformed(f"{len(numbers)} numbers for the shape {list(wanted)}")
    return step.constant(np.array(numbers).astype(dtype.numpy).reshape(wanted))


@handler("full_int_array")
def list_of_numbers(step: Step) -> Tensor:
    dtype = dtype_attribute(step, "dtype", DType.S64)
    return step.constant(np.array(step.integers("value")).astype(dtype.numpy))


@handler("range")
def range_(step: Step) -> Tensor:
    ends = (one(step, "Start"), one(step, "End"), one(step, "Step"))
    return range_of(step, ends, dtype_attribute(step, "dtype", ends[0].dtype))


@handler("linspace")
def linspace(step: Step) -> Tensor:
    first, last = real(step, "start", "Start"), real(step, "stop", "Stop")
    count = step.whole(real(step, "num", "Num"), "number of elements")
    if count < 0:
        step.malformed(f"{count} elements")
    step.check_table(max(count, 0))
    dtype = dtype_attribute(step, "dtype", DType.F32)
    return step.constant(np.linspace(first, last, count).astype(dtype.numpy))


@handler("eye")
def eye(step: Step) -> Tensor:
    rows = step.whole(real(step, "num_rows", "Rows"), "number of rows")
    columns = step.whole(real(step, "num_columns", "Columns", -1), "number of columns")
    columns = rows if columns < 0 else columns
    if rows < 0:
        step.malformed(f"{rows} rows")
    step.check_table(rows, columns)
    return step.constant(np.eye(rows, columns, dtype=dtype_attribute(step, "dtype", DType.F32).numpy))
