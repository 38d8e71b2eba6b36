"""linear_attention: queries read a matrix per head that every step decays, corrects and adds to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.dims import Dim, product
from buildtool.ir.operator import Array, Operator, OperatorError
from buildtool.ir.types import TensorType
from buildtool.ops._shapes import equal_dim, number, require_rank
from buildtool.ops._types import plain, require_float, require_same_dtype, stored, working


@dataclass(frozen=True)
class LinearAttention(Operator):
    """Inputs q[B,T,HQ*K], k[B,T,H*K], v[B,T,H*V], state[B,H,K,V], with `gated` the decay[B,T,H or H*K], with
    `corrected` beta[B,T,H or 1]; outputs y[B,T,HQ*V] and the state afterwards.

    At every step and in every head of keys:
        S *= exp(decay)
        v  = beta * (v - S^T k)
        S += k v^T
        y  = scale * S^T q, for each of the HQ/H heads of queries that share S

    `q_heads` is HQ, `kv_heads` H.
    """

    name: ClassVar[str] = "linear_attention"
    arity: ClassVar[tuple[int, int | None]] = (4, 6)
    outputs: ClassVar[int | None] = 2

    q_heads: int
    kv_heads: int
    scale: float
    gated: bool
    corrected: bool

    def check(self) -> None:
        if self.kv_heads < 1 or self.q_heads < 1 or self.q_heads % self.kv_heads:
            raise OperatorError(f"{self.q_heads} heads of queries cannot share {self.kv_heads} of keys")

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        q, k, v, state, *more = self.operands(inputs)
        require_same_dtype(inputs)
        require_float(q)
        if len(more) != self.gated + self.corrected:
            raise OperatorError(f"there are {len(inputs)} inputs, not {4 + self.gated + self.corrected}")
        for what, type_ in (("q", q), ("k", k), ("v", v), *(("gates", type_) for type_ in more)):
            require_rank(type_, 3, f"the input {what}")
            equal_dim(type_.shape[0], q.shape[0], f"the batches of q and {what}")
            equal_dim(type_.shape[1], q.shape[1], f"the lengths of q and {what}")
        require_rank(state, 4, "the state")
        widths = [number(type_.shape[2], "the width of an input") for type_ in (q, k, v)]
        if widths[0] % self.q_heads or widths[1] % self.kv_heads or widths[2] % self.kv_heads:
            raise OperatorError(f"the widths {widths} cannot be divided among the heads")
        keys, values = widths[1] // self.kv_heads, widths[2] // self.kv_heads
        equal_dim(widths[0] // self.q_heads, keys, "the sizes of queries and keys")
        for axis, dim in enumerate((q.shape[0], self.kv_heads, keys, values)):
            equal_dim(state.shape[axis], dim, f"axis {axis} of the state and what the inputs need")
        allowed = [(self.kv_heads, self.kv_heads * keys)] * self.gated + [(self.kv_heads, 1)] * self.corrected
        for type_, widths_ in zip(more, allowed, strict=True):
            if type_.shape[2] not in widths_:
                raise OperatorError(f"a gate has the width {type_.shape[2]}, which is neither of {widths_}")
        return plain(q, (*q.shape[:2], self.q_heads * values)), plain(q, state.shape)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        q, k, v, start, *more = (working(array) for array in inputs)
        batch, length = q.shape[:2]
        heads, shared = self.kv_heads, self.q_heads // self.kv_heads
        q = q.reshape(batch, length, heads, shared, -1)
        k, v = k.reshape(batch, length, heads, -1), v.reshape(batch, length, heads, -1)
        decay = more[0].reshape(batch, length, heads, -1, 1) if self.gated else None
        beta = more[-1][..., None] if self.corrected else None  # [B, T, H or 1, 1]
        state = start.astype(np.float64)
        y = np.zeros((batch, length, heads, shared, v.shape[-1]), np.float64)
        with np.errstate(all="ignore"):
            for t in range(length):
                if decay is not None:
                    state = state * np.exp(decay[:, t].astype(np.float64))
                new = v[:, t].astype(np.float64)
                if beta is not None:
                    new = beta[:, t] * (new - np.einsum("bhkv,bhk->bhv", state, k[:, t]))
                state = state + k[:, t, :, :, None] * new[:, :, None, :]
                y[:, t] = self.scale * np.einsum("bhkv,bhsk->bhsv", state, q[:, t])
        return stored(y.reshape(batch, length, -1), inputs[0]), stored(state, inputs[0])

    def macs(self, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> Dim:
        return product(outputs[1].shape) * inputs[0].shape[1] * 3
