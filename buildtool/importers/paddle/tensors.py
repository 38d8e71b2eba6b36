"""Reads parameters: streams of tensors, one per file or one after the other in a single file.

A stream is `u32 0 | u64 levels | {u64 bytes, bytes} per level | u32 0 | i32 size | description | elements`.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from google.protobuf.message import DecodeError

from buildtool import budget
from buildtool.errors import ModelFileError, Where
from buildtool.importers.paddle.program import (
    BFLOAT16,
    DAMAGED,
    DTYPES,
    STORED,
    check_shape,
    damaged,
    dtype_of_code,
)
from buildtool.ir.operator import Array
from buildtool.schemas import paddle_program_pb2 as pb

_MOST_LEVELS = 16
_LONGEST_DESCRIPTION = 1024


@dataclass
class _Cursor:
    """The bytes of a file and how far they have been read."""

    data: memoryview
    where: Where
    position: int = 0

    def take(self, size: int) -> memoryview:
        if size < 0 or size > len(self.data) - self.position:
            damaged(
                f"the parameters end at byte {len(self.data)}, where {size} bytes from {self.position} are needed",
                self.where,
            )
        start, self.position = self.position, self.position + size
        return self.data[start : self.position]

    def number(self, kind: str) -> int:
        return int(struct.unpack(kind, self.take(struct.calcsize(kind)))[0])


def read_combined(data: bytes, names: Sequence[str], where: Where) -> dict[str, Array]:
    """The tensors of a file that holds them in the order of their names; it must end where the last one does."""
    cursor = _Cursor(memoryview(data), where)
    tensors = {name: _tensor(cursor, name) for name in sorted(names, key=_in_bytes)}
    if cursor.position != len(data):
        raise ModelFileError(
            f"{len(data) - cursor.position} bytes follow the {len(tensors)} parameters of the model",
            where=where,
            rule="the parameters fill their file",
            remedy="take the file of parameters that was saved together with the model",
        )
    return tensors


def read_single(data: bytes, name: str, where: Where) -> Array:
    """The tensor of a file that holds one."""
    return read_combined(data, [name], where)[name]


def _in_bytes(name: str) -> bytes:
    """Paddle sorts names by their bytes."""
    return name.encode("utf-8", "replace")


def _tensor(cursor: _Cursor, name: str) -> Array:
    where = Where(cursor.where.file, model=cursor.where.model, value=name)
    cursor.where = where
    if cursor.number("<I") != 0:
        damaged(f"'{name}' does not begin with the version 0", where)
    levels = cursor.number("<Q")
    if levels > _MOST_LEVELS:
        damaged(f"'{name}' has {levels} levels of lengths", where)
    for _ in range(levels):
        cursor.take(cursor.number("<Q"))
    if cursor.number("<I") != 0:
        damaged(f"the elements of '{name}' do not have the version 0", where)
    size = cursor.number("<i")
    if size > _LONGEST_DESCRIPTION:
        damaged(f"'{name}' is described by {size} bytes", where)
    try:
        described = pb.TensorDescription.FromString(bytes(cursor.take(size)))
    except (DecodeError, ValueError) as problem:
        raise ModelFileError(f"'{name}' is not described", where=where, remedy=DAMAGED) from problem
    code, shape = described.data_type, tuple(described.dims)
    dtype_of_code(code, where)
    check_shape(shape, where, open_sizes=False)
    count = math.prod(shape)
    return array_of(code, shape, cursor.take(count * np.dtype(STORED[code]).itemsize))


def array_of(code: int, shape: tuple[int, ...], data: memoryview) -> Array:
    """The elements as the graph has them, read-only; there are as many as the shape has."""
    budget.made(math.prod(shape) * DTYPES[code].itemsize)
    stored = np.frombuffer(data, STORED[code])
    if code == BFLOAT16:
        stored = (stored.astype(np.uint32) << 16).view(np.float32)
    array = np.asarray(stored.astype(DTYPES[code].numpy, copy=False)).reshape(shape)
    array.setflags(write=False)
    return array
