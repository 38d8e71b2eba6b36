"""What the attention operators share: operands in heads, the products of queries and keys, and what hides a key.

Whatever forbids a query to see a key is a bias. Heads that share their keys are rows of one matrix, so that keys and
values are not copied.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.indexing import counted
from buildtool.importers.spatial import NO_ACTIVATION
from buildtool.importers.step import Step
from buildtool.ir.dims import Dim
from buildtool.ir.types import DType


@dataclass(frozen=True)
class Heads:
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


def in_heads(step: Step, x: Tensor, heads: int) -> Tensor:
    """[batch, length, heads * size] -> [batch, heads, length, size]."""
    width = step.check_rank(x, 3, what="an operand of the attention").shape[2]
    if not isinstance(width, int) or heads < 1 or width % heads:
        step.malformed(f"{width} numbers cannot be shared out among {heads} heads")
    return step.transpose(step.reshape(x, (x.shape[0], x.shape[1], heads, width // heads)), (0, 2, 1, 3))


def side_by_side(step: Step, y: Tensor) -> Tensor:
    """[batch, heads, length, size] -> [batch, length, heads * size]."""
    turned = step.transpose(y, (0, 2, 1, 3))
    return step.reshape(turned, (*turned.shape[:2], turned.shape[2] * turned.shape[3]))


def products(step: Step, heads: Heads) -> Tensor:
    """The scaled products of queries and keys, [batch, heads, queries, keys]."""
    size = heads.q.shape[3]
    if not isinstance(size, int):
        step.unsupported("the size of a head is a run-time dimension", "fix the input shapes")
    scale = step.real("scale", 0.0) or 1 / math.sqrt(size)
    scaled = step.emit("mul", heads.q, step.constant(np.array(scale, heads.q.dtype.numpy)))
    return per_key_head(step, heads, scaled, step.transpose(heads.k, (0, 1, 3, 2)))


def per_key_head(step: Step, heads: Heads, left: Tensor, right: Tensor) -> Tensor:
    """left @ right, where several heads of `left` belong to one of `right`."""
    if heads.shared == 1:
        return step.emit("matmul", left, right)
    batch, count, length, size = left.shape
    together = step.reshape(left, (batch, right.shape[1], length * heads.shared, size))
    y = step.emit("matmul", together, right)
    return step.reshape(y, (batch, count, length, y.shape[3]))


def capped(step: Step, x: Tensor) -> Tensor:
    """The products kept between -softcap and softcap."""
    cap = step.real("softcap", 0.0)
    if cap <= 0:
        return x
    dtype = x.dtype.numpy
    small = step.emit("mul", x, step.constant(np.array(1 / cap, dtype)))
    return step.emit("mul", step.emit("tanh", small), step.constant(np.array(cap, dtype)))


def biased(step: Step, x: Tensor, *parts: Tensor | None) -> Tensor:
    """The sum of the products and all that is added to them."""
    for part in parts:
        if part is not None:
            x = step.emit("add", x, part, **NO_ACTIVATION)
    return x


def hiding(step: Step, allowed: Tensor, dtype: DType, hidden: float = -np.inf) -> Tensor:
    """0 where a key may be seen, `hidden` where not."""
    zero, other = (step.constant(np.array(number, dtype.numpy)) for number in (0, hidden))
    return step.emit("where", allowed, zero, other)


def window(step: Step, heads: Heads, left: int, right: int) -> Tensor | None:
    """A query sees the keys from `left` before it to `right` behind it; below 0 means without end.

    The first query stands behind the keys of the past.
    """
    queries, keys = heads.q.shape[2], heads.k.shape[2]
    if not isinstance(queries, int) or not isinstance(keys, int) or not isinstance(heads.past, int):
        return _run_time_window(step, heads, left, right)
    step.check_table(queries, keys)
    ahead = np.arange(keys).reshape(1, -1) - np.arange(queries).reshape(-1, 1) - heads.past
    hidden = ((ahead > right) & (right >= 0)) | ((-ahead > left) & (left >= 0))
    if not hidden.any():
        return None
    return step.constant(np.where(hidden, -np.inf, 0).astype(heads.q.dtype.numpy))


def _run_time_window(step: Step, heads: Heads, left: int, right: int) -> Tensor:
    queries = heads.q.shape[2]
    places = counted(step, heads.k.shape[2], DType.S32)
    own = step.reshape(counted(step, queries, DType.S32, heads.past), (queries, 1))
    return hiding(step, within(step, places, own, left, right), heads.q.dtype)


def within(step: Step, places: Tensor, own: Tensor, left: int, right: int) -> Tensor:
    """Whether the places of keys lie in the window around those of queries; one of its sides has an end."""
    parts = []
    if right >= 0:
        parts.append(step.emit("less_equal", places, _shifted(step, own, right)))
    if left >= 0:
        parts.append(step.emit("less_equal", _shifted(step, own, -left), places))
    return parts[0] if len(parts) == 1 else step.emit("logical_and", *parts)


def _shifted(step: Step, places: Tensor, by: int) -> Tensor:
    if not by:
        return places
    return step.emit("add", places, step.constant(np.array(by, places.dtype.numpy)), **NO_ACTIVATION)
