"""Attention (opset 23 and later) out of matrix products, a bias and a softmax."""

from __future__ import annotations

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.indexing import counted
from buildtool.importers.onnx.heads import (
    Heads,
    biased,
    capped,
    hiding,
    in_heads,
    per_key_head,
    products,
    side_by_side,
    window,
    within,
)
from buildtool.importers.onnx.registry import handler
from buildtool.importers.spatial import NO_ACTIVATION, channels
from buildtool.importers.step import Step
from buildtool.ir.dims import Dim
from buildtool.ir.types import DType


@handler("Attention")
def attention(step: Step) -> tuple[Tensor, ...]:
    heads = _heads(step)
    raw = products(step, heads)
    limited = capped(step, raw)
    bias = _bias(step, heads)
    flags = None
    open_bias = bias
    if bias is not None and _may_hide_all(step, bias):
        open_bias, flags = _without_hidden_rows(step, bias)
    shares = step.emit("softmax", biased(step, limited, open_bias), axis=3)
    y = per_key_head(step, heads, shares, heads.v)
    if flags is not None:
        y = step.emit("mul", y, flags)
    if step.input(0).rank == 3:
        y = side_by_side(step, y)
    if len(step.node.outputs) < 4:
        return y, heads.k, heads.v
    return y, heads.k, heads.v, _inner(step, (raw, limited, shares), bias, flags)


def _inner(step: Step, stages: tuple[Tensor, Tensor, Tensor], bias: Tensor | None, flags: Tensor | None) -> Tensor:
    """The fourth output: the products as they are at one of four stages."""
    mode = step.integer("qk_matmul_output_mode", 0)
    if mode not in range(4):
        step.malformed(f"the attribute 'qk_matmul_output_mode' is {mode}")
    raw, limited, shares = stages
    match mode:
        case 0:
            return raw
        case 1:
            return limited
        case 2:
            return biased(step, limited, bias)
        case _:
            return shares if flags is None else step.emit("mul", shares, flags)


def _heads(step: Step) -> Heads:
    q, k, v = step.input(0), step.input(1), step.input(2)
    if not q.rank == k.rank == v.rank or q.rank not in (3, 4):
        step.malformed(f"its inputs have the ranks {q.rank}, {k.rank} and {v.rank}")
    if q.rank == 3:
        kv_heads = step.integer("kv_num_heads")
        q = in_heads(step, q, step.integer("q_num_heads"))
        k, v = in_heads(step, k, kv_heads), in_heads(step, v, kv_heads)
    counts = [channels(step, tensor) for tensor in (q, k, v)]
    if counts[1] != counts[2] or counts[0] % counts[1] != 0:
        step.malformed(f"{counts[0]} heads cannot share {counts[1]} and {counts[2]} of keys and values")
    past: Dim = 0
    past_key, past_value = step.optional(4), step.optional(5)
    if past_key is not None and past_value is not None:
        past = past_key.shape[2]
        k, v = step.emit("concat", past_key, k, axis=2), step.emit("concat", past_value, v, axis=2)
    return Heads(q, k, v, past)


def _bias(step: Step, heads: Heads) -> Tensor | None:
    """What is added to the products; None where every query sees every key."""
    mask, lengths = step.optional(3), step.optional(6)
    parts: list[Tensor | None] = []
    if mask is not None:
        parts.append(_mask(step, heads, mask))
    left, right = step.integer("left_window_size", -1), step.integer("right_window_size", -1)
    if step.integer("is_causal", 0):
        right = 0 if right < 0 else min(right, 0)
    if left >= 0 or right >= 0:
        if lengths is None or heads.past != 0:
            parts.append(window(step, heads, left, right))
        else:
            parts.append(_filled_window(step, heads, left, right, lengths))
    if lengths is not None:
        parts.append(_cache_end(step, heads, lengths))
    present = [part for part in parts if part is not None]
    return biased(step, present[0], *present[1:]) if present else None


def _mask(step: Step, heads: Heads, mask: Tensor) -> Tensor:
    dtype = heads.q.dtype
    if mask.rank < 1:
        step.malformed("its mask is a single number")
    if mask.dtype is DType.BOOL:
        bias = hiding(step, mask, dtype)
    else:
        bias = mask if mask.dtype is dtype else step.emit("cast", mask, to=dtype)
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


def _filled_window(step: Step, heads: Heads, left: int, right: int, lengths: Tensor) -> Tensor:
    """As `window`, where the last query stands at the last key of the part of the cache that is filled."""
    queries, keys = heads.q.shape[2], heads.k.shape[2]
    own = step.reshape(counted(step, queries, lengths.dtype), (1, 1, queries, 1))
    starts = step.reshape(lengths, (lengths.shape[0], 1, 1, 1))
    first = step.emit("sub", starts, counted(step, 1, lengths.dtype, queries))
    own = step.emit("add", own, first, **NO_ACTIVATION)
    return hiding(step, within(step, counted(step, keys, lengths.dtype), own, left, right), heads.q.dtype)


def _cache_end(step: Step, heads: Heads, lengths: Tensor) -> Tensor:
    """Keys behind the filled part of the cache are hidden."""
    places = counted(step, heads.k.shape[2], lengths.dtype)
    ends = step.reshape(lengths, (lengths.shape[0], 1, 1, 1))
    return hiding(step, step.emit("less", places, ends), heads.q.dtype)


def _may_hide_all(step: Step, bias: Tensor) -> bool:
    """Whether a query may see no key at all; for a known bias, whether one does."""
    if bias.content is not None:
        return bool(np.isneginf(bias.content.max(axis=-1)).any())
    causal_only = step.optional(3) is None and step.optional(6) is None and step.integer("left_window_size", -1) < 0
    return not causal_only  # every query sees the first key


def _without_hidden_rows(step: Step, bias: Tensor) -> tuple[Tensor, Tensor]:
    """The bias with rows that hide everything opened, and 0 for these rows and 1 for the others: their result is 0."""
    dtype = bias.dtype.numpy
    best = step.emit("reduce_max", bias, axes=(bias.rank - 1,), keepdims=True)
    hidden = step.emit("equal", best, step.constant(np.array(-np.inf, dtype)))
    zero, one = (step.constant(np.array(number, dtype)) for number in (0, 1))
    return step.emit("where", hidden, zero, bias), step.emit("where", hidden, zero, one)
