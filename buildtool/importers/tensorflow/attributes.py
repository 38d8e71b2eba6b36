"""The attributes of TensorFlow's nodes as plain values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from buildtool.errors import Where
from buildtool.importers.model import AttributeValue
from buildtool.importers.tensorflow.tensors import array_of, complex_array_of, type_name
from buildtool.schemas import tensorflow_graph_pb2 as pb

_MOST_LISTED = 4096
_SKIPPED = frozenset({"_output_shapes", "_class", "container", "experimental_debug_info"})


def attributes_of(attr: Mapping[str, pb.AttrValue], where: Where) -> tuple[dict[str, AttributeValue], dict[str, str]]:
    """The attributes that can be read, and what the others are."""
    found: dict[str, AttributeValue] = {}
    unreadable: dict[str, str] = {}
    for key, item in attr.items():
        kind = item.WhichOneof("value")
        if key in _SKIPPED or kind is None:
            continue
        value: AttributeValue | None
        if kind == "tensor":
            value = _tensor(item.tensor, where)
        else:
            value = _READERS[kind](item) if kind in _READERS else None
        if value is None:
            unreadable[key] = type_name(item.tensor.dtype) if kind == "tensor" else kind
        else:
            found[key] = value
    return found, unreadable


def _tensor(tensor: pb.TensorProto, where: Where) -> AttributeValue | None:
    if tensor.dtype == pb.DT_COMPLEX64:
        return complex_array_of(tensor, where)
    return None if tensor.dtype in _NO_NUMBERS else array_of(tensor, where)


def _list(item: pb.AttrValue) -> AttributeValue | None:
    lists = item.list
    if lists.s:
        return tuple(_text(text) for text in lists.s[:_MOST_LISTED])
    for numbers in (lists.i, lists.b, lists.type):
        if numbers:
            return tuple(int(number) for number in numbers[:_MOST_LISTED])
    if lists.f:
        return tuple(float(number) for number in lists.f[:_MOST_LISTED])
    return None if lists.shape or lists.tensor or lists.func else ()


def _shape(item: pb.AttrValue) -> AttributeValue | None:
    return None if item.shape.unknown_rank else tuple(int(dim.size) for dim in item.shape.dim[:_MOST_LISTED])


def _text(text: bytes) -> str:
    return text.decode("utf-8", "replace")


_NO_NUMBERS = frozenset({pb.DT_STRING, pb.DT_COMPLEX64, pb.DT_COMPLEX128, pb.DT_RESOURCE, pb.DT_VARIANT})
_READERS: Mapping[str, Callable[[Any], AttributeValue | None]] = {
    "s": lambda item: _text(item.s),
    "i": lambda item: int(item.i),
    "f": lambda item: float(item.f),
    "b": lambda item: int(item.b),
    "type": lambda item: int(item.type),
    "shape": _shape,
    "list": _list,
    "func": lambda item: str(item.func.name),
}
