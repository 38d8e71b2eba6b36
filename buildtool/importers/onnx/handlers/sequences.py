"""CausalConvWithState and LinearAttention: what language models do along a sequence."""

from __future__ import annotations

import math

from buildtool.importers.builder import Tensor
from buildtool.importers.onnx.registry import handler
from buildtool.importers.spatial import NO_ACTIVATION, channels
from buildtool.importers.step import Step


@handler("CausalConvWithState")
def causal_convolution(step: Step) -> tuple[Tensor, Tensor]:
    """A depthwise convolution that sees only what came before; the last numbers it saw are the state."""
    x, filters, bias, past = step.input(0), step.input(1), step.optional(2), step.optional(3)
    if x.rank != 3 or filters.rank != 3:
        step.malformed(f"its inputs have the ranks {x.rank} and {filters.rank}, not 3")
    count, width = channels(step, filters, 0), channels(step, filters, 2)
    if past is None:
        seen = step.emit("pad", x, before=(0, 0, width - 1), after=(0, 0, 0), mode="constant", value=0.0)
    else:
        seen = step.emit("concat", past, x, axis=2)
    batch, _, length = seen.shape
    last = step.reshape(step.transpose(seen, (0, 2, 1)), (batch, 1, length, count))
    weights = step.reshape(step.transpose(filters, (1, 2, 0)), (1, width, count))
    rest = () if bias is None else (bias,)
    idle = {"strides": (1, 1), "pads": (0, 0, 0, 0), "dilations": (1, 1)} | NO_ACTIVATION
    y = step.emit("dwconv2d", last, weights, *rest, multiplier=1, **idle)
    y = step.transpose(step.reshape(y, (batch, y.shape[2], count)), (0, 2, 1))
    activation = step.text("activation", "none")
    if activation not in ("none", "silu", "swish"):
        step.malformed(f"the attribute 'activation' is '{activation}'")
    if activation != "none":
        y = step.emit("swish", y)
    starts = (0, 0, length - (width - 1))
    return y, step.emit("slice", seen, starts=starts, steps=(1, 1, 1), sizes=(batch, count, width - 1))


@handler("LinearAttention")
def linear_attention(step: Step) -> tuple[Tensor, ...]:
    q, k, v, past = step.input(0), step.input(1), step.input(2), step.optional(3)
    q_heads, kv_heads = step.integer("q_num_heads"), step.integer("kv_num_heads")
    rule = step.text("update_rule", "gated_delta")
    if rule not in ("linear", "gated", "delta", "gated_delta"):
        step.malformed(f"the attribute 'update_rule' is '{rule}'")
    if any(tensor.rank != 3 for tensor in (q, k, v)) or min(q_heads, kv_heads) < 1:
        step.malformed(f"its inputs have the ranks {q.rank}, {k.rank} and {v.rank}, not 3")
    if channels(step, q, 2) % q_heads or channels(step, v, 2) % kv_heads:
        step.malformed(f"{q.shape[2]} and {v.shape[2]} numbers for {q_heads} and {kv_heads} heads")
    size = channels(step, q, 2) // q_heads
    if past is None:
        batch = q.shape[0]
        if not isinstance(batch, int):
            step.unsupported("a run-time batch without a state", "make the state an input")
        shape = (batch, kv_heads, size, channels(step, v, 2) // kv_heads)
        past = step.filled(shape, 0, q.dtype)
    gated, corrected = rule.startswith("gated"), rule.endswith("delta")
    more = [step.input(index) for index, used in ((4, gated), (5, corrected)) if used]
    return step.emit_all(
        "linear_attention",
        q,
        k,
        v,
        past,
        *more,
        q_heads=q_heads,
        kv_heads=kv_heads,
        scale=step.real("scale", 0.0) or 1 / math.sqrt(size),
        gated=gated,
        corrected=corrected,
    )
