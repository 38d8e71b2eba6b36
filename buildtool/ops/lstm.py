"""lstm: a layer of long short-term memory in one direction."""

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
class Lstm(RecurrentOperator):
    """Inputs x[T,B,4H] (the input's share of i, o, f and c), r[4H,H], h[B or 1,H], c[B or 1,H], peepholes[3H]? (i, o,
    f), lengths[B]? (s32); outputs y[T,B,H], h[B,H], c[B,H].

        i = f(xi + ri h + pi * c)    f = f(xf + rf h + pf * c), or with `input_forget` 1 - i
        c = f * c + i * g(xc + rc h)
        o = f(xo + ro h + po * c)    h = o * h(c)

    `function_f`, `function_g` and `function_h` have their parameters in `alphas` and `betas`; `clip` limits what goes
    into f and g to -clip..clip (0: no limit); `reverse` starts at the end of each sequence.
    """

    name: ClassVar[str] = "lstm"
    arity: ClassVar[tuple[int, int | None]] = (4, 6)
    outputs: ClassVar[int | None] = 3

    input_forget: bool = False

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        types = self.checked(inputs, 4, 2)
        for peepholes in inputs[4:5]:
            require_rank(peepholes, 1, "the peepholes")
            hidden = inputs[1].shape[1]
            equal_dim(peepholes.shape[0], 3 * hidden, f"the peepholes and 3 * {hidden}")
        self.check_lengths(inputs[0], inputs[5:])
        return types

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        x, r, h, c = (working(array) for array in inputs[:4])
        hidden = r.shape[1]
        peepholes = working(inputs[4]) if len(inputs) > 4 else np.zeros(3 * hidden, r.dtype)
        lengths = inputs[5] if len(inputs) > 5 else None
        see_i, see_o, see_f = np.split(peepholes, 3)

        def advance(step: Array, states: tuple[Array, ...]) -> tuple[Array, ...]:
            h, c = states
            i, o, forget, cell = np.split(step + h @ r.T, 4, axis=1)
            i = self.f(i + see_i * c)
            forget = 1 - i if self.input_forget else self.f(forget + see_f * c)
            new = forget * c + i * self.g(cell)
            return self.f(o + see_o * new) * self.h(new), new

        return tuple(stored(y, inputs[0]) for y in self.walk(x, (h, c), lengths, advance))
