"""Turns TensorFlow's tensors and element types into arrays and those of the graph."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from buildtool import budget
from buildtool.errors import ModelFileError, UnsupportedError, Where
from buildtool.importers.model import SourceDim
from buildtool.ir.operator import Array
from buildtool.ir.types import DType
from buildtool.schemas import tensorflow_graph_pb2 as pb

DAMAGED = "the file is damaged or was not written by TensorFlow: save or download it again"
MOST_ELEMENTS = 2**31 - 1
MOST_REPEATED = 2**26  # elements of a tensor of which the file holds fewer

#: What elements are in the graph. Half precision is widened when a model is read.
DTYPES: Mapping[int, DType] = {
    pb.DT_FLOAT: DType.F32,
    pb.DT_DOUBLE: DType.F64,
    pb.DT_HALF: DType.F32,
    pb.DT_BFLOAT16: DType.F32,
    pb.DT_INT8: DType.S8,
    pb.DT_INT16: DType.S16,
    pb.DT_INT32: DType.S32,
    pb.DT_INT64: DType.S64,
    pb.DT_UINT8: DType.U8,
    pb.DT_UINT16: DType.U16,
    pb.DT_UINT32: DType.U32,
    pb.DT_UINT64: DType.U64,
    pb.DT_BOOL: DType.BOOL,
    pb.DT_QINT8: DType.S8,
    pb.DT_QUINT8: DType.U8,
    pb.DT_QINT32: DType.S32,
    pb.DT_QINT16: DType.S16,
    pb.DT_QUINT16: DType.U16,
}
HALVES: Mapping[int, DType] = {pb.DT_HALF: DType.F16, pb.DT_BFLOAT16: DType.BF16}
_LISTS: Mapping[int, str] = {
    pb.DT_FLOAT: "float_val",
    pb.DT_DOUBLE: "double_val",
    pb.DT_INT64: "int64_val",
    pb.DT_BOOL: "bool_val",
    pb.DT_HALF: "half_val",
    pb.DT_BFLOAT16: "half_val",
    pb.DT_UINT32: "uint32_val",
    pb.DT_UINT64: "uint64_val",
}


def type_name(code: int) -> str:
    """`DT_FLOAT`, or the number of what is no type."""
    return pb.DataType.Name(code) if code in pb.DataType.values() else str(code)


def dtype_of_code(code: int, where: Where) -> DType:
    """The element type of a number of TensorFlow's."""
    if code in DTYPES:
        return DTYPES[code]
    raise UnsupportedError(
        f"elements of type {type_name(code)} are not supported",
        where=where,
        rule=f"supported: {', '.join(type_name(known) for known in DTYPES)}",
        remedy="exclude the part of the model with these tensors (input_tensors)",
    )


def sizes_of(shape: pb.TensorShapeProto, where: Where) -> tuple[SourceDim, ...] | None:
    """Declared sizes: None for those that are open, and None where the rank is."""
    if shape.unknown_rank:
        return None
    dims = tuple(dim.size if dim.size >= 0 else None for dim in shape.dim)
    known = [max(dim, 1) for dim in dims if dim is not None]
    if len(dims) > 16 or math.prod(known) > MOST_ELEMENTS:
        raise ModelFileError(
            f"the shape {list(dims)} is not possible",
            where=where,
            rule=f"at most 16 dimensions and {MOST_ELEMENTS} elements",
        )
    return dims


def static_shape(shape: pb.TensorShapeProto, where: Where) -> tuple[int, ...]:
    """The shape of a tensor that is there."""
    dims = sizes_of(shape, where)
    if dims is None or not all(isinstance(dim, int) for dim in dims):
        raise ModelFileError("a stored tensor has no fixed shape", where=where, remedy=DAMAGED)
    return tuple(dim for dim in dims if isinstance(dim, int))


def array_of(tensor: pb.TensorProto, where: Where) -> Array:
    """The content of a tensor, read-only."""
    dtype_of_code(tensor.dtype, where)
    shape = static_shape(tensor.tensor_shape, where)
    budget.made(math.prod(shape) * DTYPES[tensor.dtype].itemsize)
    if tensor.tensor_content:
        array = from_bytes(tensor.dtype, tensor.tensor_content, shape, where)
    else:
        array = _from_list(tensor, shape, where)
    array.setflags(write=False)
    return array


def complex_array_of(tensor: pb.TensorProto, where: Where) -> Array:
    """The content of a tensor of complex numbers: its file has the real and the imaginary part of each."""
    pairs = pb.TensorProto()
    pairs.CopyFrom(tensor)
    pairs.dtype = pb.DT_FLOAT
    pairs.tensor_shape.dim.add(size=2)
    listed = list(tensor.scomplex_val)
    if listed:  # the last number is repeated, not its last part
        shape = static_shape(tensor.tensor_shape, where)
        halves = [_from_list(_of_floats(listed[part::2], tensor), shape, where) for part in (0, 1)]
        return np.asarray(halves[0] + 1j * halves[1], np.complex64)
    return np.asarray(array_of(pairs, where)[..., 0] + 1j * array_of(pairs, where)[..., 1], np.complex64)


def _of_floats(numbers: Sequence[float], tensor: pb.TensorProto) -> pb.TensorProto:
    return pb.TensorProto(dtype=pb.DT_FLOAT, tensor_shape=tensor.tensor_shape, float_val=numbers)


def from_bytes(code: int, data: bytes, shape: tuple[int, ...], where: Where) -> Array:
    """The elements of a tensor from their bytes."""
    dtype = dtype_of_code(code, where)
    stored = np.dtype("<u2" if code in HALVES else dtype.numpy).newbyteorder("<")
    if len(data) != math.prod(shape) * stored.itemsize:
        raise ModelFileError(
            f"the tensor holds {len(data)} bytes, but its shape and type need {math.prod(shape) * stored.itemsize}",
            where=where,
            remedy=DAMAGED,
        )
    if dtype is DType.BOOL:
        return np.asarray(np.frombuffer(data, np.uint8) != 0).reshape(shape)
    return np.asarray(_widened(code, np.frombuffer(data, stored))).reshape(shape)


def _widened(code: int, array: Array) -> Array:
    if code == pb.DT_HALF:
        return np.asarray(array.view(np.float16).astype(np.float32))
    if code == pb.DT_BFLOAT16:
        return np.asarray((array.astype(np.uint32) << 16).view(np.float32))
    return array


def _from_list(tensor: pb.TensorProto, shape: tuple[int, ...], where: Where) -> Array:
    """The elements from the list of their type: the last one is repeated to the end; without any, all are zero."""
    code, dtype, count = tensor.dtype, DTYPES[tensor.dtype], math.prod(shape)
    listed: Any = getattr(tensor, _LISTS.get(code, "int_val"))
    if len(listed) > count:
        raise ModelFileError(
            f"the tensor holds {len(listed)} elements, but its shape has {count}", where=where, remedy=DAMAGED
        )
    if len(listed) < count and count > MOST_REPEATED:
        raise UnsupportedError(
            f"a tensor of {count} elements of which the file holds {len(listed)}",
            where=where,
            rule=f"at most {MOST_REPEATED} elements are repeated",
        )
    if code in HALVES:
        values = _widened(code, (np.array(listed, np.int64) & 0xFFFF).astype(np.uint16))
    else:
        values = _fitting(listed, dtype, where)
    rest = np.full(count - len(values), values[-1] if len(values) else 0, dtype.numpy)
    return np.concatenate((values, rest)).reshape(shape)


def _fitting(listed: Iterable[Any], dtype: DType, where: Where) -> Array:
    wide = np.array(listed, dtype.numpy if dtype.is_float or dtype.itemsize == 8 else np.int64)
    array = wide.astype(dtype.numpy)
    if not dtype.is_float and dtype is not DType.BOOL and not np.array_equal(array, wide):
        raise ModelFileError(f"the tensor holds numbers that do not fit {dtype.value}", where=where)
    return array
