"""attention: every query weighs the values by how well it agrees with their keys."""

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

_TURNED = (0, 2, 1, 3)


@dataclass(frozen=True)
class Attention(Operator):
    """Inputs q[B,H,T,K], k[B,G,S,K], v[B,G,S,V], mask[B or 1,H or 1,T or 1,S]?; output y[B,H,T,V], for each head
    softmax(scale * q k^T + mask) v. H/G heads of queries share one of keys and values.

    `tokens_first`: for q, k, v and y, whether it is [B,T,H,K] instead: 1, else 0.
    """

    name: ClassVar[str] = "attention"
    arity: ClassVar[tuple[int, int | None]] = (3, 4)

    scale: float
    tokens_first: tuple[int, ...]

    def check(self) -> None:
        if not self.scale > 0:
            raise OperatorError(f"the scale {self.scale} is not positive")
        if len(self.tokens_first) != 4 or not set(self.tokens_first) <= {0, 1}:
            raise OperatorError(f"'tokens_first' is four times 0 or 1, not {self.tokens_first}")

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        operands = self.operands(inputs)
        require_same_dtype(inputs)
        require_float(operands[0])
        for what, type_ in zip(("q", "k", "v", "the mask"), operands, strict=False):
            require_rank(type_, 4, what)
        q, k, v = (_ordered(type_.shape, first) for type_, first in zip(operands[:3], self.tokens_first, strict=False))
        for axis in (0, 1, 2):
            equal_dim(k[axis], v[axis], f"axis {axis} of k and v, with the heads before the tokens,")
        equal_dim(q[0], k[0], "the batches of q and k")
        equal_dim(q[3], k[3], "the sizes of queries and keys")
        heads, groups = number(q[1], "the number of heads of q"), number(k[1], "the number of heads of k")
        if groups < 1 or heads % groups:
            raise OperatorError(f"{heads} heads of queries cannot share {groups} of keys")
        if len(operands) > 3:
            mask = operands[3].shape
            for axis in (0, 1, 2):
                if mask[axis] != 1:
                    equal_dim(mask[axis], q[axis], f"axis {axis} of the mask and q")
            equal_dim(mask[3], k[2], "the last axis of the mask and the number of keys")
        return (plain(operands[0], _ordered((*q[:3], v[3]), self.tokens_first[3])),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        q, k, v = (
            working(array).transpose(_TURNED if first else (0, 1, 2, 3))
            for array, first in zip(inputs[:3], self.tokens_first, strict=False)
        )
        shared = q.shape[1] // k.shape[1]
        with np.errstate(all="ignore"):
            scores = np.matmul(q, np.repeat(k, shared, 1).swapaxes(2, 3)) * np.float32(self.scale)
            if len(inputs) > 3:
                scores = scores + working(inputs[3])
            powers = np.exp(scores - scores.max(axis=-1, keepdims=True, initial=-np.inf))
            weights = powers / powers.sum(axis=-1, keepdims=True)
            y = np.matmul(weights, np.repeat(v, shared, 1))
        return (
            stored(np.ascontiguousarray(y.transpose(_TURNED if self.tokens_first[3] else (0, 1, 2, 3))), inputs[0]),
        )

    def macs(self, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> Dim:
        keys = _ordered(inputs[1].shape, self.tokens_first[1])[2]
        return (product(inputs[0].shape) + product(outputs[0].shape)) * keys


def _ordered(shape: tuple[Dim, ...], first: int) -> tuple[Dim, ...]:
    return (shape[0], shape[2], shape[1], shape[3]) if first else shape
