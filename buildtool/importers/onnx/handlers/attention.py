"""Attention (opset 23 and later) out of matrix products, a bias and a softmax.

Whatever forbids a query to see a key (masks, causality, windows, the end of a cache) is a bias of -inf. Heads that
share their keys are rows of one matrix, so that keys and values are not copied.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.onnx.registry import handler
from buildtool.importers.spatial import NO_ACTIVATION, channels
from buildtool.importers.step import Step
from buildtool.ir.dims import Dim
from buildtool.ir.types import DType


@dataclass(frozen=True)
class _Heads:
    """The operands as [batch, heads, length, size]; keys and values hold the cache as well."""

    q: Tensor
    k: Tensor
    v: Tensor
    past: Dim  # how many keys stand before the new ones

    @property
    def shared(self) -> int:
        """How many heads of queries read one head of keys."""
        q_heads, kv_heads = self.q.shape[1], self.k.shape[1]
        assert isinstance(q_heads, int) and isinstance(kv_heads, int)
        return q_heads // kv_heads


@handler("Attention")
def attention(step: Step) -> tuple[Tensor, ...]:
    heads = _heads(step)
    dtype = heads.q.dtype.numpy
    size = heads.q.shape[3]
    if not isinstance(size, int):
        step.unsupported("the size of a head is a run-time dimension", "fix the input shapes")
    scale = step.real("scale", 0.0) or 1 / math.sqrt(size)
    scaled = step.emit("mul", heads.q, step.constant(np.array(scale, dtype)))
    raw = _per_key_head(step, heads, scaled, step.transpose(heads.k, (0, 1, 3, 2)))
    softcap = step.real("softcap", 0.0)
    capped = _capped(step, raw, softcap) if softcap > 0 else raw
    bias = _bias(step, heads)
    flags = None
    open_bias = bias
    if bias is not None and _may_hide_all(bias):
        open_bias, flags = _without_hidden_rows(step, bias)
    seen = capped if open_bias is None else step.emit("add", capped, open_bias, **NO_ACTIVATION)
    shares = step.emit("softmax", seen, axis=3)
    y = _per_key_head(step, heads, shares, heads.v)
    if flags is not None:
        y = step.emit("mul", y, flags)
    if step.input(0).rank == 3:
        turned = step.transpose(y, (0, 2, 1, 3))
        y = step.reshape(turned, (*turned.shape[:2], turned.shape[2] * turned.shape[3]))
    if len(step.node.outputs) < 4:
        return y, heads.k, heads.v
    return y, heads.k, heads.v, _inner(step, (raw, capped, shares), bias, flags)


def _inner(step: Step, stages: tuple[Tensor, Tensor, Tensor], bias: Tensor | None, flags: Tensor | None) -> Tensor:
    """The fourth output: the products as they are at one of four stages."""
    mode = step.integer("qk_matmul_output_mode", 0)
    if mode not in range(4):
        step.malformed(f"the attribute 'qk_matmul_output_mode' is {mode}")
    raw, capped, shares = stages
    match mode:
        case 0:
            return raw
        case 1:
            return capped
        case 2:
            return capped if bias is None else step.emit("add", capped, bias, **NO_ACTIVATION)
        case _:
            return shares if flags is None else step.emit("mul", shares, flags)


def _heads(step: Step) -> _Heads:
    q, k, v = step.input(0), step.input(1), step.input(2)
    if not q.rank == k.rank == v.rank or q.rank not in (3, 4):
        step.malformed(f"its inputs have the ranks {q.rank}, {k.rank} and {v.rank}")
    if q.rank == 3:
        kv_heads = step.integer("kv_num_heads")
        q = _split(step, q, step.integer("q_num_heads"))
        k, v = _split(step, k, kv_heads), _split(step, v, kv_heads)
    counts = [channels(step, tensor) for tensor in (q, k, v)]
    if counts[1] != counts[2] or counts[0] % counts[1] != 0:
        step.malformed(f"{counts[0]} heads cannot share {counts[1]} and {counts[2]} of keys and values")
    past: Dim = 0
    past_key, past_value = step.optional(4), step.optional(5)
    if past_key is not None and past_value is not None:
        past = past_key.shape[2]
        k, v = step.emit("concat", past_key, k, axis=2), step.emit("concat", past_value, v, axis=2)
    return _Heads(q, k, v, past)


def _split(step: Step, x: Tensor, heads: int) -> Tensor:
    """[batch, length, heads * size] -> [batch, heads, length, size]."""
    width = x.shape[2]
    if not isinstance(width, int) or heads < 1 or width % heads:
        step.malformed(f"{width} numbers cannot be shared out among {heads} heads")
    return step.transpose(step.reshape(x, (x.shape[0], x.shape[1], heads, width // heads)), (0, 2, 1, 3))


def _per_key_head(step: Step, heads: _Heads, left: Tensor, right: Tensor) -> Tensor:
    """left @ right, where several heads of `left` belong to one of `right`."""
    if heads.shared == 1:
        return step.emit("matmul", left, right)
    batch, count, length, size = left.shape
    together = step.reshape(left, (batch, right.shape[1], length * heads.shared, size))
    y = step.emit("matmul", together, right)
    return step.reshape(y, (batch, count, length, y.shape[3]))


def _capped(step: Step, x: Tensor, cap: float) -> Tensor:
    dtype = x.dtype.numpy
    small = step.emit("mul", x, step.constant(np.array(1 / cap, dtype)))
    return step.emit("mul", step.emit("tanh", small), step.constant(np.array(cap, dtype)))


def _bias(step: Step, heads: _Heads) -> Tensor | None:
    """What is added to the products; None where every query sees every key."""
    mask, lengths = step.optional(3), step.optional(6)
    parts: list[Tensor | None] = []
    if mask is not None:
        parts.append(_mask(step, heads, mask))
    left, right = step.integer("left_window_size", -1), step.integer("right_window_size", -1)
    if step.integer("is_causal", 0):
        right = 0 if right < 0 else min(right, 0)
    if left >= 0 or right >= 0:
        parts.append(_window(step, heads, left, right, None if heads.past != 0 else lengths))
    if lengths is not None:
        parts.append(_cache_end(step, heads, lengths))
    present = [part for part in parts if part is not None]
    if not present:
        return None
    total = present[0]
    for part in present[1:]:
        total = step.emit("add", total, part, **NO_ACTIVATION)
    return total


def _mask(step: Step, heads: _Heads, mask: Tensor) -> Tensor:
    bias = _hiding(step, mask, heads) if mask.dtype is DType.BOOL else mask
    missing = heads.k.shape[2] - bias.shape[-1]
    if missing == 0:
        return bias
    if isinstance(missing, int) and missing < 0:
        step.malformed(f"a mask for {bias.shape[-1]} keys, of which there are {heads.k.shape[2]}")
    if not isinstance(missing, int) or not all(isinstance(dim, int) for dim in bias.shape):
        step.unsupported("a mask that ends before the keys, of a run-time size", "give a mask for all keys")
    shape = tuple(dim for dim in bias.shape[:-1] if isinstance(dim, int))
    beyond = step.filled((*shape, missing), -np.inf, bias.dtype)
    return step.emit("concat", bias, beyond, axis=bias.rank - 1)


def _hiding(step: Step, allowed: Tensor, heads: _Heads) -> Tensor:
    """0 where a key may be seen, -inf where not."""
    dtype = heads.q.dtype.numpy
    zero, hidden = (step.constant(np.array(number, dtype)) for number in (0, -np.inf))
    return step.emit("where", allowed, zero, hidden)


def _window(step: Step, heads: _Heads, left: int, right: int, lengths: Tensor | None) -> Tensor | None:
    """A query sees the keys from `left` before it to `right` behind it; below 0 means without end.

    The last query stands at the last key: of the cache, where `lengths` tells how much of it is filled.
    """
    queries, keys = heads.q.shape[2], heads.k.shape[2]
    if not isinstance(queries, int) or not isinstance(keys, int) or not isinstance(heads.past, int):
        step.unsupported("a causal attention over a run-time length", "fix the input shapes")
    step.check_table(queries, keys)
    behind = np.arange(keys).reshape(1, -1) - np.arange(queries).reshape(-1, 1)
    if lengths is None:
        ahead = behind - heads.past
        hidden = ((ahead > right) & (right >= 0)) | ((-ahead > left) & (left >= 0))
        if not hidden.any():
            return None
        return step.constant(np.where(hidden, -np.inf, 0).astype(heads.q.dtype.numpy))
    count = step.constant(np.array(queries, lengths.dtype.numpy))
    offset = step.reshape(step.emit("sub", lengths, count), (lengths.shape[0], 1, 1, 1))
    ahead_of = step.emit("sub", step.constant(behind.astype(lengths.dtype.numpy)), offset)
    parts = []
    if right >= 0:
        parts.append(step.emit("less_equal", ahead_of, step.constant(np.array(right, lengths.dtype.numpy))))
    if left >= 0:
        parts.append(step.emit("less_equal", step.constant(np.array(-left, lengths.dtype.numpy)), ahead_of))
    allowed = parts[0] if len(parts) == 1 else step.emit("logical_and", *parts)
    return _hiding(step, allowed, heads)


def _cache_end(step: Step, heads: _Heads, lengths: Tensor) -> Tensor:
    """Keys behind the filled part of the cache are hidden."""
    keys = heads.k.shape[2]
    if not isinstance(keys, int):
        step.unsupported("a cache of a run-time length", "fix the input shapes")
    step.check_table(keys)
    places = step.constant(np.arange(keys).astype(lengths.dtype.numpy))
    return _hiding(step, step.emit("less", places, step.reshape(lengths, (lengths.shape[0], 1, 1, 1))), heads)


def _may_hide_all(bias: Tensor) -> bool:
    """Whether a query may see no key at all; for a known bias, whether one does."""
    return bias.content is None or bool(np.isneginf(bias.content.max(axis=-1)).any())


def _without_hidden_rows(step: Step, bias: Tensor) -> tuple[Tensor, Tensor]:
    """The bias with rows that hide everything opened, and 0 for these rows and 1 for the others: their result is 0."""
    dtype = bias.dtype.numpy
    best = step.emit("reduce_max", bias, axes=(bias.rank - 1,), keepdims=True)
    hidden = step.emit("equal", best, step.constant(np.array(-np.inf, dtype)))
    zero, one = (step.constant(np.array(number, dtype)) for number in (0, 1))
    return step.emit("where", hidden, zero, bias), step.emit("where", hidden, zero, one)
