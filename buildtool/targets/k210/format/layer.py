"""What all layers of a kmodel have: a number, a body of packed fields, and parts of main memory they touch.

A body is `flags` and fixed fields, packed as `FORMAT` says; some have a tail of variable length. `flags` bit 0 says
that the output goes to main memory. `in_...` and `out` addresses are byte offsets in main memory.
"""

from __future__ import annotations

import dataclasses
import enum
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, TypeVar

MAIN_MEMORY_OUTPUT = 1  # in flags


class LayerType(enum.IntEnum):
    """Every number that the format gives a layer. Lathe knows the bodies of those in `bodies.BODIES`."""

    INVALID = 0
    ADD = 1
    Q_ADD = 2
    GMAXPOOL = 3
    Q_GMAXPOOL = 4
    GAP = 5
    Q_GAP = 6
    MAXPOOL = 7
    Q_MAXPOOL = 8
    AVGPOOL = 9
    Q_AVGPOOL = 10
    QUANTIZE = 11
    DEQUANTIZE = 12
    REQUANTIZE = 13
    L2_NORM = 14
    SOFTMAX = 15
    CONCAT = 16
    Q_CONCAT = 17
    FC = 18
    Q_FC = 19
    TF_FLATTEN = 20
    Q_TF_FLATTEN = 21
    RESIZE_NN = 22
    Q_RESIZE_NN = 23
    CHANNELWISE_DEQUANT = 24
    LOGISTIC = 25
    EMC_CONV = 1000
    EMC_DWCONV = 1001
    EMC_Q_RESHAPE = 1002
    EMC_RESHAPE = 1003
    K210_CONV = 10240
    ADD_PADDING = 10241
    REMOVE_PADDING = 10242
    UPLOAD = 10243


class BodyError(Exception):
    """A body that cannot be taken apart: what is wrong with it, and the rule. The reader says where."""

    def __init__(self, what: str, rule: str) -> None:
        super().__init__(what)
        self.what = what
        self.rule = rule


class Region(NamedTuple):
    """A part of main memory that a layer touches: `bytes` from `start`, elements of `element` bytes."""

    start: int
    bytes: int
    element: int = 1


L = TypeVar("L", bound="Layer")


@dataclass(frozen=True)
class Layer:
    """One layer. `flags` bit 0: the output goes to main memory."""

    TYPE: ClassVar[LayerType]
    FORMAT: ClassVar[str]
    flags: int

    @classmethod
    def parse(cls: type[L], body: bytes) -> L:
        """From its body, which may be longer. BodyError where it is too short."""
        return cls(*cls._fixed(body))

    @classmethod
    def _fixed(cls, body: bytes) -> tuple[Any, ...]:
        need(body, struct.calcsize(cls.FORMAT), "its fields")
        return struct.unpack_from(cls.FORMAT, body)

    def fixed(self) -> tuple[int | float, ...]:
        """The fields that `FORMAT` packs, in order."""
        count = len(struct.unpack(self.FORMAT, bytes(struct.calcsize(self.FORMAT))))
        return tuple(getattr(self, item.name) for item in dataclasses.fields(self)[:count])

    def encode(self) -> bytes:
        return struct.pack(self.FORMAT, *self.fixed()) + self.tail()

    def tail(self) -> bytes:
        return b""

    def reads(self) -> Iterator[Region]:
        """Parts of main memory that it reads."""
        yield from ()

    def writes(self) -> Iterator[Region]:
        """Parts of main memory that it writes."""
        yield from ()

    def rules(self) -> Iterator[tuple[str, str]]:
        """What is wrong with its numbers: the fact and the rule."""
        yield from ()


def need(body: bytes, size: int, what: str) -> None:
    if len(body) < size:
        raise BodyError(f"its body of {len(body)} bytes is too short", f"{what} take {size} bytes")
