"""Attention over sequences."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.keras.registry import handler
from buildtool.importers.keras.values import (
    array,
    floating,
    keyword,
    optional_weight,
    plus,
    refuse_keywords,
    tensors,
    weight,
)
from buildtool.importers.spatial import NO_ACTIVATION, channels
from buildtool.importers.step import Step
from buildtool.ir.dims import Dim

_NEVER = -1e9  # is added to the score of a place that is not looked at


def _operands(step: Step) -> tuple[Tensor, Tensor, Tensor]:
    """Query, value and key; a key that is not given is the value."""
    refuse_keywords(step, ("query", "value", "key"))
    given = [floating(step, tensor) for tensor in tensors(step)]
    named = [(word, keyword(step, word)) for word in ("query", "value", "key")[len(given) :]]
    given += [floating(step, tensor) for _, tensor in named if tensor is not None]
    if len(given) not in (2, 3) or any(tensor.rank != 3 for tensor in given):
        step.unsupported("a call with other than two or three sequences", "call it with query, value and key of rank 3")
    return given[0], given[1], given[2] if len(given) == 3 else given[1]


def _masked(step: Step, scores: Tensor) -> Tensor:
    """`use_causal_mask`: no place looks at those behind it; `sliding_window`: nor at those so far away."""
    causal, window = step.integer("call.use_causal_mask", 0), step.integer("sliding_window", 0)
    if not causal and not window:
        return scores
    rows, columns = (channels(step, scores, axis) for axis in (-2, -1))
    step.check_table(rows, columns)
    ahead = np.arange(columns) - np.arange(rows)[:, np.newaxis]
    hidden = (ahead > 0 if causal else False) | (abs(ahead) >= window if window else False)
    return plus(step, scores, step.constant(np.where(hidden, np.float32(_NEVER), np.float32(0))))


def _attended(step: Step, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    turned = step.transpose(key, (*range(key.rank - 2), key.rank - 1, key.rank - 2))
    scores = _masked(step, step.emit("matmul", query, turned))
    shares = step.emit("softmax", scores, axis=scores.rank - 1)
    return step.emit("matmul", shares, value), shares


def _heads(step: Step, x: Tensor, name: str) -> Tensor:
    """[batch, heads, places, size] of weights [features, heads, size]."""
    kernel, bias = weight(step, f"{name}_kernel"), optional_weight(step, f"{name}_bias")
    if kernel.rank != 3:
        step.malformed(f"the weights of its {name} have rank {kernel.rank}, not 3")
    deep, heads, size = (channels(step, kernel, axis) for axis in range(3))
    rows = step.transpose(step.reshape(kernel, (deep, heads * size)), (1, 0))
    rest = () if bias is None else (step.reshape(bias, (heads * size,)),)
    flat = step.emit("fully_connected", x, rows, *rest, **NO_ACTIVATION)
    shape: tuple[Dim, ...] = (*x.shape[:-1], heads, size)
    return step.transpose(step.reshape(flat, shape), (0, 2, 1, 3))


@handler("MultiHeadAttention")
def multi_head_attention(step: Step) -> Sequence[Tensor]:
    axes = step.attribute("attention_axes")
    if axes is not None and (not isinstance(axes, int | tuple) or axes not in (1, (1,))):
        step.unsupported("attention along other axes than the second", "build it for sequences of rank 3")
    query, value, key = _operands(step)
    scale = array(step, 1 / math.sqrt(max(step.integer("key_dim"), 1)))
    q, k, v = (_heads(step, x, name) for x, name in ((query, "query"), (key, "key"), (value, "value")))
    y, shares = _attended(step, step.emit("mul", q, scale), k, v)
    return [_together(step, _gated(step, query, y)), shares]


@handler("GroupQueryAttention", "GroupedQueryAttention")
def group_query_attention(step: Step) -> Sequence[Tensor]:
    """Several heads of the query share one of key and value."""
    query, value, key = _operands(step)
    scale = array(step, 1 / math.sqrt(max(step.integer("head_dim"), 1)))
    q, k, v = (_heads(step, x, name) for x, name in ((query, "query"), (key, "key"), (value, "value")))
    heads = channels(step, q, 1)
    y, shares = _attended(step, step.emit("mul", q, scale), _shared(step, k, heads), _shared(step, v, heads))
    return [_together(step, _gated(step, query, y)), shares]


def _gated(step: Step, query: Tensor, y: Tensor) -> Tensor:
    """`use_gate`: how much of each result goes on, the query decides."""
    if not step.integer("use_gate", 0):
        return y
    return step.emit("mul", y, step.emit("sigmoid", _heads(step, query, "gate")))


def _shared(step: Step, x: Tensor, heads: int) -> Tensor:
    """Each head as often as there are heads of the query for it."""
    count = channels(step, x, 1)
    if heads % count:
        step.malformed(f"{heads} heads of the query for {count} of the key")
    apart = step.reshape(x, (*x.shape[:2], 1, *x.shape[2:]))
    wide = step.emit("broadcast_to", apart, shape=(*x.shape[:2], heads // count, *x.shape[2:]))
    return step.reshape(wide, (x.shape[0], heads, *x.shape[2:]))


def _together(step: Step, y: Tensor) -> Tensor:
    """What the layer makes of all heads."""
    together = step.transpose(y, (0, 2, 1, 3))
    count = channels(step, together, 2) * channels(step, together, 3)
    flat = step.reshape(together, (*together.shape[:2], count))
    kernel, bias = weight(step, "attention_output_kernel"), optional_weight(step, "attention_output_bias")
    if kernel.rank != 3:
        step.unsupported(f"weights of its output of rank {kernel.rank}", "let it return one row per position")
    rows = step.transpose(step.reshape(kernel, (count, kernel.shape[2])), (1, 0))
    rest = () if bias is None else (bias,)
    return step.emit("fully_connected", flat, rows, *rest, **NO_ACTIVATION)


@handler("Attention")
def attention(step: Step) -> Sequence[Tensor]:
    query, value, key = _operands(step)
    scale, mode = optional_weight(step, "scale"), step.text("score_mode", "dot")
    if mode == "concat":
        factor = None if scale is None else step.reshape(scale, ())
        scores = step.emit("mul", _sums(step, query, key, factor, None), weight(step, "concat_score_weight"))
        return _weighted(step, scores, value)
    if mode != "dot":
        step.unsupported(f"the scores '{mode}'", "use score_mode='dot' or 'concat'")
    if scale is not None:
        query = step.emit("mul", query, step.reshape(scale, ()))
    return _attended(step, query, key, value)


@handler("AdditiveAttention")
def additive_attention(step: Step) -> Sequence[Tensor]:
    query, value, key = _operands(step)
    return _weighted(step, _sums(step, query, key, None, optional_weight(step, "scale")), value)


def _sums(step: Step, query: Tensor, key: Tensor, before: Tensor | None, behind: Tensor | None) -> Tensor:
    """[batch, query, key]: what each query and each key are together, scaled before or behind `tanh`."""
    rows = step.reshape(query, (*query.shape[:2], 1, query.shape[2]))
    columns = step.reshape(key, (key.shape[0], 1, *key.shape[1:]))
    total = plus(step, rows, columns)
    total = step.emit("tanh", total if before is None else step.emit("mul", total, before))
    total = total if behind is None else step.emit("mul", total, behind)
    return step.emit("reduce_sum", total, axes=(3,), keepdims=False)


def _weighted(step: Step, scores: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    shares = step.emit("softmax", _masked(step, scores), axis=2)
    return step.emit("matmul", shares, value), shares
