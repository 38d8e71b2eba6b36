"""Reads programs of Paddle 1 and 2: `__model__` and `.pdmodel`, messages of protobuf."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from google.protobuf.message import DecodeError

from buildtool.errors import ModelFileError, UnsupportedError, Where
from buildtool.importers.model import AttributeValue
from buildtool.importers.paddle.program import (
    DAMAGED,
    TENSOR,
    Operation,
    Program,
    Variable,
    check_shape,
    damaged,
    program_of,
)
from buildtool.schemas import paddle_program_pb2 as pb

_BLOCK, _BLOCKS = 8, 10  # kinds of attributes
#: By the kind of an attribute. Truth values are numbers here.
_READERS: Mapping[int, Callable[[pb.Attribute], AttributeValue]] = {
    0: lambda one: int(one.i),
    1: lambda one: float(one.f),
    2: lambda one: text_of(one.s),
    3: lambda one: tuple(one.ints),
    4: lambda one: tuple(one.floats),
    5: lambda one: tuple(text_of(item) for item in one.strings),
    6: lambda one: int(one.b),
    7: lambda one: tuple(int(item) for item in one.bools),
    9: lambda one: int(one.l),
    11: lambda one: tuple(one.longs),
    12: lambda one: tuple(one.float64s),
    15: lambda one: float(one.float64),
    16: lambda one: _scalar(one.scalar),
    17: lambda one: _scalars(one.scalars),
}


def text_of(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def read_program(data: bytes, where: Where) -> Program:
    """The program of a message."""
    try:
        message = pb.Program.FromString(data)
    except (DecodeError, RecursionError, ValueError) as problem:
        raise ModelFileError("this is not a program of Paddle", where=where, remedy=DAMAGED) from problem
    blocks = [
        ([_variable(item, where) for item in block.vars], [_operation(item, where) for item in block.ops])
        for block in message.blocks
    ]
    return program_of(message.version.version, blocks, where)


def _variable(item: pb.Variable, where: Where) -> Variable:
    name = text_of(item.name)
    if item.type.type != TENSOR or not item.type.HasField("lod_tensor"):
        return Variable(name, item.type.type, None, None, item.persistable)
    tensor = item.type.lod_tensor.tensor
    shape = tuple(tensor.dims)
    check_shape(shape, Where(where.file, model=where.model, value=name))
    return Variable(name, TENSOR, tensor.data_type, shape, item.persistable, item.need_check_feed)


def _operation(item: pb.Operator, where: Where) -> Operation:
    kind = text_of(item.type)
    if not kind:
        damaged("an operator has no type", where)
    attributes: dict[str, AttributeValue] = {}
    blocks: list[int] = []
    for attribute in item.attrs:
        name = text_of(attribute.name)
        if attribute.type in (_BLOCK, _BLOCKS):
            blocks += [attribute.block_idx] if attribute.type == _BLOCK else attribute.blocks_idx
        reader = _READERS.get(attribute.type)
        if reader is None or is_for_training(name):
            continue
        content = reader(attribute)
        if attributes.get(name, content) != content:  # Paddle 3 writes some of `lookup_table` twice
            damaged(f"the attribute '{name}' of {kind} appears twice", where)
        attributes[name] = content
    return Operation(kind, _slots(item.inputs, where), _slots(item.outputs, where), attributes, tuple(blocks))


def is_for_training(name: str) -> bool:
    """Attributes that say nothing about inference: stacks of calls, roles, the device it was trained on."""
    return (name.startswith("op_") and name != "op_type") or name in ("name", "with_quant_attr", "is_test")


def _slots(items: Iterable[Any], where: Where) -> dict[str, tuple[str, ...]]:
    slots: dict[str, tuple[str, ...]] = {}
    for item in items:
        name = text_of(item.parameter)
        if name in slots:
            damaged(f"the slot '{name}' of an operator appears twice", where)
        names = tuple(text_of(argument) for argument in item.arguments)
        slots[name] = tuple(name for name in names if name != "@EMPTY@")
    return slots


def _scalar(item: pb.Scalar) -> int | float:
    kinds = {1: int(item.b), 2: int(item.i), 3: float(item.r)}
    if item.type not in kinds:
        raise UnsupportedError("an attribute is a complex number", rule="attributes are real numbers")
    return kinds[item.type]


def _scalars(items: Iterable[pb.Scalar]) -> tuple[float, ...] | tuple[int, ...]:
    numbers = [_scalar(item) for item in items]
    whole = [number for number in numbers if isinstance(number, int)]
    return tuple(whole) if len(whole) == len(numbers) else tuple(float(number) for number in numbers)
