"""Turns the tensors of an ONNX file into arrays. Nothing that the file says about sizes is believed unchecked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from onnx import TensorProto

from buildtool import budget
from buildtool.errors import ModelFileError, UnsupportedError, Where
from buildtool.ir.operator import Array
from buildtool.ir.types import DType

#: Half precision is widened when a model is read: kernels compute in f32, and storing half is the deployment's choice.
DTYPES: Mapping[int, DType] = {
    TensorProto.FLOAT: DType.F32,
    TensorProto.FLOAT16: DType.F32,
    TensorProto.BFLOAT16: DType.F32,
    TensorProto.DOUBLE: DType.F64,
    TensorProto.INT8: DType.S8,
    TensorProto.UINT8: DType.U8,
    TensorProto.INT16: DType.S16,
    TensorProto.UINT16: DType.U16,
    TensorProto.INT32: DType.S32,
    TensorProto.UINT32: DType.U32,
    TensorProto.INT64: DType.S64,
    TensorProto.UINT64: DType.U64,
    TensorProto.BOOL: DType.BOOL,
}
#: What they are outside of the graph: users pass what the model declares.
HALVES: Mapping[int, DType] = {TensorProto.FLOAT16: DType.F16, TensorProto.BFLOAT16: DType.BF16}
#: Weights of 4 bits are widened too. They lie two to a byte, the first one in the lower half.
NIBBLES: Mapping[int, DType] = {TensorProto.INT4: DType.S8, TensorProto.UINT4: DType.U8}
#: The field of a TensorProto that holds the elements when `raw_data` does not.
_FIELDS: Mapping[int, str] = {
    TensorProto.FLOAT: "float_data",
    TensorProto.DOUBLE: "double_data",
    TensorProto.INT64: "int64_data",
    TensorProto.UINT32: "uint64_data",
    TensorProto.UINT64: "uint64_data",
}
MOST_ELEMENTS = 2**31 - 1
#: Bytes from which on a file of weights is mapped: what is read of it needs no memory then. Who writes such a file anew
#: while it is read ends the process, so that smaller ones, which memory holds easily, are read.
_WORTH_A_MAP = 2**28
_MAPS: WeakValueDictionary[tuple[Path, int, int, int], np.memmap[Any, np.dtype[np.uint8]]] = WeakValueDictionary()
_SHOWN = 200  # characters of a file name in a message


def text_of(text: str | bytes) -> str:
    """A string of the file. Damaged ones come as bytes, since protobuf could not decode them."""
    return text if isinstance(text, str) else text.decode("utf-8", "replace")


def dtype_of_code(code: int, where: Where) -> DType:
    """The element type of an ONNX type number."""
    if code in DTYPES:
        return DTYPES[code]
    if code in TensorProto.DataType.values() and code != TensorProto.UNDEFINED:
        raise UnsupportedError(
            f"elements of type {TensorProto.DataType.Name(code)} are not supported",
            where=where,
            rule=f"supported: {', '.join(TensorProto.DataType.Name(known) for known in DTYPES)}",
            remedy="export the model with float32 tensors",
        )
    raise ModelFileError(f"{code} is not the number of an element type", where=where, remedy="export the model again")


def array_of(tensor: TensorProto, folder: Path, where: Where) -> Array:
    """The content of a tensor, read-only. `folder` is the only place where external data may lie."""
    where = Where(where.file, model=where.model, node=where.node, value=text_of(tensor.name) or where.value)
    nibbles = NIBBLES.get(tensor.data_type)
    code = tensor.data_type if nibbles is None else TensorProto.UINT8
    dtype = dtype_of_code(code, where)
    shape = tuple(int(dim) for dim in tensor.dims)
    # 0 elements do not excuse the other dimensions: NumPy multiplies those too.
    if len(shape) > 16 or any(dim < 0 for dim in shape) or math.prod(max(dim, 1) for dim in shape) > MOST_ELEMENTS:
        raise ModelFileError(
            f"the shape {list(shape)} of the tensor is not possible",
            where=where,
            rule=f"at most 16 dimensions, none negative, at most {MOST_ELEMENTS} elements",
        )
    if tensor.HasField("segment"):
        raise UnsupportedError("the tensor is stored in segments", where=where, remedy="store it whole")
    budget.made(math.prod(shape) * dtype.itemsize)
    count = math.prod(shape) if nibbles is None else (math.prod(shape) + 1) // 2
    if tensor.data_location == TensorProto.EXTERNAL:
        needed = count * _stored(code).itemsize
        array = _from_bytes(code, _external(tensor, folder, needed, where), count, where)
    elif tensor.HasField("raw_data"):
        array = _from_bytes(code, tensor.raw_data, count, where)
    else:
        array = _from_field(tensor, code, dtype, count, where)
    if nibbles is not None:
        array = _unpacked(array, nibbles)[: math.prod(shape)]
    array = array.reshape(shape)
    array.setflags(write=False)
    return array


def _stored(code: int) -> np.dtype[np.generic]:
    """How elements lie in the file; bfloat16 as 16 raw bits."""
    if code == TensorProto.FLOAT16:
        return np.dtype("<f2")
    if code == TensorProto.BFLOAT16:
        return np.dtype("<u2")
    little: np.dtype[np.generic] = DTYPES[code].numpy.newbyteorder("<")
    return little


def _widen(code: int, array: Array) -> Array:
    if code == TensorProto.BFLOAT16:
        return (array.astype(np.uint32) << 16).view(np.float32)
    if code == TensorProto.FLOAT16:
        return array.astype(np.float32)
    return array.astype(DTYPES[code].numpy, copy=False)


def _from_bytes(code: int, data: bytes | Array, count: int, where: Where) -> Array:
    stored = _stored(code)
    if len(data) != count * stored.itemsize:
        raise ModelFileError(
            f"the tensor holds {len(data)} bytes, but its shape and type need {count * stored.itemsize}",
            where=where,
            remedy="the file is damaged or was written wrongly: export the model again",
        )
    if code == TensorProto.BOOL:  # any byte but 0 is true
        return np.asarray(np.frombuffer(data, np.uint8) != 0)
    return _widen(code, np.frombuffer(data, stored) if isinstance(data, bytes) else data.view(stored))


def _unpacked(pairs: Array, dtype: DType) -> Array:
    """Both halves of every byte."""
    halves = np.stack((pairs & 15, pairs >> 4), axis=-1).reshape(-1)
    return halves if dtype is DType.U8 else (halves ^ 8).astype(np.int8) - np.int8(8)


def _from_field(tensor: TensorProto, code: int, dtype: DType, count: int, where: Where) -> Array:
    elements = getattr(tensor, _FIELDS.get(code, "int32_data"))
    if len(elements) != count:
        raise ModelFileError(
            f"the tensor holds {len(elements)} elements of type {TensorProto.DataType.Name(code)}, "
            f"but its shape needs {count}",
            where=where,
            remedy="the file is damaged or was written wrongly: export the model again",
        )
    if code in HALVES:  # the bits are the low half of an int32
        bits = (np.array(elements, np.int64) & 0xFFFF).astype(np.uint16)
        return _widen(code, bits.view(_stored(code)))
    wide = np.array(elements, dtype.numpy if code in _FIELDS and code != TensorProto.UINT32 else np.int64)
    array = wide.astype(dtype.numpy)
    if dtype is not DType.BOOL and not np.array_equal(array, wide, equal_nan=dtype.is_float):
        raise ModelFileError(f"the tensor holds numbers that do not fit {dtype.value}", where=where)
    return array


def _beside(folder: Path, location: str) -> Path:
    """Where a file lies; the folder itself for names that no file can have."""
    try:
        return (folder / location).resolve() if location else folder
    except (OSError, ValueError):
        return folder


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # its name is too long, or a folder may not be looked into
        return False


def _inside(folder: Path, location: str) -> Path | None:
    """Where external data lies; None where that is not in the folder or below it."""
    path = _beside(folder, location)
    outside = not location or Path(location).is_absolute() or folder.resolve() not in path.parents
    return None if outside else path


def _entries(tensor: TensorProto) -> dict[str, str]:
    return {text_of(entry.key): text_of(entry.value) for entry in tensor.external_data}


def external_file(tensor: TensorProto, folder: Path) -> Path | None:
    """The file that is there with the data of a tensor; None where it holds its data itself, or its file may not be."""
    if tensor.data_location != TensorProto.EXTERNAL:
        return None
    path = _inside(folder, _entries(tensor).get("location", ""))
    return path if path is not None and _is_file(path) else None


def _mapped(path: Path) -> Array:
    """A file in memory, mapped once: a map takes a descriptor."""
    facts = path.stat()
    key = (path, facts.st_ino, facts.st_size, facts.st_mtime_ns)
    found = _MAPS.get(key)
    if found is None:
        found = _MAPS[key] = np.memmap(path, np.uint8, "r")
    return found


def _external(tensor: TensorProto, folder: Path, needed: int, where: Where) -> bytes | Array:
    """The bytes of a tensor that lies in a file beside the model; at most as many as it needs, and one more."""
    entries = _entries(tensor)
    location = entries.get("location", "")
    path = _inside(folder, location)
    if path is None:
        raise ModelFileError(
            f"the tensor's data is in '{location[:_SHOWN]}', outside the model's folder",
            where=where,
            rule="external data must be in the folder of the model or below it",
        )
    if not _is_file(path):
        raise ModelFileError(
            f"the file '{location[:_SHOWN]}' with the tensor's data is missing",
            where=where,
            remedy="copy it beside the model, or save the model with its weights inside",
        )
    size = path.stat().st_size
    try:
        offset = int(entries.get("offset") or 0)
        length = int(entries.get("length") or size - offset)
    except ValueError as problem:
        raise ModelFileError(f"offset or length in '{location}' is not a number", where=where) from problem
    if offset < 0 or length < 0 or offset + length > size:
        raise ModelFileError(
            f"bytes {offset} to {offset + length} of '{location}' are missing: the file has {size}", where=where
        )
    length = min(length, needed if "length" not in entries else needed + 1)
    if size >= _WORTH_A_MAP:
        return _mapped(path)[offset : offset + length]
    with path.open("rb") as file:
        file.seek(offset)
        return file.read(length)
