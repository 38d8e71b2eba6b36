"""The oldest form of Paddle-Lite's models: tables whose fields follow each other without gaps.

Lists and texts are `u64 count` and their items, enumerations have 4 bytes, truth values one.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from buildtool.errors import Where
from buildtool.importers.model import AttributeValue
from buildtool.importers.paddle.program import (
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

_Item = TypeVar("_Item")
#: Paddle's numbers for the kinds of variables and elements, by those of this form.
_KINDS = (0, 1, 2, 3, 4, 5, 6, 19, 20, 21, 7, 8, 9, 10, 11, 12, 13, 14, 15, 17, 18)
_BLOCK, _BLOCKS = 8, 10
#: In which of the values of an attribute each kind has its own.
_PLACES = {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 6: 6, 7: 7, 8: 8, 9: 9, 10: 10, 11: 11}


def read(topology: bytes, parameters: bytes, where: Where) -> tuple[Program, dict[str, Array]]:
    """The main block of a program, and its parameters."""
    tables = _Tables(topology, where)
    blocks = tables.items(tables.block)
    program = program_of(tables.number("<q"), blocks, where)
    rest = _Tables(parameters, where)
    constants = dict(rest.items(rest.parameter))
    if rest.position != len(parameters):
        damaged(f"{len(parameters) - rest.position} bytes follow the parameters", where)
    return program, constants


class _Tables:
    """Bytes and how far they have been read."""

    def __init__(self, data: bytes, where: Where) -> None:
        self._data = data
        self._where = where
        self.position = 0

    # -- simple fields -----------------------------------------------------------------------------------------------
    def take(self, size: int) -> bytes:
        if size > len(self._data) - self.position:
            damaged(f"{size} bytes from {self.position} are not there", self._where)
        start, self.position = self.position, self.position + size
        return self._data[start : self.position]

    def number(self, kind: str) -> int:
        return int(struct.unpack(kind, self.take(struct.calcsize(kind)))[0])

    def real(self) -> float:
        return float(struct.unpack("<f", self.take(4))[0])

    def text(self) -> str:
        return self.take(self.number("<Q")).decode("utf-8", "replace")

    def items(self, read_one: Callable[[], _Item]) -> list[_Item]:
        count = self.number("<Q")
        if count > len(self._data) - self.position:  # each has at least one byte
            damaged(f"a list of {count} items", self._where)
        return [read_one() for _ in range(count)]

    def whole(self, kind: str) -> tuple[int, ...]:
        return tuple(self.items(lambda: self.number(kind)))

    def kind(self) -> int:
        number = self.number("<i")
        if not 0 <= number < len(_KINDS):
            damaged(f"there is no type {number}", self._where)
        return _KINDS[number]

    # -- tables ------------------------------------------------------------------------------------------------------
    def block(self) -> tuple[list[Variable], list[Operation]]:
        self.take(8)  # its number and that of the block around it
        variables, operations = self.items(self.variable), self.items(self.operation)
        self.take(4)  # the number of another block
        return list(dict.fromkeys(variables)), operations  # some releases list variables twice

    def variable(self) -> Variable:
        name, kind = self.text(), self.kind()
        self.tensor()  # of rows that are selected
        code, shape = self.levelled()
        self.levelled()  # of an array of tensors
        self.items(self.levelled)  # of a reader
        self.items(self.kind)  # of a tuple
        is_persistable = bool(self.number("<B"))
        if kind != TENSOR or not (code or shape):  # the releases that wrote this form describe nothing
            return Variable(name, kind, None, None, is_persistable)
        check_shape(shape, Where(self._where.file, model=self._where.model, value=name))
        return Variable(name, kind, code, shape, is_persistable)

    def tensor(self) -> tuple[int, tuple[int, ...]]:
        return self.kind(), self.whole("<q")

    def levelled(self) -> tuple[int, tuple[int, ...]]:
        described = self.tensor()
        self.take(4)
        return described

    def operation(self) -> Operation:
        kind = self.text()
        inputs, outputs = dict(self.items(self.slot)), dict(self.items(self.slot))
        attributes: dict[str, AttributeValue] = {}
        blocks: tuple[int, ...] = ()
        for name, type_, value in self.items(self.attribute):
            if type_ in (_BLOCK, _BLOCKS):
                blocks += (value,) if isinstance(value, int) else _numbers(value)
            elif value is not None and not is_for_training(name):
                attributes[name] = value
        self.take(1)
        if not kind:
            damaged("an operator has no type", self._where)
        return Operation(kind, inputs, outputs, attributes, blocks)

    def slot(self) -> tuple[str, tuple[str, ...]]:
        return self.text(), tuple(self.items(self.text))

    def attribute(self) -> tuple[str, int, AttributeValue | None]:
        """All values are there, whatever the kind."""
        name, type_ = self.text(), self.number("<i")
        values: list[AttributeValue] = [self.number("<i"), self.real(), self.text(), self.whole("<i")]
        values += [tuple(self.items(self.real)), tuple(self.items(self.text)), self.number("<B"), self.whole("<B")]
        values += [self.number("<i"), self.number("<q"), self.whole("<i"), self.whole("<q")]
        place = _PLACES.get(type_)
        return name, type_, None if place is None else values[place]

    def parameter(self) -> tuple[str, Array]:
        name = self.text()
        self.take(12)  # a version, the number of levels of lengths
        self.items(lambda: self.whole("<Q"))
        self.take(4)
        code, shape = self.tensor()
        where = Where(self._where.file, model=self._where.model, value=name)
        dtype_of_code(code, where)
        check_shape(shape, where, open_sizes=False)
        elements = self.take(self.number("<Q"))
        if len(elements) != math.prod(shape) * np.dtype(STORED[code]).itemsize:
            damaged(f"{len(elements)} bytes for the shape {list(shape)}", where)
        return name, array_of(code, shape, memoryview(elements))


def _numbers(value: AttributeValue | None) -> tuple[int, ...]:
    return tuple(item for item in value if isinstance(item, int)) if isinstance(value, tuple) else ()
