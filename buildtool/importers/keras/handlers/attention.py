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


def _causal(step: Step, scores: Tensor) -> Tensor:
    """No place looks at those behind it."""
    if not step.integer("call.use_causal_mask", 0):
        return scores
    rows, columns = (channels(step, scores, axis) for axis in (-2, -1))
    step.check_table(rows, columns)
    ahead = np.triu(np.ones((rows, columns), np.float32), 1) * np.float32(_NEVER)
    return plus(step, scores, step.constant(ahead))


def _attended(step: Step, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    turned = step.transpose(key, (*range(key.rank - 2), key.rank - 1, key.rank - 2))
    scores = _causal(step, step.emit("matmul", query, turned))
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
    if step.attribute("attention_axes") not in (None, 1, (1,)):
        step.unsupported("attention along other axes than the second", "build it for sequences of rank 3")
    query, value, key = _operands(step)
    scale = array(step, 1 / math.sqrt(max(step.integer("key_dim"), 1)))
    q, k, v = (_heads(step, x, name) for x, name in ((query, "query"), (key, "key"), (value, "value")))
    y, shares = _attended(step, step.emit("mul", q, scale), k, v)
    together = step.transpose(y, (0, 2, 1, 3))
    count = channels(step, together, 2) * channels(step, together, 3)
    flat = step.reshape(together, (*together.shape[:2], count))
    kernel, bias = weight(step, "attention_output_kernel"), optional_weight(step, "attention_output_bias")
    if kernel.rank != 3:
        step.unsupported(f"weights of its output of rank {kernel.rank}", "let it give one row per place")
    rows = step.transpose(step.reshape(kernel, (count, kernel.shape[2])), (1, 0))
    rest = () if bias is None else (bias,)
    return [step.emit("fully_connected", flat, rows, *rest, **NO_ACTIVATION), shares]


@handler("Attention")
def attention(step: Step) -> Sequence[Tensor]:
    if step.text("score_mode", "dot") != "dot":
        step.unsupported(f"the scores '{step.text('score_mode')}'", "use score_mode='dot'")
    query, value, key = _operands(step)
    scale = optional_weight(step, "scale")
    if scale is not None:
        query = step.emit("mul", query, step.reshape(scale, ()))
    return _attended(step, query, key, value)
