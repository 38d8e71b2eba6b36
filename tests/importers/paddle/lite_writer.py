"""Writes models of Paddle-Lite in their three forms, from a program of Paddle 2 and its parameters."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import flatbuffers
import numpy as np

from buildtool.ir.operator import Array
from buildtool.schemas import paddle_program_pb2 as pb

_VERSION = b"test".ljust(16, b"\0")
_CODES = {"float32": 5, "int32": 2, "int64": 3, "int8": 21}
_PACKED = {7: 10, 9: 12, 10: 13, 17: 19, 19: 7, 20: 8, 21: 9}  # kinds in form 0


def write(program: pb.Program, constants: Mapping[str, Array], form: int) -> bytes:
    topology = _packed_program(program) if form == 0 else _Writer().program(program)
    if form == 0:
        rest = _list(constants.items(), lambda item: _packed_parameter(*item))
    elif form == 1:
        rest = _Writer().all_parameters(constants)
    else:
        tables = [_Writer().parameter(name, array) for name, array in constants.items()]
        rest = struct.pack("<HHHHI", 0, 0, 6, len(tables), max(map(len, tables), default=0))
        rest += b"".join(struct.pack("<II", len(table) + 8, 8) + bytes(4) + table for table in tables)
    return struct.pack("<H16sQ", form, _VERSION, len(topology)) + topology + rest


# -- flatbuffers -------------------------------------------------------------------------------------------------------
class _Writer:
    def __init__(self) -> None:
        self._builder = flatbuffers.Builder(1 << 12)

    def _finished(self, root: int) -> bytes:
        self._builder.Finish(root)
        return bytes(self._builder.Output())

    def _table(self, fields: Sequence[tuple[int, str, Any]]) -> int:
        """Fields: number, kind (offset, i32, i64, f32, u8) and value."""
        builder = self._builder
        builder.StartObject(max((number for number, _, _ in fields), default=0) + 1)
        for number, kind, value in fields:
            prepend = {
                "offset": builder.PrependUOffsetTRelativeSlot,
                "i32": builder.PrependInt32Slot,
                "i64": builder.PrependInt64Slot,
                "f32": builder.PrependFloat32Slot,
                "u8": builder.PrependUint8Slot,
            }[kind]
            prepend(number, value, 0)
        return int(builder.EndObject())

    def _offsets(self, offsets: Sequence[int]) -> int:
        self._builder.StartVector(4, len(offsets), 4)
        for offset in reversed(offsets):
            self._builder.PrependUOffsetTRelative(offset)
        return int(self._builder.EndVector())

    def _numbers(self, values: Iterable[float], kind: str) -> int:
        return int(self._builder.CreateNumpyVector(np.array(list(values), kind)))

    def _text(self, text: bytes) -> int:
        return int(self._builder.CreateString(text.decode()))

    def program(self, program: pb.Program) -> bytes:
        (block,) = program.blocks
        variables = self._offsets([self._variable(one) for one in block.vars])
        operators = self._offsets([self._operator(one) for one in block.ops])
        table = self._table([(2, "offset", variables), (3, "offset", operators)])
        version = self._table([(0, "i64", program.version.version)])
        return self._finished(self._table([(0, "offset", self._offsets([table])), (1, "offset", version)]))

    def _variable(self, one: pb.Variable) -> int:
        fields: list[tuple[int, str, Any]] = [(0, "i32", one.type.type)]
        if one.type.HasField("lod_tensor"):
            tensor = one.type.lod_tensor.tensor
            described = [(0, "i32", tensor.data_type), (1, "offset", self._numbers(tensor.dims, "<i8"))]
            fields.append((2, "offset", self._table([(0, "offset", self._table(described))])))
        kind, name = self._table(fields), self._text(one.name)
        flags = [(2, "u8", int(one.persistable)), (3, "u8", int(one.need_check_feed))]
        return self._table([(0, "offset", name), (1, "offset", kind), *flags])

    def _operator(self, one: pb.Operator) -> int:
        slots = [self._offsets([self._slot(slot) for slot in some]) for some in (one.inputs, one.outputs)]
        attributes = self._offsets([self._attribute(item) for item in one.attrs])
        fields = [(0, "offset", self._text(one.type)), (1, "offset", slots[0]), (2, "offset", slots[1])]
        return self._table([*fields, (3, "offset", attributes)])

    def _slot(self, slot: pb.Slot) -> int:
        arguments = self._offsets([self._text(name) for name in slot.arguments])
        return self._table([(0, "offset", self._text(slot.parameter)), (1, "offset", arguments)])

    def _attribute(self, one: pb.Attribute) -> int:
        fields: list[tuple[int, str, Any]] = [(0, "offset", self._text(one.name)), (1, "i32", one.type)]
        fields += [(2, "i32", one.i), (3, "f32", one.f), (4, "offset", self._text(one.s))]
        fields += [(5, "offset", self._numbers(one.ints, "<i4")), (6, "offset", self._numbers(one.floats, "<f4"))]
        fields += [(7, "offset", self._offsets([self._text(text) for text in one.strings])), (8, "u8", int(one.b))]
        fields += [(11, "i64", one.l), (13, "offset", self._numbers(one.longs, "<i8"))]
        return self._table(fields)

    def _parameter(self, name: str, array: Array) -> int:
        data = self._builder.CreateByteVector(np.ascontiguousarray(array).tobytes())
        sizes = self._numbers(array.shape, "<i8")
        fields = [(2, "offset", sizes), (3, "i32", _CODES[str(array.dtype)]), (4, "offset", data)]
        tensor, text = self._table(fields), self._text(name.encode())
        return self._table([(1, "offset", text), (2, "u8", 1), (3, "offset", tensor)])

    def parameter(self, name: str, array: Array) -> bytes:
        return self._finished(self._parameter(name, array))

    def all_parameters(self, constants: Mapping[str, Array]) -> bytes:
        tables = self._offsets([self._parameter(name, array) for name, array in constants.items()])
        return self._finished(self._table([(0, "offset", tables)]))


# -- packed tables -----------------------------------------------------------------------------------------------------
def _text(text: bytes) -> bytes:
    return struct.pack("<Q", len(text)) + text


def _list(items: Iterable[Any], one: Callable[[Any], bytes]) -> bytes:
    parts = [one(item) for item in items]
    return struct.pack("<Q", len(parts)) + b"".join(parts)


def _numbers(values: Iterable[float], kind: str) -> bytes:
    return _list(values, lambda value: struct.pack(kind, value))


def _packed_program(program: pb.Program) -> bytes:
    return _list(program.blocks, _packed_block) + struct.pack("<q", program.version.version)


def _packed_block(block: pb.Block) -> bytes:
    inner = _list(block.vars, _packed_variable) + _list(block.ops, _packed_operator)
    return struct.pack("<ii", 0, -1) + inner + struct.pack("<i", -1)


def _packed_tensor(code: int, sizes: Iterable[int]) -> bytes:
    return struct.pack("<i", _PACKED.get(code, code)) + _numbers(sizes, "<q")


def _packed_variable(one: pb.Variable) -> bytes:
    tensor = one.type.lod_tensor.tensor
    empty, kind = _packed_tensor(0, ()), struct.pack("<i", _PACKED.get(one.type.type, one.type.type))
    held = _packed_tensor(tensor.data_type, tensor.dims) + bytes(4)
    rest = empty + bytes(4) + _numbers((), "<i") + _numbers((), "<i")
    return _text(one.name) + kind + empty + held + rest + bytes([one.persistable])


def _packed_operator(one: pb.Operator) -> bytes:
    inputs, outputs = (_list(slots, _packed_slot) for slots in (one.inputs, one.outputs))
    return _text(one.type) + inputs + outputs + _list(one.attrs, _packed_attribute) + b"\0"


def _packed_slot(slot: pb.Slot) -> bytes:
    return _text(slot.parameter) + _list(slot.arguments, _text)


def _packed_attribute(one: pb.Attribute) -> bytes:
    parts = [_text(one.name), struct.pack("<iif", one.type, one.i, one.f), _text(one.s), _numbers(one.ints, "<i")]
    parts += [_numbers(one.floats, "<f"), _list(one.strings, _text), bytes([one.b]), _numbers(one.bools, "<B")]
    parts += [struct.pack("<iq", one.block_idx, one.l), _numbers(one.blocks_idx, "<i"), _numbers(one.longs, "<q")]
    return b"".join(parts)


def _packed_parameter(name: str, array: Array) -> bytes:
    data = np.ascontiguousarray(array).tobytes()
    head = _text(name.encode()) + struct.pack("<IQQI", 0, 0, 0, 0)
    return head + _packed_tensor(_CODES[str(array.dtype)], array.shape) + struct.pack("<Q", len(data)) + data
