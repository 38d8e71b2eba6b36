"""A program as plain data, whichever file it comes from, and what Paddle numbers: element types, kinds of variables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NoReturn

from buildtool.errors import ModelFileError, UnsupportedError, Where
from buildtool.importers.model import AttributeValue, SourceNode
from buildtool.ir.types import DType

DAMAGED = "the file is damaged or was not saved by Paddle: save the model for inference again"
#: Element types by Paddle's numbers. Half precision is widened when a model is read.
DTYPES: Mapping[int, DType] = {
    0: DType.BOOL,
    1: DType.S16,
    2: DType.S32,
    3: DType.S64,
    4: DType.F32,
    5: DType.F32,
    6: DType.F64,
    20: DType.U8,
    21: DType.S8,
    22: DType.F32,
    36: DType.U16,
    37: DType.U32,
    38: DType.U64,
}
#: How elements lie in files.
STORED: Mapping[int, str] = {0: "?", 1: "<i2", 2: "<i4", 3: "<i8", 4: "<f2", 5: "<f4", 6: "<f8", 20: "u1", 21: "i1"} | {
    22: "<u2",
    36: "<u2",
    37: "<u4",
    38: "<u8",
}
HALF, BFLOAT16 = 4, 22
HALVES: Mapping[int, DType] = {HALF: DType.F16, BFLOAT16: DType.BF16}
TENSOR, FEED_LIST, FETCH_LIST, ARRAY, RAW = 7, 9, 10, 13, 17  # kinds of variables
FEED, FETCH = "feed", "fetch"
WHILE, CONDITIONAL = "while", "conditional_block"  # operators that run blocks
#: The slot of the result that nodes are named after and that comes first.
MAIN_OUTPUTS = ("Out", "Output", "Y")
MOST_AXES = 16


@dataclass(frozen=True)
class Variable:
    """A variable of a program. `shape` has -1 for sizes that are open; None where the file does not tell it."""

    name: str
    kind: int
    dtype: int | None
    shape: tuple[int, ...] | None
    is_persistable: bool = False
    is_fed: bool = False


@dataclass(frozen=True)
class Operation:
    """One operator of a program: its slots by name, each with the names of variables in it."""

    type: str
    inputs: Mapping[str, tuple[str, ...]]
    outputs: Mapping[str, tuple[str, ...]]
    attributes: Mapping[str, AttributeValue]
    blocks: tuple[int, ...] = ()  # that it runs, by their numbers


@dataclass(frozen=True)
class Block:
    """What an operator runs. It reads and writes variables around it; in Paddle 3 it is also given and gives values."""

    operations: tuple[Operation, ...]
    own: frozenset[str]  # the variables that nobody sees outside of it
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Program:
    """The main block, and those that its operators run. `variables` are those of all blocks."""

    version: int
    variables: Mapping[str, Variable]
    operations: tuple[Operation, ...]
    blocks: Mapping[int, Block] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class PaddleNode(SourceNode):
    """A node that knows the slots of its inputs and outputs, and how many of its tensors each slot has."""

    slots: Mapping[str, tuple[int, ...]] = field(default_factory=dict)  # places among the inputs
    made: Mapping[str, tuple[int, ...]] = field(default_factory=dict)  # places among the outputs
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)  # of outputs, as the file declares them


def dtype_of_code(code: int, where: Where) -> DType:
    """The element type of one of Paddle's numbers."""
    dtype = DTYPES.get(code)
    if dtype is None:
        raise UnsupportedError(
            f"elements of the type number {code} are not supported",
            where=where,
            rule="numbers and truth values are supported; texts, complex numbers and floats of 8 bits are not",
            remedy="exclude the part of the model with these tensors (input_tensors)",
        )
    return dtype


def program_of(version: int, blocks: Iterable[tuple[Iterable[Variable], Iterable[Operation]]], where: Where) -> Program:
    """A program of the variables and operators of its blocks, the main one first."""
    merged: dict[str, Variable] = {}
    made: list[Block] = []
    for variables, operations in blocks:
        named: dict[str, Variable] = {}
        for variable in variables:
            if not variable.name or variable.name in named:
                damaged(f"a variable has no name, or '{variable.name}' is there twice", where)
            named[variable.name] = variable
        merged = {**named, **merged}
        made.append(Block(tuple(operations), frozenset(named)))
    if not made or not made[0].operations:
        damaged("the program has no operators", where)
    inner = {number: block for number, block in enumerate(made) if number}
    return Program(min(max(version, 0), 2**31), merged, made[0].operations, inner)


def damaged(what: str, where: Where) -> NoReturn:
    raise ModelFileError(what, where=where, remedy=DAMAGED)


def check_shape(shape: tuple[int, ...], where: Where, open_sizes: bool = True) -> None:
    """ModelFileError where a shape is not possible."""
    least = -1 if open_sizes else 0
    if len(shape) > MOST_AXES or any(not least <= dim < 2**31 for dim in shape):
        damaged(f"the shape {list(shape)[:20]} is not possible", where)
