"""Activations: the functions, and the three attributes of operators that may apply one to their result."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from buildtool.ir.operator import Array, Operator, OperatorError
from buildtool.ops._shapes import require_one_of

ACTIVATIONS = (
    "none",
    "relu",
    "clip",
    "sigmoid",
    "tanh",
    "leaky_relu",
    "elu",
    "hard_sigmoid",
    "hard_swish",
    "swish",
)


def clip(x: Array, low: float, high: float) -> Array:
    """Limits values; bounds of integers are rounded inwards, and open ones do nothing."""
    if np.issubdtype(x.dtype, np.integer):
        limits = np.iinfo(x.dtype)
        low = math.ceil(min(max(low, limits.min), limits.max))
        high = math.floor(min(max(high, limits.min), limits.max))
    return np.asarray(np.maximum(np.minimum(x, x.dtype.type(high)), x.dtype.type(low)))


def relu(x: Array) -> Array:
    return np.asarray(np.maximum(x, x.dtype.type(0)))


def sigmoid(x: Array) -> Array:
    tail: Array = np.exp(-np.abs(x))  # at most 1: neither side overflows
    return np.where(x >= 0, 1 / (1 + tail), tail / (1 + tail))


def leaky_relu(x: Array, alpha: float) -> Array:
    return np.where(x >= 0, x, x * x.dtype.type(alpha))


def elu(x: Array, alpha: float) -> Array:
    return np.where(x >= 0, x, x.dtype.type(alpha) * np.expm1(np.minimum(x, 0)))


def hard_sigmoid(x: Array, alpha: float, beta: float) -> Array:
    return np.asarray(np.clip(x * x.dtype.type(alpha) + x.dtype.type(beta), 0, 1))


def hard_swish(x: Array) -> Array:
    return np.asarray(x * hard_sigmoid(x, 1 / 6, 0.5))


def swish(x: Array) -> Array:
    return np.asarray(x * sigmoid(x))


def activate(x: Array, activation: str, alpha: float, beta: float) -> Array:
    """Applies one of ACTIVATIONS."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        match activation:
            case "none":
                return x
            case "relu":
                return relu(x)
            case "clip":
                return clip(x, alpha, beta)
            case "sigmoid":
                return sigmoid(x)
            case "tanh":
                return np.asarray(np.tanh(x))
            case "leaky_relu":
                return leaky_relu(x, alpha)
            case "elu":
                return elu(x, alpha)
            case "hard_sigmoid":
                return hard_sigmoid(x, alpha, beta)
            case "hard_swish":
                return hard_swish(x)
            case "swish":
                return swish(x)
    raise OperatorError(f"there is no activation '{activation}'")


@dataclass(frozen=True, kw_only=True)
class ActivatedOperator(Operator):
    """An operator whose result goes through an activation."""

    activation: str = "none"
    activation_alpha: float = 0.0
    activation_beta: float = 0.0

    def check(self) -> None:
        require_one_of("activation", self.activation, ACTIVATIONS)
        if self.activation == "clip" and self.activation_alpha > self.activation_beta:
            raise OperatorError(f"clip has no values between {self.activation_alpha} and {self.activation_beta}")
        if self.activation != "clip" and not np.isfinite([self.activation_alpha, self.activation_beta]).all():
            raise OperatorError("the parameters of activations other than clip are finite")

    def activated(self, x: Array) -> Array:
        return activate(x, self.activation, self.activation_alpha, self.activation_beta)
