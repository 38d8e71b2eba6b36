"""Reads models of Paddle-Lite (`.nb`) of all three forms.

`u16 form | 16 characters: the version of the tool | u64 size of the program | program | parameters`. In form 0 both are
packed tables, in form 1 and 2 flatbuffers: all parameters in one, or one for each.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator, Mapping

import numpy as np

from buildtool.errors import Where
from buildtool.importers.flatbuffer import File, Table
from buildtool.importers.model import AttributeValue
from buildtool.importers.paddle import packed_tables
from buildtool.importers.paddle.program import (
    DAMAGED,
    STORED,
    TENSOR,
    Operation,
    Program,
    Variable,
    check_shape,
    damaged,
    dtype_of_code,
    program_of,
)
from buildtool.importers.paddle.protobuf import is_for_training
from buildtool.importers.paddle.tensors import array_of
from buildtool.ir.operator import Array

_HEAD = struct.Struct("<H16sQ")
_PARAMETERS_HEAD = struct.Struct("<HH")
_FORMS = (0, 1, 2)
_BLOCK, _BLOCKS = 8, 10

#: By the kind of an attribute. Truth values are numbers here.
_ATTRIBUTES: Mapping[int, Callable[[Table], AttributeValue]] = {
    0: lambda one: one.integer(2),
    1: lambda one: one.real(3),
    2: lambda one: one.text(4),
    3: lambda one: _whole(one, 5, "<i4"),
    4: lambda one: tuple(float(number) for number in one.numbers(6, "<f4")),
    5: lambda one: tuple(one.texts(7)),
    6: lambda one: one.integer(8, "<B"),
    7: lambda one: _whole(one, 9, "u1"),
    9: lambda one: one.integer(11, "<q"),
    11: lambda one: _whole(one, 13, "<i8"),
}


def is_one(data: bytes) -> bool:
    """Whether the bytes begin like a model of Paddle-Lite."""
    return len(data) >= _HEAD.size and data[0] in _FORMS and data[1] == 0


def read_program(data: bytes, where: Where) -> tuple[Program, dict[str, Array]]:
    """The main block of a program, and its parameters."""
    form, _, size = _HEAD.unpack_from(data)
    if size > len(data) - _HEAD.size:
        damaged(f"the program needs {size} bytes, but the file has {len(data)}", where)
    topology, rest = data[_HEAD.size : _HEAD.size + size], data[_HEAD.size + size :]
    if form == 0:
        return packed_tables.read(topology, rest, where)
    program = _program(File(topology, where, DAMAGED).root(), where)
    constants: dict[str, Array] = {}
    tables = File(rest, where, DAMAGED).root().tables(0) if form == 1 else _one_by_one(rest, where)
    for table in tables:
        name = table.text(1)
        if not name or name in constants:
            damaged(f"a parameter has no name, or '{name}' is there twice", where)
        constants[name] = _parameter(table, Where(where.file, model=where.model, value=name))
    return program, constants


# -- flatbuffers -------------------------------------------------------------------------------------------------------
def _program(root: Table, where: Where) -> Program:
    blocks = [
        ([_variable(one, where) for one in block.tables(2)], [_operation(one, where) for one in block.tables(3)])
        for block in root.tables(0)
    ]
    version = root.table(1)
    return program_of(0 if version is None else version.integer(0, "<q"), blocks, where)


def _variable(table: Table, where: Where) -> Variable:
    name, kind = table.text(0), table.table(1)
    is_persistable = bool(table.integer(2, "<B"))
    tensor = None if kind is None else kind.table(2)
    described = None if tensor is None else tensor.table(0)
    if kind is None or kind.integer(0) != TENSOR or described is None:
        return Variable(name, 0 if kind is None else kind.integer(0), None, None, is_persistable)
    shape = _whole(described, 1, "<i8")
    check_shape(shape, Where(where.file, model=where.model, value=name))
    return Variable(name, TENSOR, described.integer(0), shape, is_persistable, bool(table.integer(3, "<B")))


def _whole(table: Table, field: int, kind: str) -> tuple[int, ...]:
    return tuple(int(number) for number in table.numbers(field, kind))


def _operation(table: Table, where: Where) -> Operation:
    attributes: dict[str, AttributeValue] = {}
    blocks: list[int] = []
    for one in table.tables(3):
        name, kind = one.text(0), one.integer(1)
        if kind in (_BLOCK, _BLOCKS):
            blocks += [one.integer(10)] if kind == _BLOCK else _whole(one, 12, "<i4")
        if kind in _ATTRIBUTES and not is_for_training(name):
            attributes[name] = _ATTRIBUTES[kind](one)
    inputs, outputs = ({slot.text(0): tuple(slot.texts(1)) for slot in table.tables(field)} for field in (1, 2))
    if not table.text(0):
        damaged("an operator has no type", where)
    return Operation(table.text(0), inputs, outputs, attributes, tuple(blocks))


def _one_by_one(data: bytes, where: Where) -> Iterator[Table]:
    """`u16 0 | u16 size, as many bytes | u16 6 | u16 count | u32 largest`; each has `u32 total | u32 offset` ahead."""
    file = File(data, where, DAMAGED)
    position = _PARAMETERS_HEAD.size + file.number("<H", 2)
    if file.number("<H", 0) != 0 or file.number("<H", position) != 6:
        damaged("the parameters do not begin as they should", where)
    count, position = file.number("<H", position + 2), position + 8
    for _ in range(count):
        total, offset = file.number("<I", position), file.number("<I", position + 4)
        start, end = position + 4 + offset, position + 4 + total
        if not 4 <= offset <= total:
            damaged(f"a parameter of {total} bytes begins at {offset}", where)
        file.check(start, end - start)
        yield File(data[start:end], where, DAMAGED).root()
        position = end
    if position != len(data):
        damaged(f"{len(data) - position} bytes follow the {count} parameters", where)


def _parameter(table: Table, where: Where) -> Array:
    tensor = table.table(3)
    if table.integer(2, "<B") != 1 or tensor is None:
        damaged("a parameter is not a tensor", where)
    shape, code = _whole(tensor, 2, "<i8"), tensor.integer(3)
    check_shape(shape, where, open_sizes=False)
    dtype_of_code(code, where)
    elements = tensor.numbers(4, "u1")
    if elements.size != math.prod(shape) * np.dtype(STORED[code]).itemsize:
        damaged(f"{elements.size} bytes for the shape {list(shape)}", where)
    return array_of(code, shape, memoryview(elements.tobytes()))
