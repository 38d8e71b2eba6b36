"""The activation functions of Keras by name, as layers call them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.keras.values import array, plus
from buildtool.importers.step import Step

_Function = Callable[[Step, Tensor, Mapping[str, float]], Tensor]
_INFINITE = float(np.finfo(np.float32).max)
#: Functions that an operator of the graph is.
_PLAIN = {
    "relu": "relu",
    "sigmoid": "sigmoid",
    "softplus": "softplus",
    "softsign": "softsign",
    "tanh": "tanh",
    "exponential": "exp",
    "swish": "swish",
    "silu": "swish",
    "mish": "mish",
    "hard_silu": "hard_swish",
    "hard_swish": "hard_swish",
}
_SELU = {"alpha": 1.6732632423543772, "gamma": 1.0507009873554805}
#: Layers that may stand where the name of a function does.
_LAYERS = {
    "ReLU": "relu",
    "LeakyReLU": "leaky_relu",
    "ELU": "elu",
    "Softmax": "softmax",
    "SELU": "selu",
    "NoOpActivation": "linear",
}


def activated(step: Step, x: Tensor, key: str = "activation") -> Tensor:
    """The activation that a setting of the layer names."""
    value = step.attribute(key)
    if value is None:
        return x
    if not isinstance(value, str):
        step.malformed(f"'{key}' is not the name of a function")
    inner = [name for name in step.node.attributes if name.startswith(f"{key}.")]
    given = {name.removeprefix(f"{key}."): step.attribute(name) for name in inner}
    options = {name: float(item) for name, item in given.items() if isinstance(item, int | float)}
    return apply(step, x, _LAYERS.get(value, value), options, own=value in _LAYERS)


def apply(step: Step, x: Tensor, name: str, options: Mapping[str, float], own: bool = True) -> Tensor:
    """A function by its name. `own`: it is a layer, whose defaults differ from those of the function."""
    if name == "linear":
        return x
    if name == "relu" and options:
        slope, most = options.get("negative_slope", 0.0), options.get("max_value", np.inf)
        return bounded_relu(step, x, slope, most, options.get("threshold", 0.0))
    if name in _PLAIN:
        return step.emit(_PLAIN[name], x)
    function = _FUNCTIONS.get(name)
    if function is None:
        step.unsupported(f"the activation '{name}'", f"use one of {', '.join(NAMES)}")
    if name == "leaky_relu" and not own:
        options = {"negative_slope": 0.2, **options}
    return function(step, x, options)


def bounded_relu(step: Step, x: Tensor, slope: float, most: float, threshold: float) -> Tensor:
    """`most` from `most` on, x from the threshold on, and below it slope * (x - threshold)."""
    if threshold == 0 and slope == 0:
        return step.emit("relu", x) if np.isinf(most) else step.emit("clip", x, low=0.0, high=most)
    if threshold == 0:
        y = step.emit("leaky_relu", x, alpha=slope)
    else:
        below = step.emit("mul", plus(step, x, array(step, -threshold)), array(step, slope))
        y = step.emit("where", step.emit("less", x, array(step, threshold)), below, x)
    return y if np.isinf(most) else step.emit("minimum", y, array(step, most))


def _clipped(low: float, high: float) -> _Function:
    return lambda step, x, _: step.emit("clip", x, low=low, high=high)


def _hard_sigmoid(step: Step, x: Tensor, _: Mapping[str, float]) -> Tensor:
    """Keras 3 has another slope than Keras 2."""
    return step.emit("hard_sigmoid", x, alpha=hard_sigmoid_slope(step), beta=0.5)


def hard_sigmoid_slope(step: Step) -> float:
    return 0.2 if step.opset < 3 else 1 / 6


def _softmax(step: Step, x: Tensor, options: Mapping[str, float]) -> Tensor:
    return step.emit("softmax", x, axis=step.axis(int(options.get("axis", -1)), x.rank))


def _log_softmax(step: Step, x: Tensor, options: Mapping[str, float]) -> Tensor:
    return step.emit("log_softmax", x, axis=step.axis(int(options.get("axis", -1)), x.rank))


def _log_sigmoid(step: Step, x: Tensor, _: Mapping[str, float]) -> Tensor:
    return step.emit("neg", step.emit("softplus", step.emit("neg", x)))


def _tanh_shrink(step: Step, x: Tensor, _: Mapping[str, float]) -> Tensor:
    return step.emit("sub", x, step.emit("tanh", x))


def _squareplus(step: Step, x: Tensor, options: Mapping[str, float]) -> Tensor:
    square = plus(step, step.emit("mul", x, x), array(step, options.get("b", 4.0)))
    return step.emit("mul", plus(step, x, step.emit("sqrt", square)), array(step, 0.5))


def _sparse_plus(step: Step, x: Tensor, _: Mapping[str, float]) -> Tensor:
    """0 up to -1, x from 1 on, and (x + 1)^2 / 4 between."""
    middle = step.emit("clip", plus(step, x, array(step, 1.0)), low=0.0, high=2.0)
    curve = step.emit("mul", step.emit("mul", middle, middle), array(step, 0.25))
    return step.emit("where", step.emit("less", array(step, 1.0), x), x, curve)


def _sparse_sigmoid(step: Step, x: Tensor, _: Mapping[str, float]) -> Tensor:
    return step.emit("hard_sigmoid", x, alpha=0.5, beta=0.5)


def _glu(step: Step, x: Tensor, _: Mapping[str, float]) -> Tensor:
    half = x.shape[-1] // 2
    value, gate = step.emit_all("split", x, axis=x.rank - 1, sizes=(half, half))
    return step.emit("mul", value, step.emit("sigmoid", gate))


_FUNCTIONS: Mapping[str, _Function] = {
    "relu6": _clipped(0.0, 6.0),
    "hard_tanh": _clipped(-1.0, 1.0),
    "elu": lambda step, x, options: step.emit("elu", x, alpha=options.get("alpha", 1.0)),
    "celu": lambda step, x, options: step.emit("celu", x, alpha=options.get("alpha", 1.0)),
    "selu": lambda step, x, _: step.emit("selu", x, **_SELU),
    "leaky_relu": lambda step, x, options: step.emit(
        "leaky_relu", x, alpha=options.get("negative_slope", options.get("alpha", 0.3))
    ),
    "gelu": lambda step, x, options: step.emit("gelu", x, approximate="tanh" if options.get("approximate") else "none"),
    "hard_sigmoid": _hard_sigmoid,
    "softmax": _softmax,
    "log_softmax": _log_softmax,
    "log_sigmoid": _log_sigmoid,
    "tanh_shrink": _tanh_shrink,
    "soft_shrink": lambda step, x, options: step.emit(
        "shrink", x, lambd=options.get("threshold", 0.5), bias=options.get("threshold", 0.5)
    ),
    "hard_shrink": lambda step, x, options: step.emit("shrink", x, lambd=options.get("threshold", 0.5), bias=0.0),
    "squareplus": _squareplus,
    "sparse_plus": _sparse_plus,
    "sparse_sigmoid": _sparse_sigmoid,
    "glu": _glu,
}
#: All names that `Activation` and the setting `activation` may have.
NAMES = tuple(sorted({"linear", *_PLAIN, *_FUNCTIONS}))
