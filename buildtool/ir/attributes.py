"""What an operator's attribute may hold: its kind, its normal form and its spelling.

Attributes come from model files, text and passes alike, so that every operator puts them through `normalise` when it is
made: after that, a field holds exactly what its annotation says, in the range and precision that the container stores.
"""

from __future__ import annotations

import enum
import json
import math
import operator
import types
import typing
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from buildtool.ir.dims import Dim, DimExpr
from buildtool.ir.types import DType

# Lists are tuples; a tuple of dimensions may mix ints and expressions.
AttrValue: TypeAlias = (
    bool | int | float | str | DType | tuple[int, ...] | tuple[float, ...] | tuple[str, ...] | tuple[Dim, ...]
)

INT_LIMIT = 2**31  # attributes count and index elements of dimensions, and those fit 32 bits


class AttrKind(enum.Enum):
    """The kind of an attribute; the value is how messages call it."""

    BOOL = "true or false"
    INT = "an integer"
    FLOAT = "a number"
    STRING = "a string"
    DTYPE = "an element type"
    INTS = "a list of integers"
    FLOATS = "a list of numbers"
    STRINGS = "a list of strings"
    DIMS = "a list of dimensions"


_SCALARS: dict[Any, AttrKind] = {
    bool: AttrKind.BOOL,
    int: AttrKind.INT,
    float: AttrKind.FLOAT,
    str: AttrKind.STRING,
    DType: AttrKind.DTYPE,
}
_LISTS: dict[Any, AttrKind] = {int: AttrKind.INTS, float: AttrKind.FLOATS, str: AttrKind.STRINGS}
_ELEMENTS = {AttrKind.INTS: AttrKind.INT, AttrKind.FLOATS: AttrKind.FLOAT, AttrKind.STRINGS: AttrKind.STRING}


def kind_of(annotation: Any) -> AttrKind | None:
    """The kind that a resolved annotation stands for; None where no attribute can have that type."""
    if annotation in _SCALARS:
        return _SCALARS[annotation]
    if typing.get_origin(annotation) is not tuple:
        return None
    elements = {item for item in typing.get_args(annotation) if item is not Ellipsis}
    if len(elements) != 1:
        return None
    element = elements.pop()
    if typing.get_origin(element) in (types.UnionType, typing.Union):
        return AttrKind.DIMS if set(typing.get_args(element)) == {int, DimExpr} else None
    return _LISTS.get(element)


def _normal_bool(value: object) -> bool:
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise ValueError(f"is {value!r:.60}, not {AttrKind.BOOL.value}")


def _normal_int(value: object) -> int:
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
        raise ValueError(f"is {value!r:.60}, not {AttrKind.INT.value}")
    number = operator.index(value)
    if not -INT_LIMIT <= number < INT_LIMIT:
        raise ValueError("is an integer that does not fit 32 bits")
    return number


def _normal_float(value: object) -> float:
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.integer | np.floating):
        raise ValueError(f"is {value!r:.60}, not {AttrKind.FLOAT.value}")
    try:
        number = float(value)
    except OverflowError:
        number = math.nan
    with np.errstate(over="ignore", under="ignore"):
        rounded = float(np.float32(number))
    if math.isnan(rounded) or (math.isinf(rounded) and not math.isinf(number)):
        raise ValueError("is not a number that fits a 32-bit float")
    return rounded


def _normal_string(value: object) -> str:
    if isinstance(value, str):
        return value
    raise ValueError(f"is {value!r:.60}, not {AttrKind.STRING.value}")


def _normal_dtype(value: object) -> DType:
    if isinstance(value, DType):
        return value
    raise ValueError(f"is {value!r:.60}, not {AttrKind.DTYPE.value}")


def _normal_dim(value: object) -> Dim:
    return value if isinstance(value, DimExpr) else _normal_int(value)


_NORMAL: dict[AttrKind, Callable[[object], Any]] = {
    AttrKind.BOOL: _normal_bool,
    AttrKind.INT: _normal_int,
    AttrKind.FLOAT: _normal_float,
    AttrKind.STRING: _normal_string,
    AttrKind.DTYPE: _normal_dtype,
    AttrKind.INTS: _normal_int,
    AttrKind.FLOATS: _normal_float,
    AttrKind.STRINGS: _normal_string,
    AttrKind.DIMS: _normal_dim,
}


def normalise(value: object, kind: AttrKind) -> AttrValue:
    """The value as its kind stores it: Python numbers, floats rounded to 32 bits, lists as tuples.

    ValueError, with a phrase that goes after the attribute's name, where the value is of another kind or out of range.
    """
    convert = _NORMAL[kind]
    if kind in _ELEMENTS or kind is AttrKind.DIMS:
        if not isinstance(value, Sequence | np.ndarray) or isinstance(value, str | bytes):
            raise ValueError(f"is {value!r:.60}, not {kind.value}")
        return tuple(convert(item) for item in value)
    result: AttrValue = convert(value)
    return result


def format_float(value: float) -> str:
    """The shortest decimal that reads back as this number, given that it is one of 32 bits; else its repr."""
    with np.errstate(over="ignore"):
        short = np.float32(value)
    return str(short) if float(short) == value else repr(value)


def format_attribute(value: AttrValue | Dim) -> str:
    """One spelling per value, readable and exact, on one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, DType):
        return value.value
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, tuple):
        return "[" + ", ".join(format_attribute(item) for item in value) + "]"
    if isinstance(value, float):
        return format_float(value)
    return str(value)
