"""gru: a layer of gated recurrent units in one direction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from buildtool.ir.operator import Array
from buildtool.ir.types import TensorType
from buildtool.ops._recurrent import RecurrentOperator
from buildtool.ops._shapes import equal_dim, require_rank
from buildtool.ops._types import stored, working


@dataclass(frozen=True, kw_only=True)
class Gru(RecurrentOperator):
    """Inputs x[T,B,3H] (the input's share of z, r and n), r[3H,H], h[B or 1,H], bias[H], lengths[B]? (s32); outputs
    y[T,B,H], h[B,H].

        z = f(xz + rz h)    r = f(xr + rr h)
        n = g(xn + rn (r * h) + bias), or with `linear_before_reset` g(xn + r * (rn h + bias))
        h = (1 - z) * n + z * h

    `function_f`, `function_g` and `function_h` have their parameters in `alphas` and `betas`; `clip` limits what goes
    into f and g to -clip..clip (0: no limit); `reverse` starts at the end of each sequence.
    """

    name: ClassVar[str] = "gru"
    arity: ClassVar[tuple[int, int | None]] = (4, 5)
    outputs: ClassVar[int | None] = 2

    linear_before_reset: bool = False

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        types = self.checked(inputs, 3, 1)
        require_rank(inputs[3], 1, "the bias")
        equal_dim(inputs[3].shape[0], inputs[1].shape[1], "the size of the bias and of the state")
        self.check_lengths(inputs[0], inputs[4:])
        return types

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        x, r, h, bias = (working(array) for array in inputs[:4])
        lengths = inputs[4] if len(inputs) > 4 else None
        weights = np.split(r, 3)

        def advance(step: Array, states: tuple[Array, ...]) -> tuple[Array, ...]:
            (h,) = states
            xz, xr, xn = np.split(step, 3, axis=1)
            z, reset = self.f(xz + h @ weights[0].T), self.f(xr + h @ weights[1].T)
            if self.linear_before_reset:
                new = self.g(xn + reset * (h @ weights[2].T + bias))
            else:
                new = self.g(xn + (reset * h) @ weights[2].T + bias)
            return ((1 - z) * new + z * h,)

        return tuple(stored(y, inputs[0]) for y in self.walk(x, (h,), lengths, advance))
