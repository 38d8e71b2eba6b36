"""Element types and constants in the words of ONNX."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from buildtool.ir.operator import Array
from buildtool.ir.types import DType

_CODES: dict[DType, int] = {
    DType.F32: TensorProto.FLOAT,
    DType.F16: TensorProto.FLOAT16,
    DType.BF16: TensorProto.BFLOAT16,
    DType.F64: TensorProto.DOUBLE,
    DType.S8: TensorProto.INT8,
    DType.U8: TensorProto.UINT8,
    DType.S16: TensorProto.INT16,
    DType.U16: TensorProto.UINT16,
    DType.S32: TensorProto.INT32,
    DType.U32: TensorProto.UINT32,
    DType.S64: TensorProto.INT64,
    DType.U64: TensorProto.UINT64,
    DType.BOOL: TensorProto.BOOL,
}

_SHORT = dict.fromkeys((DType.S16, DType.U16), DType.S32)
_SMALL = {**_SHORT, DType.S8: DType.S32, DType.U8: DType.S32}
_TO_DOUBLE = dict.fromkeys((DType.S16, DType.U16, DType.S32, DType.U32), DType.F64)
#: The element types that an ONNX operator does not take, and the wider ones in which it gives the same numbers: what
#: wraps around in the narrow type does so when the wide result is cut to it.
COMPUTED_IN: dict[str, dict[DType, DType]] = {
    "MatMul": _SMALL,
    "ReduceSum": _SMALL,
    "ReduceProd": _SMALL,
    "ReduceMean": _SMALL,
    "ReduceMax": _SHORT,
    "ReduceMin": _SHORT,
    "CumSum": _SMALL,
    "CumProd": _SMALL,
    "PRelu": _SMALL,
    "Pow": {**_SMALL, DType.U32: DType.S64, DType.U64: DType.S64},
    "MaxPool": _TO_DOUBLE,
}


def code(dtype: DType) -> int:
    """The number of an element type in ONNX."""
    return _CODES[dtype]


def tensor(name: str, array: Array, dtype: DType) -> TensorProto:
    """A constant; bf16 comes as the single precision that carries it."""
    proto = TensorProto(name=name, data_type=code(dtype), dims=array.shape)
    if dtype is DType.BF16:
        halves = np.ascontiguousarray(array, np.float32).view(np.uint32) >> np.uint32(16)
        array = halves.astype(np.uint16)
    proto.raw_data = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()
    return proto
