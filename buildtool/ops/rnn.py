"""rnn: a simple recurrent layer in one direction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from buildtool.ir.operator import Array
from buildtool.ir.types import TensorType
from buildtool.ops._recurrent import RecurrentOperator
from buildtool.ops._types import stored, working


@dataclass(frozen=True, kw_only=True)
class Rnn(RecurrentOperator):
    """Inputs x[T,B,H] (the input's share), r[H,H], h[B or 1,H], lengths[B]? (s32); outputs y[T,B,H], h[B,H].

    h = f(x + r h)

    `function_f`, `function_g` and `function_h` have their parameters in `alphas` and `betas`; `clip` limits what goes
    into f and g to -clip..clip (0: no limit); `reverse` starts at the end of each sequence.
    """

    name: ClassVar[str] = "rnn"
    arity: ClassVar[tuple[int, int | None]] = (3, 4)
    outputs: ClassVar[int | None] = 2

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        types = self.checked(inputs, 1, 1)
        self.check_lengths(inputs[0], inputs[3:])
        return types

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        x, r, h = (working(array) for array in inputs[:3])
        lengths = inputs[3] if len(inputs) > 3 else None

        def advance(step: Array, states: tuple[Array, ...]) -> tuple[Array, ...]:
            return (self.f(step + states[0] @ r.T),)

        return tuple(stored(y, inputs[0]) for y in self.walk(x, (h,), lengths, advance))
