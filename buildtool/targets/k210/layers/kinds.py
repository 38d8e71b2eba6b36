"""The layers of a description: their names and arguments in TensorLayer."""

from __future__ import annotations

import difflib
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from buildtool.ir.graph import Value
from buildtool.targets.k210.generation.rules import NotHereError
from buildtool.targets.k210.layers.layer import Layer, Making, Tensor, picture, shape_of

Pair = tuple[int, int]
_NEAREST = {"mode": "nearest", "coordinates": "asymmetric", "rounding": "floor"}
#: Names of activations: the operator and its attributes.
ACTIVATIONS: dict[str, tuple[str, dict[str, float]]] = {
    "relu": ("relu", {}),
    "relu6": ("clip", {"low": 0.0, "high": 6.0}),
    "leaky_relu": ("leaky_relu", {"alpha": 0.2}),
    "elu": ("elu", {"alpha": 1.0}),
    "sigmoid": ("sigmoid", {}),
    "tanh": ("tanh", {}),
    "swish": ("swish", {}),
    "hard_swish": ("hard_swish", {}),
    "softplus": ("softplus", {}),
}
_SOFTMAX = "softmax"


@dataclass(frozen=True, eq=False)
class Activated(Layer):
    """A layer with a function behind it."""

    act: str | None = field(default=None, kw_only=True)  # one of ACTIVATIONS, or softmax

    def build(self, making: Making, x: Value) -> Value:
        made = self.build_linear(making, x)
        return made if self.act is None else _activated(making, made, self.act, None)

    def build_linear(self, making: Making, x: Value) -> Value:
        """Without the function."""
        raise NotImplementedError


def _activated(making: Making, x: Value, act: str, alpha: float | None) -> Value:
    if act == _SOFTMAX:
        return making.node("softmax", x, axis=x.type.rank - 1)
    if act not in ACTIVATIONS:
        known = [*ACTIVATIONS, _SOFTMAX]
        near = difflib.get_close_matches(str(act), known, n=1)
        raise NotHereError(
            f"its activation is '{act}'",
            f"known: {', '.join(known)}",
            f"did you mean '{near[0]}'?" if near else "use one of these, or None",
        )
    op, attributes = ACTIVATIONS[act]
    if alpha is not None:
        if "alpha" not in attributes:
            raise NotHereError(f"'{act}' receives alpha", "only leaky_relu and elu have alpha", "remove alpha")
        attributes = {**attributes, "alpha": float(alpha)}
    return making.node(op, x, **attributes)


@dataclass(frozen=True, eq=False)
class InputLayer(Layer):
    """A picture of rows, columns, channels, or a list. A size in front that is None stands for the batch."""

    shape: Sequence[int | None]

    def build_all(self, making: Making, values: Sequence[Value]) -> Value:
        shape = tuple(self.shape[1:] if self.shape and self.shape[0] is None else self.shape)
        if len(shape) not in (1, 3) or not all(isinstance(size, int) and size > 0 for size in shape):
            raise NotHereError(
                f"its shape is {list(self.shape)}",
                "an image has rows, columns and channels; a vector has one size",
                "for example (224, 224, 3)",
            )
        return making.input([int(size) for size in shape if size is not None])


def Input(shape: Sequence[int | None], name: str = "") -> Tensor:  # noqa: N802 (as TensorLayer has it)
    """What goes into a model."""
    return InputLayer(tuple(shape), name=name)()


# -- with weights ------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class Conv2d(Activated):
    """Weights `filters` [rows, columns, in, out] and `biases` [out]."""

    n_filter: int = 32
    filter_size: Pair = (3, 3)
    strides: Pair = (1, 1)
    padding: str = "SAME"
    dilation_rate: Pair = (1, 1)
    bias: bool = True

    def build_linear(self, making: Making, x: Value) -> Value:
        *size, channels = picture(x)
        pads = _pads(self.padding, size, self.filter_size, self.strides, self.dilation_rate)
        filters = making.weight("filters", *self.filter_size, channels, self.n_filter)
        operands = [x, making.constant(filters.transpose(3, 0, 1, 2))]
        if self.bias:
            operands.append(making.constant(making.weight("biases", self.n_filter)))
        return making.node(
            "conv2d", *operands, strides=tuple(self.strides), pads=pads, dilations=tuple(self.dilation_rate)
        )


@dataclass(frozen=True, eq=False)
class DepthwiseConv2d(Activated):
    """Weights `filters` [rows, columns, in, multiplier] and `biases` [in * multiplier]."""

    filter_size: Pair = (3, 3)
    strides: Pair = (1, 1)
    padding: str = "SAME"
    dilation_rate: Pair = (1, 1)
    depth_multiplier: int = 1
    bias: bool = True

    def build_linear(self, making: Making, x: Value) -> Value:
        *size, channels = picture(x)
        pads = _pads(self.padding, size, self.filter_size, self.strides, self.dilation_rate)
        outputs = channels * self.depth_multiplier
        filters = making.weight("filters", *self.filter_size, channels, self.depth_multiplier)
        operands = [x, making.constant(filters.reshape(*self.filter_size, outputs))]
        if self.bias:
            operands.append(making.constant(making.weight("biases", outputs)))
        return making.node(
            "dwconv2d",
            *operands,
            strides=tuple(self.strides),
            pads=pads,
            dilations=tuple(self.dilation_rate),
            multiplier=self.depth_multiplier,
        )


@dataclass(frozen=True, eq=False)
class Dense(Activated):
    """Weights `weights` [in, out] and `biases` [out]."""

    n_units: int = 100
    bias: bool = True

    def build_linear(self, making: Making, x: Value) -> Value:
        shape = shape_of(x)
        if len(shape) != 1:
            raise NotHereError(f"its input has the shape {list(shape)}", "it takes a vector", "add Flatten before it")
        operands = [x, making.constant(making.weight("weights", shape[0], self.n_units).T)]
        if self.bias:
            operands.append(making.constant(making.weight("biases", self.n_units)))
        return making.node("fully_connected", *operands)


@dataclass(frozen=True, eq=False)
class BatchNorm(Activated):
    """Weights `beta`, `gamma`, `moving_mean`, `moving_var`, one for each channel."""

    epsilon: float = 1e-5

    def build_linear(self, making: Making, x: Value) -> Value:
        channels = shape_of(x)[-1]
        beta, gamma, mean, variance = (
            making.constant(making.weight(role, channels)) for role in ("beta", "gamma", "moving_mean", "moving_var")
        )
        return making.node("batch_norm", x, gamma, beta, mean, variance, epsilon=self.epsilon)


def _pads(
    padding: str, size: Sequence[int], window: Sequence[int], strides: Sequence[int], gaps: Sequence[int] = (1, 1)
) -> tuple[int, ...]:
    """Above, left, below, right: where the sum is odd, the larger half stands behind."""
    if padding not in ("SAME", "VALID"):
        raise NotHereError(f"its padding is '{padding}'", "it is SAME or VALID", "for other borders, use ZeroPad2d")
    if not all(len(pair) == 2 and min(pair) >= 1 for pair in (window, strides, gaps)):
        raise NotHereError(
            f"its window is {list(window)}, its strides are {list(strides)}",
            "both have two integers from 1 on: rows, columns",
            "for example (3, 3) and (1, 1)",
        )
    if padding == "VALID":
        return (0, 0, 0, 0)
    before, behind = [], []
    for length, taps, stride, gap in zip(size, window, strides, gaps, strict=True):
        total = max((-(-length // stride) - 1) * stride + (taps - 1) * gap + 1 - length, 0)
        before.append(total // 2)
        behind.append(total - total // 2)
    return (*before, *behind)


# -- without -----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class Activation(Layer):
    """A function alone, for those with a number as argument."""

    act: str = "relu"
    alpha: float | None = None  # of leaky_relu and elu

    def build(self, making: Making, x: Value) -> Value:
        return _activated(making, x, self.act, self.alpha)


@dataclass(frozen=True, eq=False)
class Softmax(Layer):
    """Of a list, or of a single pixel."""

    def build(self, making: Making, x: Value) -> Value:
        return _activated(making, x, _SOFTMAX, None)


@dataclass(frozen=True, eq=False)
class _Pool(Layer):
    filter_size: Pair = (3, 3)
    strides: Pair = (2, 2)
    padding: str = "SAME"

    def _attributes(self, x: Value) -> dict[str, tuple[int, ...]]:
        *size, _ = picture(x)
        pads = _pads(self.padding, size, self.filter_size, self.strides)
        return {"kernel": tuple(self.filter_size), "strides": tuple(self.strides), "pads": pads}


@dataclass(frozen=True, eq=False)
class MaxPool2d(_Pool):
    """The largest number of each window."""

    def build(self, making: Making, x: Value) -> Value:
        return making.node("max_pool2d", x, **self._attributes(x))


@dataclass(frozen=True, eq=False)
class MeanPool2d(_Pool):
    """The mean of what lies inside of the picture."""

    def build(self, making: Making, x: Value) -> Value:
        return making.node("avg_pool2d", x, **self._attributes(x))


@dataclass(frozen=True, eq=False)
class GlobalMaxPool2d(Layer):
    """The largest number of each channel: a list."""

    def build(self, making: Making, x: Value) -> Value:
        rows, columns, channels = picture(x)
        largest = making.node("max_pool2d", x, kernel=(rows, columns))
        return making.node("reshape", largest, shape=(1, channels))


@dataclass(frozen=True, eq=False)
class GlobalMeanPool2d(Layer):
    """The mean of each channel: a list."""

    def build(self, making: Making, x: Value) -> Value:
        picture(x)
        return making.node("reduce_mean", x, axes=(1, 2), keepdims=False)


@dataclass(frozen=True, eq=False)
class Flatten(Layer):
    """A list: rows, columns, channels."""

    def build(self, making: Making, x: Value) -> Value:
        return making.node("reshape", x, shape=(1, math.prod(shape_of(x))))


@dataclass(frozen=True, eq=False)
class Reshape(Layer):
    """Another shape, whose first size is the batch: 1, -1 or None. Of the others, one may be -1."""

    shape: Sequence[int | None]

    def build(self, making: Making, x: Value) -> Value:
        count, sizes = math.prod(shape_of(x)), list(self.shape[1:])
        others = math.prod(size for size in sizes if size is not None and size > 0)
        left = [count // others if size == -1 and others else size for size in sizes]
        fits = len(self.shape) > 1 and self.shape[0] in (1, -1, None) and sizes.count(-1) < 2 and None not in left
        if not fits or math.prod(size or 0 for size in left) != count:
            raise NotHereError(
                f"its shape is {list(self.shape)}",
                f"its input has {count} elements; the first size is the batch",
                "for example (-1, 1, 1, 64)",
            )
        return making.node("reshape", x, shape=(1, *(size for size in left if size is not None)))


@dataclass(frozen=True, eq=False)
class ZeroPad2d(Layer):
    """Zeros around a picture: ((above, below), (left, right))."""

    padding: tuple[Pair, Pair] = ((1, 1), (1, 1))

    def build(self, making: Making, x: Value) -> Value:
        picture(x)
        (top, bottom), (left, right) = self.padding
        before, after = (0, top, left, 0), (0, bottom, right, 0)
        return making.node("pad", x, before=before, after=after, mode="constant", value=0.0)


@dataclass(frozen=True, eq=False)
class UpSampling2d(Layer):
    """Each pixel several times."""

    scale: Pair = (2, 2)

    def build(self, making: Making, x: Value) -> Value:
        rows, columns, _ = picture(x)
        size = (rows * self.scale[0], columns * self.scale[1])
        return making.node("resize2d", x, size=size, scales=tuple(float(one) for one in self.scale), **_NEAREST)


@dataclass(frozen=True, eq=False)
class Dropout(Layer):
    """Nothing: it is for training."""

    keep: float = 0.5

    def build(self, making: Making, x: Value) -> Value:
        return making.node("identity", x)


# -- of several tensors ------------------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class Concat(Layer):
    """Behind each other, along the channels."""

    concat_dim: int = -1

    def build_all(self, making: Making, values: Sequence[Value]) -> Value:
        axis = self.concat_dim % values[0].type.rank if values else 0
        return making.node("concat", *values, axis=axis)


@dataclass(frozen=True, eq=False)
class Add(Activated):
    """Their sum."""

    def build_all(self, making: Making, values: Sequence[Value]) -> Value:
        if len(values) < 2:
            raise NotHereError(
                f"it was called with {len(values)} tensors", "a sum has two or more inputs", "pass a list"
            )
        total = values[0]
        for value in values[1:]:
            total = making.node("add", total, value)
        return total if self.act is None else _activated(making, total, self.act, None)
