"""What a single operator is called in a benchmark: by its sizes."""

from __future__ import annotations

from collections.abc import Sequence

from buildtool.ir.operator import Operator
from buildtool.ir.types import TensorType


def describe(op: Operator, types: Sequence[TensorType]) -> str:
    """The sizes of a case in a word: those of the input, and what the operator makes of it."""
    if op.name in ("conv2d", "dwconv2d"):
        return _describe_convolution(op, types)
    words = [_dims(type_) for type_ in types[: 1 if op.name == "layer_norm" else 2]]
    results = [_dims(type_) for type_ in op.infer(types)]
    if results[0] != words[0]:
        words.append(f"to-{results[0]}" if len(results) == 1 else f"to-{len(results)}x-{results[0]}")
    if hasattr(op, "mode"):
        words.append(str(op.mode))
    return "-".join(words)


def _describe_convolution(op: Operator, types: Sequence[TensorType]) -> str:
    attributes = op.attributes()
    filters = types[1].shape
    kernel, stride = filters[1:3] if op.name == "conv2d" else filters[:2], attributes["strides"]
    words = [_dims(types[0]), f"k{kernel[0]}x{kernel[1]}"]
    if stride != (1, 1):
        words.append("s" + "x".join(str(number) for number in dict.fromkeys(stride)))  # type: ignore[arg-type]
    if op.name == "conv2d":
        words.append(f"o{filters[0]}")
    if attributes.get("groups", 1) != 1:
        words.append(f"g{attributes['groups']}")
    if attributes["activation"] != "none":
        words.append(str(attributes["activation"]))
    if len(types) > 3:
        words.append("residual")
    return "-".join(words)


def _dims(type_: TensorType) -> str:
    shape = type_.shape[1:] if len(type_.shape) == 4 and type_.shape[0] == 1 else type_.shape
    return "x".join(str(size) for size in shape)
