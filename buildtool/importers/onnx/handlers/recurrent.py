"""RNN, GRU and LSTM: one node per direction, with the input's matrix product over all steps at once in front of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from buildtool.importers.builder import Tensor
from buildtool.importers.onnx.quantised_products import integer_product, parameter, quantised_by_range
from buildtool.importers.onnx.registry import handler
from buildtool.importers.spatial import NO_ACTIVATION, channels
from buildtool.importers.step import Step
from buildtool.ir.attributes import AttrValue
from buildtool.ir.types import DType

#: ONNX's functions (in lower case): the graph's word, and the default alpha and beta of those that have them.
_FUNCTIONS: Mapping[str, tuple[str, float | None, float | None]] = {
    "affine": ("affine", 1.0, 0.0),
    "relu": ("relu", None, None),
    "leakyrelu": ("leaky_relu", 0.01, None),
    "thresholdedrelu": ("thresholded_relu", 1.0, None),
    "tanh": ("tanh", None, None),
    "scaledtanh": ("scaled_tanh", 1.0, 1.0),
    "sigmoid": ("sigmoid", None, None),
    "hardsigmoid": ("hard_sigmoid", 0.2, 0.5),
    "elu": ("elu", 1.0, None),
    "softsign": ("softsign", None, None),
    "softplus": ("softplus", None, None),
}
_LSTM_FUNCTIONS = ("sigmoid", "tanh", "tanh")
_DIRECTIONS = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}


@dataclass(frozen=True)
class _Layer:
    """What all directions share. `x` is [T, B, I]."""

    step: Step
    x: Tensor
    gates: int
    hidden: int
    directions: tuple[bool, ...]  # for each, whether it starts at the end
    functions: tuple[dict[str, AttrValue], ...]
    batch_first: bool

    def of_direction(self, index: int, tensor: Tensor) -> Tensor:
        """The share of one direction in an operand whose first axis counts the directions."""
        if self.step.size(tensor, 0) != len(self.directions):
            self.step.malformed(f"an operand {tensor.type} for {len(self.directions)} directions")
        if tensor.content is not None:
            return self.step.constant(tensor.content[index])
        rest = tensor.shape[1:]
        if len(self.directions) == 1:
            return self.step.reshape(tensor, rest)
        starts, steps = (index, *(0 for _ in rest)), (1,) * tensor.rank
        return self.step.reshape(self.step.emit("slice", tensor, starts=starts, steps=steps, sizes=(1, *rest)), rest)

    def part(self, vector: Tensor, start: int, count: int) -> Tensor:
        return self.step.emit("slice", vector, starts=(start,), steps=(1,), sizes=(count,))

    def state(self, index: int, position: int) -> Tensor:
        """The first state of a direction: an input of the node, or zeros."""
        given = self.step.optional(position)
        if given is None:
            return self.step.filled((1, self.hidden), 0, self.x.dtype)
        if self.batch_first:
            given = self.step.transpose(given, (1, 0, 2))
        return self.of_direction(index, given)

    def lengths(self) -> tuple[Tensor, ...]:
        given = self.step.optional(4)
        return () if given is None else (self.step.emit("cast", given, to=DType.S32),)

    def inputs_share(self, index: int, bias: Tensor | None) -> Tensor:
        """The matrix product of the input and its weights at all steps."""
        weights = self.of_direction(index, self.step.input(1))
        rest = () if bias is None else (bias,)
        return self.step.emit("fully_connected", self.x, weights, *rest, **NO_ACTIVATION)

    def recurrent(self, index: int) -> Tensor:
        """The weights of the state, [gates * hidden, hidden]."""
        return self.of_direction(index, self.step.input(2))

    def biases(self, index: int) -> tuple[Tensor, Tensor] | None:
        """The biases of the input's and of the state's share."""
        given = self.step.optional(3)
        if given is None:
            return None
        both, count = self.of_direction(index, given), self.gates * self.hidden
        return self.part(both, 0, count), self.part(both, count, count)

    def common(self, index: int) -> dict[str, AttrValue]:
        return self.functions[index] | {"reverse": self.directions[index]}


class _QuantisedLayer(_Layer):
    """With weights [D, I, 4 * H] and [D, H, 4 * H] of 8 bits, and a scale per direction or column of each."""

    def _weights(self, index: int, first: int, scales: int) -> tuple[Tensor, Tensor, Tensor]:
        """Weights, scales and zero points of a direction."""
        given = (self.step.input(position) for position in (first, scales, scales + 1))
        weights, *more = (self.of_direction(index, tensor) for tensor in given)
        scale, zero = (parameter(self.step, tensor) for tensor in more)
        return weights, scale, zero

    def inputs_share(self, index: int, bias: Tensor | None) -> Tensor:
        """Of the input as it is quantised by its range over all steps."""
        x, x_scale, x_zero = quantised_by_range(self.step, self.x)
        weights, scale, zero = self._weights(index, 1, 8)
        return integer_product(self.step, x, weights, (x_scale, scale), (x_zero, zero), bias)

    def recurrent(self, index: int) -> Tensor:
        weights, scale, zero = self._weights(index, 2, 10)
        axis = 1 if scale.rank else 0
        return self.step.transpose(
            self.step.emit("dequantize_linear", weights, scale, zero, axis=axis, block=0), (1, 0)
        )


def _layer(step: Step, gates: int, defaults: Sequence[str], kind: type[_Layer] = _Layer) -> _Layer:
    x = step.input(0)
    batch_first = bool(step.integer("layout", 0))
    if batch_first:
        x = step.transpose(x, (1, 0, 2))
    direction = step.text("direction", "forward").lower()
    if direction not in _DIRECTIONS:
        step.malformed(f"the attribute 'direction' is '{direction}'")
    directions = _DIRECTIONS[direction]
    recurrent = step.input(2)
    if x.rank != 3 or recurrent.rank != 3 or recurrent.shape[0] != len(directions):
        step.malformed(f"its weights {list(recurrent.shape)} do not fit a {direction} layer")
    functions = _functions(step, len(directions), defaults)
    hidden = channels(step, recurrent, 2 if kind is _Layer else 1)
    return kind(step, x, gates, hidden, directions, functions, batch_first)


def _functions(step: Step, directions: int, defaults: Sequence[str]) -> tuple[dict[str, AttrValue], ...]:
    """The functions of every direction with their parameters, which the node lists for those that take them."""
    stated = step.attribute("activations")
    names = [str(name).lower() for name in stated] if isinstance(stated, tuple) else list(defaults) * directions
    alphas, betas = iter(step.reals("activation_alpha", ())), iter(step.reals("activation_beta", ()))
    if len(names) < len(defaults) * directions or any(name not in _FUNCTIONS for name in names):
        step.malformed(f"the attribute 'activations' is {names}")
    result = []
    for index in range(directions):
        attributes: dict[str, AttrValue] = {"clip": step.real("clip", 0.0)}
        first, second = [0.0] * 3, [0.0] * 3
        for place, name in enumerate(names[index * len(defaults) : (index + 1) * len(defaults)]):
            word, alpha, beta = _FUNCTIONS[name]
            attributes[f"function_{'fgh'[place]}"] = word
            first[place] = 0.0 if alpha is None else next(alphas, alpha)
            second[place] = 0.0 if beta is None else next(betas, beta)
        result.append(attributes | {"alphas": tuple(first), "betas": tuple(second)})
    return tuple(result)


def _together(layer: _Layer, results: Sequence[Sequence[Tensor]]) -> tuple[Tensor, ...]:
    """The outputs of all directions as the node has them: [T, D, B, H] and the states [D, B, H], or batch first."""
    step, outputs = layer.step, []
    for number, parts in enumerate(zip(*results, strict=True)):
        axis = 1 if number == 0 else 0
        stacked = [step.reshape(part, (*part.shape[:axis], 1, *part.shape[axis:])) for part in parts]
        whole = stacked[0] if len(stacked) == 1 else step.emit("concat", *stacked, axis=axis)
        if layer.batch_first:
            whole = step.transpose(whole, (2, 0, 1, 3) if number == 0 else (1, 0, 2))
        outputs.append(whole)
    return tuple(outputs)


def _sum(step: Step, a: Tensor, b: Tensor) -> Tensor:
    return step.emit("add", a, b, **NO_ACTIVATION)


@handler("RNN")
def rnn(step: Step) -> tuple[Tensor, ...]:
    layer = _layer(step, 1, ("tanh",))
    results = []
    for index in range(len(layer.directions)):
        biases = layer.biases(index)
        x = layer.inputs_share(index, None if biases is None else _sum(step, *biases))
        operands = (layer.recurrent(index), layer.state(index, 5), *layer.lengths())
        results.append(step.emit_all("rnn", x, *operands, **layer.common(index)))
    return _together(layer, results)


@handler("GRU")
def gru(step: Step) -> tuple[Tensor, ...]:
    layer = _layer(step, 3, ("sigmoid", "tanh"))
    hidden = layer.hidden
    zeros = step.filled((hidden,), 0, layer.x.dtype)
    linear = bool(step.integer("linear_before_reset", 0))
    results = []
    for index in range(len(layer.directions)):
        biases = layer.biases(index)
        inner, outer = zeros, None
        if biases is not None:  # that of n stays apart: it stands where the reset does
            inner = layer.part(biases[1], 2 * hidden, hidden)
            outer = _sum(step, biases[0], step.emit("concat", layer.part(biases[1], 0, 2 * hidden), zeros, axis=0))
        x = layer.inputs_share(index, outer)
        operands = (layer.recurrent(index), layer.state(index, 5), inner, *layer.lengths())
        results.append(step.emit_all("gru", x, *operands, linear_before_reset=linear, **layer.common(index)))
    return _together(layer, results)


@handler("LSTM")
def lstm(step: Step) -> tuple[Tensor, ...]:
    return _lstm(step, _layer(step, 4, _LSTM_FUNCTIONS))


@handler("com.microsoft.DynamicQuantizeLSTM")
def quantised_lstm(step: Step) -> tuple[Tensor, ...]:
    """The products of the input are sums of integers; those of the state are computed in single precision."""
    return _lstm(step, _layer(step, 4, _LSTM_FUNCTIONS, _QuantisedLayer))


def _lstm(step: Step, layer: _Layer) -> tuple[Tensor, ...]:
    peepholes, lengths = step.optional(7), layer.lengths()
    forget = bool(step.integer("input_forget", 0))
    results = []
    for index in range(len(layer.directions)):
        biases = layer.biases(index)
        x = layer.inputs_share(index, None if biases is None else _sum(step, *biases))
        operands = [layer.recurrent(index), layer.state(index, 5), layer.state(index, 6)]
        if peepholes is not None:
            operands.append(layer.of_direction(index, peepholes))
        elif lengths:
            operands.append(step.filled((3 * layer.hidden,), 0, layer.x.dtype))
        results.append(step.emit_all("lstm", x, *operands, *lengths, input_forget=forget, **layer.common(index)))
    return _together(layer, results)
