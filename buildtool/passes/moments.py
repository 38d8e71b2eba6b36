"""Finds values that were divided by the root of a mean square: what normalisations have in common."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from buildtool.ir.graph import Node, Value
from buildtool.ir.operator import Array
from buildtool.ops.reduce_mean import ReduceMean
from buildtool.ops.sub import Sub
from buildtool.passes.channels import MOST_NUMBERS
from buildtool.passes.editor import Editor
from buildtool.passes.factors import close, number, shifted


@dataclass(frozen=True)
class Normalised:
    """A value divided by the root of its mean square over some axes, to which epsilon was added."""

    value: Value
    axes: tuple[int, ...]
    epsilon: float


def normalised_at(editor: Editor, node: Node) -> Normalised | None:
    """What a division or product makes, where its divisor is the root of a mean square of its dividend."""
    if node.op.name == "div":
        pairs = [(node.inputs[0], _under_root(editor, node.inputs[1], inverse=False))]
    elif node.op.name == "mul":
        left, right = node.inputs
        pairs = [(left, _under_root(editor, right, True)), (right, _under_root(editor, left, True))]
    else:
        return None
    for value, radicand in pairs:
        sum_ = shifted(editor, radicand) if radicand is not None else None
        if sum_ is None or not 0 <= sum_[1] < np.inf or value.type != node.outputs[0].type:
            continue
        mean = editor.private_maker(sum_[0], "reduce_mean")
        if mean is None or not isinstance(mean.op, ReduceMean) or not mean.op.keepdims:
            continue
        if _squared(editor, mean.inputs[0]) is value:
            return Normalised(value, mean.op.axes, sum_[1])
    return None


def centred_at(editor: Editor, value: Value, axes: tuple[int, ...]) -> Value | None:
    """The x of x - mean(x) over these axes."""
    maker = editor.producer(value)
    if maker is None or not isinstance(maker.op, Sub):
        return None
    x, mean = maker.inputs
    reduction = editor.producer(mean)
    if reduction is None or not isinstance(reduction.op, ReduceMean) or reduction.inputs[0] is not x:
        return None
    return x if reduction.op.keepdims and reduction.op.axes == axes else None


def _under_root(editor: Editor, value: Value, inverse: bool) -> Value | None:
    """What a value is the square root of, or one divided by the root of."""
    maker = editor.private_maker(value, "sqrt", "reciprocal", "pow", "div")
    if maker is None:
        return None
    if maker.op.name == "pow":
        return maker.inputs[0] if close(number(maker.inputs[1]), -0.5 if inverse else 0.5) else None
    if not inverse:
        return maker.inputs[0] if maker.op.name == "sqrt" else None
    if maker.op.name == "div" and close(number(maker.inputs[0]), 1):
        return _under_root(editor, maker.inputs[1], inverse=False)
    return _under_root(editor, maker.inputs[0], inverse=False) if maker.op.name == "reciprocal" else None


def _squared(editor: Editor, value: Value) -> Value | None:
    maker = editor.private_maker(value, "pow", "mul")
    if maker is None:
        return None
    if maker.op.name == "mul":
        return maker.inputs[0] if maker.inputs[0] is maker.inputs[1] else None
    return maker.inputs[0] if close(number(maker.inputs[1]), 2) else None


@dataclass(frozen=True)
class Affine:
    """What follows a normalisation: a product and a sum with constants. `last` is the node that ends it."""

    last: Node
    scale: Array | None = None
    bias: Array | None = None


def affine_behind(editor: Editor, node: Node, shape: tuple[int, ...]) -> Affine:
    """The product and the sum behind a node, with constants that broadcast to `shape`, the last axes of its result."""
    scaled = _follower(editor, node, "mul", shape)
    scale = scaled[1] if scaled is not None else None
    last = scaled[0] if scaled is not None else node
    moved = _follower(editor, last, "add", shape)
    if moved is None or math.prod(shape) > MOST_NUMBERS:
        return Affine(last, scale)
    return Affine(moved[0], scale if scale is not None else np.ones(shape), moved[1])


def _follower(editor: Editor, node: Node, op: str, shape: tuple[int, ...]) -> tuple[Node, Array] | None:
    value = node.outputs[0]
    if not editor.is_private(value):
        return None
    reader = editor.readers(value)[0]
    if reader.op.name != op or getattr(reader.op, "activation", "none") != "none":
        return None
    for made, constant in (reader.inputs, reader.inputs[::-1]):
        array = constant.constant
        if made is not value or array is None or reader.outputs[0].type != value.type:
            continue
        leading = max(array.ndim - len(shape), 0)
        if array.shape[:leading] != (1,) * leading:
            continue
        inner = array.reshape(array.shape[leading:])
        if _fits(inner.shape, shape):
            return reader, np.broadcast_to(inner, shape)
    return None


def _fits(inner: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    """Whether a shape broadcasts to another one of at least its rank."""
    return all(ours in (1, theirs) for ours, theirs in zip(inner[::-1], shape[::-1], strict=False))
