"""How large a number that is only known at run time can be: intervals, followed back through the nodes that made it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.ir.dims import UNBOUNDED, bounds
from buildtool.ir.graph import Node, Value
from buildtool.ir.operator import Array
from buildtool.ir.types import DType, TensorType
from buildtool.ops.clip import Clip
from buildtool.ops.dimensions import Dimensions

Interval: TypeAlias = tuple[float, float]  # both ends included; infinite where nothing is known

_ANY: Interval = (-math.inf, math.inf)
_DEEPEST = 64  # nodes that are followed back
#: Of these every element of the result is one of the first input.
_KEEPING = frozenset(
    {"identity", "reshape", "transpose", "slice", "gather", "gather_elements", "gather_nd", "broadcast_to", "tile"}
    | {"reduce_max", "reduce_mean", "reduce_min", "split"}
)
_OF_TYPE: Mapping[DType, Interval] = {
    DType.BOOL: (0, 1),
    DType.U8: (0, 255),
    DType.S8: (-128, 127),
    DType.U16: (0, 65535),
    DType.U32: (0, math.inf),
    DType.U64: (0, math.inf),
}


def upper_bound(tensor: Tensor, makers: Mapping[Value, Node], known: Mapping[Value, Interval]) -> int | None:
    """A number that no element is above; None where nothing says so.

    `makers`: the nodes that make values; `known`: what is known of values that regions are given.
    """
    high = _of_tensor(tensor, makers, known)[1]
    return math.floor(high) if high < UNBOUNDED else None


def _of_tensor(tensor: Tensor, makers: Mapping[Value, Node], known: Mapping[Value, Interval]) -> Interval:
    if tensor.known is not None:
        return _of_array(tensor.known)
    assert tensor.value is not None
    return _of_value(tensor.value, makers, dict(known), _DEEPEST)


def _of_array(array: Array) -> Interval:
    if array.size == 0:
        return _ANY
    if array.dtype == object:
        ends = [bounds(item) for item in array.reshape(-1)]
        return min(low for low, _ in ends), max(high for _, high in ends)
    low, high = float(array.min()), float(array.max())
    return _ANY if math.isnan(low) or math.isnan(high) else (low, high)


def _of_value(value: Value, makers: Mapping[Value, Node], known: dict[Value, Interval], deepest: int) -> Interval:
    if value.constant is not None:
        return _of_array(value.constant)
    if value not in known:
        low, high = _OF_TYPE.get(value.type.dtype, _ANY)
        node = makers.get(value)
        if node is not None and deepest:
            made = _of_node(node, [_of_value(item, makers, known, deepest - 1) for item in node.inputs])
            low, high = max(low, made[0]), min(high, made[1])
        known[value] = (low, high) if low <= high else _ANY
    return known[value]


def _of_node(node: Node, inputs: list[Interval]) -> Interval:
    name, types = node.op.name, [value.type for value in node.inputs]
    if isinstance(node.op, Dimensions):
        return _of_array(np.array(node.op.dims, object))
    if name in _KEEPING:
        return inputs[0]
    if name in ("concat", "where"):
        return _union(inputs if name == "concat" else inputs[1:])
    if isinstance(node.op, Clip):
        return max(inputs[0][0], node.op.low), min(inputs[0][1], node.op.high)
    if name in ("argmax", "argmin"):
        return 0, max((bounds(dim)[1] - 1 for dim in types[0].shape), default=0)
    if name == "reduce_sum":
        return _corners(inputs[0], (0, _elements(types[0])), lambda a, b: a * b)
    if name == "cast":
        return _cast(inputs[0], types[0], node.outputs[0].type)
    simple = _ARITHMETIC.get(name)
    if simple is None or getattr(node.op, "activation", "none") != "none":
        return _ANY
    return simple(*inputs)


def _union(intervals: list[Interval]) -> Interval:
    return min(low for low, _ in intervals), max(high for _, high in intervals)


def _elements(type_: TensorType) -> float:
    return math.prod(max(bounds(dim)[1], 0) for dim in type_.shape)


def _cast(interval: Interval, source: TensorType, target: TensorType) -> Interval:
    """A conversion between floats and integers; what does not fit the integer may become any number of it."""
    low, high = interval
    if not target.dtype.is_integer:
        return interval
    kind: Any = target.dtype.numpy
    ends = np.iinfo(kind)
    if low < ends.min or high > ends.max:
        return _ANY
    return (math.floor(low), math.ceil(high)) if source.dtype.is_float else interval


def _corners(a: Interval, b: Interval, f: Callable[[float, float], float]) -> Interval:
    results = [f(x, y) for x in a for y in b]
    return _ANY if any(math.isnan(item) for item in results) else (min(results), max(results))


def _quotient(a: Interval, b: Interval) -> Interval:
    if b[0] <= 0 <= b[1]:
        return _ANY
    return _whole(_corners(a, b, lambda x, y: x / y))


def _whole(a: Interval) -> Interval:
    """Rounded in some way."""
    return (a[0] if math.isinf(a[0]) else math.floor(a[0])), (a[1] if math.isinf(a[1]) else math.ceil(a[1]))


def _exp(x: float) -> float:
    return math.exp(x) if x < 700 else math.inf


_ARITHMETIC: Mapping[str, Callable[..., Interval]] = {
    "minimum": lambda a, b: (min(a[0], b[0]), min(a[1], b[1])),
    "maximum": lambda a, b: (max(a[0], b[0]), max(a[1], b[1])),
    "add": lambda a, b: _corners(a, b, lambda x, y: x + y),
    "sub": lambda a, b: _corners(a, b, lambda x, y: x - y),
    "mul": lambda a, b: _corners(a, b, lambda x, y: x * y),
    "div": _quotient,
    "mod": lambda a, b: (-max(abs(b[0]), abs(b[1])), max(abs(b[0]), abs(b[1]))),
    "neg": lambda a: (-a[1], -a[0]),
    "abs": lambda a: (0, max(abs(a[0]), abs(a[1]))),
    "relu": lambda a: (max(a[0], 0), max(a[1], 0)),
    "exp": lambda a: (_exp(a[0]), _exp(a[1])),
    "sigmoid": lambda a: (0, 1),
    "softmax": lambda a: (0, 1),
    "tanh": lambda a: (-1, 1),
    "floor": _whole,
    "ceil": _whole,
    "round": _whole,
}
