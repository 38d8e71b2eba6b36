"""What the schema of TFLite numbers: element types, operators, and the options of operators by name.

Names and numbers of operators and their options come from the package `tflite`.
"""

from __future__ import annotations

import functools
import re
import struct
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import tflite

from buildtool.errors import ModelFileError
from buildtool.importers.flatbuffer import Table
from buildtool.importers.model import AttributeValue
from buildtool.ir.types import DType

#: How elements lie in the file, and what they are in the graph. Half precision is widened when a model is read.
STORED: Mapping[int, str] = {0: "<f4", 1: "<f2", 2: "<i4", 3: "u1", 4: "<i8", 6: "?", 7: "<i2", 9: "i1", 10: "<f8"} | {
    12: "<u8",
    15: "<u4",
    16: "<u2",
}
DTYPES: Mapping[int, DType] = {
    0: DType.F32,
    1: DType.F32,
    2: DType.S32,
    3: DType.U8,
    4: DType.S64,
    6: DType.BOOL,
    7: DType.S16,
    9: DType.S8,
    10: DType.F64,
    12: DType.U64,
    15: DType.U32,
    16: DType.U16,
    17: DType.S8,
    18: DType.F32,
}
HALVES: Mapping[int, DType] = {1: DType.F16, 18: DType.BF16}
DAMAGED = "the file is damaged or was not made by a TFLite converter: convert or download it again"
INT4, BFLOAT16 = 17, 18
COMPLEX64 = 8  # which no graph has: importers/complex_parts.py
RESOURCE = 13  # a variable: variables.py
CUSTOM = 32
_MOST_NUMBERS = 4096  # in a list that is an option
#: What the classes of the package have besides a function for each option.
_NO_OPTION = re.compile(r"_|Init$|GetRootAs|.*(AsNumpy|Length|IsNone|BufferHasIdentifier)$")


@functools.cache
def operators() -> Mapping[int, str]:
    """The names of the built-in operators."""
    return _names(tflite.BuiltinOperator)


@functools.cache
def element_types() -> Mapping[int, str]:
    return _names(tflite.TensorType)


@functools.cache
def _options() -> Mapping[int, str]:
    return _names(tflite.BuiltinOptions)


def _names(numbered: type) -> dict[int, str]:
    return {number: name for name, number in vars(numbered).items() if isinstance(number, int)}


@functools.cache
def _readers(kind: int) -> tuple[type | None, Mapping[str, str]]:
    """The class that reads the options of this kind, and its functions by the names of the attributes."""
    found: type | None = getattr(tflite, _options().get(kind, ""), None)
    if found is None or kind == 0:
        return None, {}
    functions = [name for name in vars(found) if not _NO_OPTION.match(name)]
    return found, {_snake(name): name for name in functions}


def _snake(name: str) -> str:
    """`DilationWFactor` is `dilation_w_factor`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def attributes_of(options: Table | None, kind: int) -> dict[str, AttributeValue]:
    """The options of an operator, those that are not stated with their defaults."""
    found, functions = _readers(kind)
    if found is None or options is None:
        return {}
    reader: Any = found()
    reader.Init(options.file.data, options.position)
    try:
        return {name: _value(reader, function) for name, function in functions.items()}
    except (struct.error, ValueError, TypeError, IndexError, OverflowError) as problem:
        raise ModelFileError(
            f"the options of an operator cannot be read: {problem}", where=options.file.where, remedy=DAMAGED
        ) from problem


def _value(reader: Any, function: str) -> AttributeValue:
    whole: Callable[[], Any] | None = getattr(reader, f"{function}AsNumpy", None)
    value = getattr(reader, function)() if whole is None else whole()
    if isinstance(value, np.ndarray):
        if value.size > _MOST_NUMBERS:
            raise ValueError(f"a list of {value.size} numbers")
        return tuple(value.tolist())
    if whole is not None or value is None:  # an absent list, or an absent text
        return ()
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else _plain(value)


def _plain(value: Any) -> AttributeValue:
    return float(value) if isinstance(value, float | np.floating) else int(value)
