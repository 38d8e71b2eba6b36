"""Attention, QAttention and MultiHeadAttention of com.microsoft, as onnxruntime's transformer optimiser writes them.

A mask lowers the products by a large number (`mask_filter_value`); what a causal attention hides is hidden for good.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.indexing import counted
from buildtool.importers.onnx.heads import Heads, biased, hiding, in_heads, per_key_head, products, side_by_side, window
from buildtool.importers.onnx.quantised_products import integer_product
from buildtool.importers.onnx.registry import handler
from buildtool.importers.spatial import channels
from buildtool.importers.step import Step
from buildtool.ir.dims import Dim

_MASKED = -10000.0


@handler("com.microsoft.Attention")
def attention(step: Step) -> tuple[Tensor, ...]:
    """Inputs: x, weights, bias, mask, past, bias of the products, length of the past."""
    _refuse(step, "do_rotary", "past_present_share_buffer")
    product = step.emit("matmul", step.input(0), step.input(1))
    projected = biased(step, product, step.optional(2))
    return _self_attention(step, projected, step.optional(3), step.optional(4), step.optional(5))


@handler("com.microsoft.QAttention")
def quantised_attention(step: Step) -> tuple[Tensor, ...]:
    """Inputs: x, weights, bias, scale of x, scale of weights, mask, zero point of x, zero point of weights, past."""
    _refuse(step, "do_rotary", "past_present_share_buffer")
    scales, zeros = (step.input(3), step.input(4)), (step.optional(6), step.optional(7))
    projected = integer_product(step, step.input(0), step.input(1), scales, zeros, step.input(2))
    return _self_attention(step, projected, step.optional(5), step.optional(8), None)


def _refuse(step: Step, *attributes: str) -> None:
    for name in attributes:
        if step.integer(name, 0):
            step.unsupported(f"the attribute '{name}' is {step.integer(name)}", "export the model without it")


def _self_attention(
    step: Step, projected: Tensor, mask: Tensor | None, past: Tensor | None, bias: Tensor | None
) -> tuple[Tensor, ...]:
    """From the queries, keys and values side by side; the second output is the cache."""
    count = step.integer("num_heads")
    q, k, v = (in_heads(step, part, count) for part in _parted(step, projected))
    before: Dim = 0
    if past is not None:
        before = step.check_rank(past, 5, what="the cache").shape[3]
        k, v = (step.emit("concat", _half(step, past, index), new, axis=2) for index, new in enumerate((k, v)))
    y = _attended(step, Heads(q, k, v, before), mask, bias)
    if len(step.node.outputs) < 2:
        return (y,)
    pair = [step.reshape(part, (1, *part.shape)) for part in (k, v)]
    return y, step.emit("concat", *pair, axis=0)


def _parted(step: Step, projected: Tensor) -> Sequence[Tensor]:
    width = channels(step, projected, 2)
    sizes = step.integers("qkv_hidden_sizes", ()) or (width // 3,) * 3
    if len(sizes) != 3 or sum(sizes) != width or min(sizes) < 1:
        step.malformed(f"{width} numbers are not queries, keys and values of the sizes {list(sizes)}")
    return step.emit_all("split", projected, axis=2, sizes=tuple(sizes))


def _half(step: Step, past: Tensor, index: int) -> Tensor:
    """The keys (0) or values (1) of a cache."""
    rest = past.shape[1:]
    part = step.emit("slice", past, starts=(index, 0, 0, 0, 0), steps=(1,) * 5, sizes=(1, *rest))
    return step.reshape(part, rest)


def _attended(step: Step, heads: Heads, mask: Tensor | None, bias: Tensor | None) -> Tensor:
    """The result, [batch, queries, heads * size]."""
    parts = [None if mask is None else _lowered(step, heads, mask), bias]
    if step.integer("unidirectional", 0):
        parts.append(window(step, heads, -1, 0))
    shares = step.emit("softmax", biased(step, products(step, heads), *parts), axis=3)
    return side_by_side(step, per_key_head(step, heads, shares, heads.v))


def _lowered(step: Step, heads: Heads, mask: Tensor) -> Tensor:
    """What a mask adds to the products: its elements are flags, or the lengths (and first places) of the samples."""
    batch, keys, value = heads.q.shape[0], heads.k.shape[2], step.real("mask_filter_value", _MASKED)
    if mask.rank == 1:
        seen = _within_lengths(step, mask, batch, keys)
    elif mask.rank in (2, 3):
        seen = step.emit("less", step.constant(np.zeros((), mask.dtype.numpy)), mask)
        seen = step.reshape(seen, (mask.shape[0], 1, 1 if mask.rank == 2 else mask.shape[1], mask.shape[-1]))
    else:
        step.unsupported(f"a mask with {mask.rank} axes", "export the model with a mask for each sample and key")
    return hiding(step, seen, heads.q.dtype, value)


def _within_lengths(step: Step, mask: Tensor, batch: Dim, keys: Dim) -> Tensor:
    """Whether a key is part of its sample: 1-D masks hold ends; ends and starts; or ends and numbers for packing."""
    size = mask.shape[0]
    if size not in (batch, 2 * batch, 3 * batch + 2):
        step.malformed(f"its mask has {size} elements for {batch} samples")
    places = counted(step, keys, mask.dtype)

    def column(first: Dim) -> Tensor:
        part = mask if size == batch else step.emit("slice", mask, starts=(first,), steps=(1,), sizes=(batch,))
        return step.reshape(part, (batch, 1, 1, 1))

    seen = step.emit("less", places, column(0))
    if size == 2 * batch and size != batch:
        seen = step.emit("logical_and", seen, step.emit("less_equal", column(batch), places))
    return seen


# -- MultiHeadAttention ------------------------------------------------------------------------------------------------
@handler("com.microsoft.MultiHeadAttention")
def multi_head_attention(step: Step) -> tuple[Tensor, ...]:
    """Inputs: q, k, v, bias of the projections, mask, bias of the products, past keys, past values."""
    for index, what in ((8, "past_sequence_length"), (9, "cache_indirection")):
        if step.optional(index) is not None:
            step.unsupported(f"the input '{what}'", "export the model without a shared buffer for past and present")
    outputs = (*step.node.outputs, "", "", "", "")
    if outputs[3]:
        step.unsupported("the output 'qk'", "export the model without it")
    q, k, v = _operands(step)
    past: Dim = 0
    past_key, past_value = step.optional(6), step.optional(7)
    if past_key is not None and past_value is not None:
        past = past_key.shape[2]
        k, v = step.emit("concat", past_key, k, axis=2), step.emit("concat", past_value, v, axis=2)
    return _attended(step, Heads(q, k, v, past), step.optional(4), step.optional(5)), k, v


def _operands(step: Step) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values in heads, however they come: apart, k and v or all packed, or ready from a cache."""
    query, key, value, count = step.input(0), step.optional(1), step.optional(2), step.integer("num_heads")
    if key is None:
        parts = _unpacked(step, query, 3)
    elif value is None:
        parts = [query, *_unpacked(step, key, 2)]
    else:
        parts = [query, key, value]
    bias = step.optional(3)
    if bias is not None:
        parts = _with_bias(step, parts, bias)
    q, k, v = (part if part.rank == 4 else in_heads(step, part, count) for part in parts)
    return q, k, v


def _unpacked(step: Step, packed: Tensor, count: int) -> list[Tensor]:
    """[batch, length, heads, count, size] -> `count` times [batch, length, heads * size]."""
    batch, length, heads, parts, size = step.check_rank(packed, 5, what="its packed operand").shape
    if parts != count:
        step.malformed(f"its packed operand has the shape {list(packed.shape)}")
    split = step.emit_all("split", packed, axis=3, sizes=(1,) * count)
    return [step.reshape(part, (batch, length, heads * size)) for part in split]


def _with_bias(step: Step, parts: Sequence[Tensor], bias: Tensor) -> list[Tensor]:
    """The projections and their biases. Keys and values from a cache have theirs already."""
    widths = [part.shape[2] if part.rank == 3 else part.shape[1] * part.shape[3] for part in parts]
    sizes = tuple(width for width in widths if isinstance(width, int))
    if len(sizes) < 3 or bias.shape != (sum(sizes),):
        step.malformed(f"a bias {list(bias.shape)} for projections of {', '.join(map(str, widths))} numbers")
    rows = step.emit_all("split", bias, axis=0, sizes=sizes)
    return [part if part.rank == 4 else biased(step, part, row) for part, row in zip(parts, rows, strict=True)]
