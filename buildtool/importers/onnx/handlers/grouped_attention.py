"""GroupQueryAttention of com.microsoft: a decoder's attention with its cache, as language models are exported with it.

The new keys are written into the cache where the filled part of each sample ends; a query sees what stands up to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.indexing import counted
from buildtool.importers.onnx.handlers.normalisation import row_normalised
from buildtool.importers.onnx.handlers.rotary import turned
from buildtool.importers.onnx.heads import (
    Heads,
    biased,
    capped,
    hiding,
    in_heads,
    per_key_head,
    products,
    side_by_side,
    within,
)
from buildtool.importers.onnx.registry import handler
from buildtool.importers.spatial import NO_ACTIVATION, channels
from buildtool.importers.step import Step
from buildtool.ir.dims import Dim, maximum
from buildtool.ir.types import DType

_PAST_KEY, _PAST_VALUE, _LENGTHS, _TOTAL, _COS, _SIN, _POSITIONS, _BIAS, _SINK = range(3, 12)
_Q_NORM, _K_NORM = 14, 15
_EPSILON = 1e-6
#: What changes the results, and the only value that is imported.
_FIXED: Mapping[str, int | str] = {
    "sliding_window_cache": 0,
    "qk_output": 0,
    "k_quant_type": "NONE",
    "v_quant_type": "NONE",
}
_NOT_READ = {12: "k_scale", 13: "v_scale", 16: "query_seqlens"}


@dataclass(frozen=True)
class _Cache:
    """Where the new keys stand."""

    past: Tensor  # s32[N]: how many keys of a sample stand before them
    total: Dim  # how many keys there are at most, the new ones among them
    own: Tensor  # s32[N, S]: the places of the new keys


@handler("com.microsoft.GroupQueryAttention")
def grouped_query_attention(step: Step) -> tuple[Tensor, ...]:
    _check(step)
    q, k, v = _operands(step)
    cache = _cache(step, q.shape[2])
    q, k = _normalised(step, q, _Q_NORM, "q_norm_epsilon"), _normalised(step, k, _K_NORM, "k_norm_epsilon")
    if step.integer("do_rotary", 0):
        tables = _angles(step, cache)
        interleaved = bool(step.integer("rotary_interleaved", 0))
        width = 2 * channels(step, tables[0], 3)
        q, k = (turned(step, x, width, tables, interleaved) for x in (q, k))
    present = [_written(step, index, new, cache) for index, new in ((_PAST_KEY, k), (_PAST_VALUE, v))]
    heads = Heads(q, _filled(step, present[0], cache.total), _filled(step, present[1], cache.total), 0)
    scores = biased(step, capped(step, products(step, heads)), step.optional(_BIAS), _hidden(step, heads, cache))
    y = per_key_head(step, heads, _shares(step, scores), heads.v)
    return side_by_side(step, y), *present


def _check(step: Step) -> None:
    for name, value in _FIXED.items():
        stated = step.attribute(name)
        if stated is not None and stated != value:
            step.unsupported(f"the attribute '{name}' is {stated}", f"export the model with {value}")
    for index, name in _NOT_READ.items():
        if step.optional(index) is not None:
            step.unsupported(f"the input '{name}'", "export the model without it")


def _operands(step: Step) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values in heads; all of them may come in one tensor."""
    query, key, value = step.input(0), step.optional(1), step.optional(2)
    heads, kv_heads = step.integer("num_heads"), step.integer("kv_num_heads")
    if min(heads, kv_heads) < 1 or heads % kv_heads:
        step.malformed(f"{heads} heads cannot share {kv_heads} of keys and values")
    if key is None or value is None:
        width = channels(step, query, 2)
        size = width // (heads + 2 * kv_heads)
        sizes = (heads * size, kv_heads * size, kv_heads * size)
        if sum(sizes) != width:
            step.malformed(f"{width} numbers cannot be shared out among {heads} and 2 * {kv_heads} heads")
        query, key, value = step.emit_all("split", query, axis=2, sizes=sizes)
    return in_heads(step, query, heads), in_heads(step, key, kv_heads), in_heads(step, value, kv_heads)


def _cache(step: Step, count: Dim) -> _Cache:
    lengths = step.emit("cast", step.input(_LENGTHS), to=DType.S32)  # one less than the keys of a sample
    batch = step.input(0).shape[0]
    lengths = step.reshape(lengths, (batch, 1))
    before = step.emit("sub", lengths, counted(step, 1, DType.S32, count - 1))
    past = step.emit("maximum", before, step.constant(np.zeros((), np.int32)))  # the first tokens may be padded
    own = step.emit("add", past, counted(step, count, DType.S32), **NO_ACTIVATION)
    total = step.known_dim(_TOTAL, "total_sequence_length")
    if step.optional(_PAST_KEY) is None:
        total = count
    return _Cache(step.reshape(past, (batch,)), total, own)


def _normalised(step: Step, x: Tensor, index: int, name: str) -> Tensor:
    weights = step.optional(index)
    if weights is None:
        return x
    epsilon = step.real(name, step.real("qk_norm_epsilon", _EPSILON))
    return row_normalised(step, "rms_norm", x, 3, epsilon, (weights,))


def _angles(step: Step, cache: _Cache) -> tuple[Tensor, Tensor]:
    """The cosines and sines at the places of the new keys, or at the positions that are given, [N, 1, S, half]."""
    given = step.optional(_POSITIONS)
    places = cache.own if given is None else given
    tables = []
    for index in (_COS, _SIN):
        angles = step.emit("gather", step.check_rank(step.input(index), 2, what="a table of angles"), places, axis=0)
        batch, length, half = step.check_rank(angles, 3, what="a table of angles").shape
        tables.append(step.reshape(angles, (batch, 1, length, half)))
    return tables[0], tables[1]


def _written(step: Step, index: int, new: Tensor, cache: _Cache) -> Tensor:
    """The cache with the new keys or values in it; it grows where all keys find no room."""
    past = step.optional(index)
    if past is None:
        return new
    batch, heads, size, width = step.check_rank(past, 4, what="the cache").shape
    missing = maximum(cache.total - size, 0)
    if missing != 0:
        zero = step.constant(np.zeros((), past.dtype.numpy))
        room = step.emit("broadcast_to", zero, shape=(batch, heads, missing, width))
        past = step.emit("concat", past, room, axis=2)
    return step.emit("tensor_scatter", past, new, cache.past, axis=2, circular=False)


def _filled(step: Step, present: Tensor, total: Dim) -> Tensor:
    """The part of the cache that any sample fills."""
    batch, heads, size, width = present.shape
    if size == total:
        return present
    return step.emit("slice", present, starts=(0,) * 4, steps=(1,) * 4, sizes=(batch, heads, total, width))


def _hidden(step: Step, heads: Heads, cache: _Cache) -> Tensor:
    """What hides keys: a causal query sees those up to its own place, or the last few of them; others see all."""
    places = counted(step, cache.total, DType.S32)
    batch, count = cache.own.shape
    if step.integer("causal", 1):
        reach = step.integer("local_window_size", -1)
        own = step.reshape(cache.own, (batch, 1, count, 1))
        seen = within(step, places, own, reach - 1 if reach > 0 else -1, 0)
    else:
        ends = step.reshape(step.emit("cast", step.input(_LENGTHS), to=DType.S32), (batch, 1, 1, 1))
        seen = step.emit("less_equal", places, ends)
    return hiding(step, seen, heads.q.dtype)


def _shares(step: Step, scores: Tensor) -> Tensor:
    """The softmax; a sink is one more product for every query, whose share goes nowhere."""
    sink = step.optional(_SINK)
    if sink is None and step.integer("smooth_softmax", 0) == 1:
        sink = step.constant(np.zeros(channels(step, scores), scores.dtype.numpy))
    if sink is None:
        return step.emit("softmax", scores, axis=3)
    batch, heads, count, keys = scores.shape
    column = step.emit("broadcast_to", step.reshape(sink, (1, heads, 1, 1)), shape=(batch, heads, count, 1))
    shares = step.emit("softmax", step.emit("concat", scores, column, axis=3), axis=3)
    return step.emit("slice", shares, starts=(0,) * 4, steps=(1,) * 4, sizes=(batch, heads, count, keys))
