"""What the recurrent operators share: gate functions, lengths of sequences, and the walk along them.

A recurrent operator goes through sequences in one direction. Its input is what the input's weights make of it, bias
included: that part is a matrix product over all steps at once, which a node in front of it computes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from buildtool.ir.dims import Dim, product
from buildtool.ir.operator import Array, Operator, OperatorError
from buildtool.ir.types import DType, TensorType
from buildtool.ops._activation import elu, hard_sigmoid, leaky_relu, sigmoid
from buildtool.ops._shapes import equal_dim, number, require_one_of, require_rank
from buildtool.ops._types import plain, require_float, require_same_dtype

FUNCTIONS = (
    "affine",
    "relu",
    "leaky_relu",
    "thresholded_relu",
    "tanh",
    "scaled_tanh",
    "sigmoid",
    "hard_sigmoid",
    "elu",
    "softsign",
    "softplus",
)


def apply_function(x: Array, function: str, alpha: float, beta: float) -> Array:
    """One of FUNCTIONS."""
    match function:
        case "affine":
            return np.asarray(x * alpha + beta)
        case "relu":
            return np.asarray(np.maximum(x, 0))
        case "leaky_relu":
            return leaky_relu(x, alpha)
        case "thresholded_relu":
            return np.where(x > alpha, x, 0)
        case "tanh":
            return np.asarray(np.tanh(x))
        case "scaled_tanh":
            return np.asarray(alpha * np.tanh(beta * x))
        case "sigmoid":
            return sigmoid(x)
        case "hard_sigmoid":
            return hard_sigmoid(x, alpha, beta)
        case "elu":
            return elu(x, alpha)
        case "softsign":
            return np.asarray(x / (1 + np.abs(x)))
    return np.asarray(np.logaddexp(x, 0))


@dataclass(frozen=True, kw_only=True)
class RecurrentOperator(Operator):
    """`functions` names one function per kind of gate; `alphas` and `betas` are their parameters.

    `clip` limits what goes into f and g to -clip..clip; 0 means no limit. `reverse` starts at the end of each
    sequence. Steps behind the end of a sequence give 0 and leave its state as it is.
    """

    function_f: str
    function_g: str = "tanh"
    function_h: str = "tanh"
    alphas: tuple[float, ...] = (0.0, 0.0, 0.0)
    betas: tuple[float, ...] = (0.0, 0.0, 0.0)
    clip: float = 0.0
    reverse: bool = False

    def check(self) -> None:
        for name, function in (("f", self.function_f), ("g", self.function_g), ("h", self.function_h)):
            require_one_of(f"function_{name}", function, FUNCTIONS)
        if len(self.alphas) != 3 or len(self.betas) != 3:
            raise OperatorError("'alphas' and 'betas' have three elements each")
        if not np.isfinite([*self.alphas, *self.betas, self.clip]).all() or self.clip < 0:
            raise OperatorError("'alphas', 'betas' and 'clip' are finite, and 'clip' is not negative")

    def f(self, x: Array) -> Array:
        return self._function(self._limited(x), self.function_f, 0)

    def g(self, x: Array) -> Array:
        return self._function(self._limited(x), self.function_g, 1)

    def h(self, x: Array) -> Array:
        return self._function(x, self.function_h, 2)

    def _limited(self, x: Array) -> Array:
        return np.clip(x, -self.clip, self.clip) if self.clip else x

    def _function(self, x: Array, function: str, index: int) -> Array:
        return apply_function(x, function, self.alphas[index], self.betas[index])

    def checked(self, inputs: Sequence[TensorType], gates: int, states: int) -> tuple[TensorType, ...]:
        """Output types after the checks of x[T,B,gates*H], r[gates*H,H] and the states [B or 1, H]."""
        x, r, *rest = self.operands(inputs)
        require_same_dtype([x, r, *rest[:states]])
        require_float(x)
        require_rank(x, 3, "the input [T, B, gates * H]")
        require_rank(r, 2, "the recurrent weights [gates * H, H]")
        hidden = number(r.shape[1], "the size of the state")
        if hidden < 1:
            raise OperatorError(f"the size of the state is {hidden}, which is not positive")
        equal_dim(r.shape[0], gates * hidden, f"the rows of the recurrent weights and {gates} * {hidden}")
        equal_dim(x.shape[2], gates * hidden, f"the width of the input and {gates} * {hidden}")
        for state in rest[:states]:
            require_rank(state, 2, "a state [B, H]")
            equal_dim(state.shape[1], hidden, "the sizes of the states")
            if state.shape[0] != 1:
                equal_dim(state.shape[0], x.shape[1], "the batches of input and state")
        final = plain(x, (x.shape[1], hidden))
        return plain(x, (x.shape[0], x.shape[1], hidden)), *(final,) * states

    def check_lengths(self, x: TensorType, lengths: Sequence[TensorType]) -> None:
        for type_ in lengths:
            if type_.dtype is not DType.S32:
                raise OperatorError(f"lengths of sequences are s32, not {type_.dtype.value}")
            require_rank(type_, 1, "the lengths of the sequences")
            equal_dim(type_.shape[0], x.shape[1], "the batches of input and lengths")

    def walk(
        self,
        x: Array,
        states: Sequence[Array],
        lengths: Array | None,
        advance: Callable[[Array, tuple[Array, ...]], tuple[Array, ...]],
    ) -> tuple[Array, ...]:
        """The first state at every step, and all states at the end. `advance` makes new states of a step's input."""
        steps, batch = x.shape[:2]
        current = tuple(np.broadcast_to(state, (batch, state.shape[1])).astype(np.float64) for state in states)
        ends = np.full(batch, steps) if lengths is None else np.clip(lengths, 0, steps)
        y = np.zeros((steps, batch, current[0].shape[1]), np.float64)
        images = np.arange(batch)
        for step in range(steps):
            live = step < ends
            place = np.where(live, ends - 1 - step if self.reverse else step, 0)
            with np.errstate(all="ignore"):
                new = advance(x[place, images].astype(np.float64), current)
            current = tuple(np.where(live[:, None], a, b) for a, b in zip(new, current, strict=True))
            y[place[live], images[live]] = current[0][live]
        return y, *current

    def macs(self, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> Dim:
        return product(inputs[0].shape) * inputs[1].shape[1]
