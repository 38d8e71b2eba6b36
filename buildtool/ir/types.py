"""Types of values: element type, dimensions and quantisation."""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from buildtool.ir.dims import Dim, Shape


class TypeRuleError(ValueError):
    """An invalid type: no element type for an array, scales that are NaN or infinite."""


class DType(enum.Enum):
    """Element types. The value is the word in the text form and in kernel names; `code` is the container's number."""

    F32 = "f32"
    F16 = "f16"
    BF16 = "bf16"
    F64 = "f64"
    S8 = "s8"
    U8 = "u8"
    S16 = "s16"
    U16 = "u16"
    S32 = "s32"
    U32 = "u32"
    S64 = "s64"
    U64 = "u64"
    BOOL = "bool"

    @property
    def code(self) -> int:
        return _CODES[self]

    @property
    def itemsize(self) -> int:
        return _SIZES[self]

    @property
    def is_float(self) -> bool:
        return self in (DType.F32, DType.F16, DType.BF16, DType.F64)

    @property
    def is_integer(self) -> bool:
        return not self.is_float and self is not DType.BOOL

    @property
    def word(self) -> str:
        """What deployment files call it."""
        return "bfloat16" if self is DType.BF16 else self.numpy.name

    @property
    def numpy(self) -> np.dtype[np.generic]:
        """The NumPy type that carries the values; bf16 has none and is carried as float32 on the Python side."""
        return np.dtype(_NUMPY[self])


_CODES = {dtype: code for code, dtype in enumerate(DType, start=1)}
_NUMPY: dict[DType, npt.DTypeLike] = {
    DType.F32: np.float32,
    DType.F16: np.float16,
    DType.BF16: np.float32,
    DType.F64: np.float64,
    DType.S8: np.int8,
    DType.U8: np.uint8,
    DType.S16: np.int16,
    DType.U16: np.uint16,
    DType.S32: np.int32,
    DType.U32: np.uint32,
    DType.S64: np.int64,
    DType.U64: np.uint64,
    DType.BOOL: np.bool_,
}
_SIZES = {dtype: np.dtype(kind).itemsize for dtype, kind in _NUMPY.items()} | {DType.BF16: 2}


def dtype_of(array: npt.NDArray[np.generic]) -> DType:
    """The element type of a NumPy array; TypeRuleError for types the graph does not know (complex, strings)."""
    for dtype, kind in _NUMPY.items():
        if dtype is not DType.BF16 and array.dtype == np.dtype(kind):
            return dtype
    raise TypeRuleError(f"arrays of type {array.dtype} have no element type in a graph")


def dtype_from_code(code: int) -> DType:
    for dtype, known in _CODES.items():
        if known == code:
            return dtype
    raise ValueError(f"{code} is not the number of an element type")


@dataclass(frozen=True)
class QuantType:
    """Affine quantisation: real = scale * (stored - zero_point), per tensor (axis None) or along one axis."""

    scales: tuple[float, ...]
    zero_points: tuple[int, ...]
    axis: int | None = None
    bits: int = 8  # 1..16; the values still occupy the element type

    def __post_init__(self) -> None:
        if len(self.scales) != len(self.zero_points) or not self.scales:
            raise TypeRuleError("a quantised type needs as many zero points as scales, and at least one")
        if self.axis is None and len(self.scales) != 1:
            raise TypeRuleError("per-tensor quantisation has one scale")
        if not 1 <= self.bits <= 16:
            raise TypeRuleError(f"{self.bits} bits are outside 1..16")
        if not all(np.isfinite(scale) and scale > 0 for scale in self.scales):
            raise TypeRuleError("scales are positive and finite")


@dataclass(frozen=True)
class TensorType:
    """What a value is: element type, shape, and quantisation where it has one."""

    dtype: DType
    shape: Shape
    quant: QuantType | None = None

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def real(self) -> TensorType:
        """The type of the real numbers that an operator of a quantised node sees. Other whole numbers stay."""
        return TensorType(DType.F32, self.shape) if self.quant is not None or self.dtype.is_float else self

    def with_shape(self, shape: tuple[Dim, ...]) -> TensorType:
        return replace(self, shape=shape)

    def with_dtype(self, dtype: DType) -> TensorType:
        return replace(self, dtype=dtype)

    def __str__(self) -> str:
        return f"{self.dtype.value}[{', '.join(str(dim) for dim in self.shape)}]"


def round_to_bf16(array: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """The nearest bf16 values (ties to even), carried as float32. NaN stays NaN."""
    bits = array.astype(np.float32).view(np.uint32)
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) & np.uint32(0xFFFF0000)
    quiet = (bits & np.uint32(0xFFFF0000)) | np.uint32(0x00400000)
    result: npt.NDArray[np.uint32] = np.where(np.isnan(array), quiet, rounded).astype(np.uint32)
    return result.view(np.float32)
