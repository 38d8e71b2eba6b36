"""Recurrent layers, one direction each.

In the graph the input's share is a matrix product of its own; in ONNX it is part of the layer. Where the operand is
such a product, its weights go in; else the share passes through a unit matrix.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from buildtool.exporters.onnx.registry import handler
from buildtool.exporters.onnx.step import Step

#: The words of the graph; whether a function has an alpha, a beta.
_FUNCTIONS: dict[str, tuple[str, bool, bool]] = {
    "affine": ("Affine", True, True),
    "relu": ("Relu", False, False),
    "leaky_relu": ("LeakyRelu", True, False),
    "thresholded_relu": ("ThresholdedRelu", True, False),
    "tanh": ("Tanh", False, False),
    "scaled_tanh": ("ScaledTanh", True, True),
    "sigmoid": ("Sigmoid", False, False),
    "hard_sigmoid": ("HardSigmoid", True, True),
    "elu": ("Elu", True, False),
    "softsign": ("Softsign", False, False),
    "softplus": ("Softplus", False, False),
}


def _functions(step: Step, letters: str) -> dict[str, Any]:
    op = step.op
    names, alphas, betas = [], [], []
    for place, letter in enumerate(letters):
        name, has_alpha, has_beta = _FUNCTIONS[getattr(op, f"function_{letter}")]
        names.append(name)
        alphas += [op.alphas[place]] * has_alpha
        betas += [op.betas[place]] * has_beta
    return {
        "activations": names,
        "activation_alpha": alphas or None,
        "activation_beta": betas or None,
        "clip": op.clip or None,
        "direction": "reverse" if op.reverse else None,
        "hidden_size": step.known_shape(1)[1],
    }


def _input(step: Step) -> tuple[str, str, str]:
    """The layer's input, its weights [1, G*H, I] and their bias [G*H] ("": none)."""
    maker = step.makers.get(step.value(0))
    gates = step.known_shape(1)[0]
    if maker is not None and maker.op.name == "fully_connected" and maker.inputs[0].type.rank == 3:
        x, w, *bias = maker.inputs
        if maker.op.activation == "none":  # type: ignore[attr-defined]
            weights = step.reshaped(step.forms.name(w), w.type.shape, (1, *w.type.shape))
            return step.forms.name(x), weights, step.forms.name(bias[0]) if bias else ""
    unit = np.eye(gates, dtype=step.dtype.numpy)[None]
    return step.forms.name(step.value(0)), step.writer.constant(unit, step.dtype, "unit"), ""


def _layer(step: Step, kind: str, letters: str, states: int, rest: int, **attributes: Any) -> None:
    """`states`: how many there are; `rest`: the operand with the lengths. Biases and peepholes come as attributes."""
    x, weights, bias = _input(step)
    gates, hidden = step.known_shape(1)
    recurrent = step.reshaped(step.forms.name(step.value(1)), (gates, hidden), (1, gates, hidden))
    own = attributes.pop("recurrent_bias", "")
    biases = _biases(step, bias, own, gates)
    lengths = step.input(rest)
    first = [_state(step, 2 + index) for index in range(states)]
    operands = [x, weights, recurrent, biases, lengths, *first, attributes.pop("peepholes", "")]
    names = step.emit_many(kind, 1 + states, *operands, **_functions(step, letters), **attributes)
    for index, name in enumerate(names):
        step.give(step.emit("Squeeze", name, step.integers([0 if index else 1])), index)


def _biases(step: Step, bias: str, own: str, gates: int) -> str:
    """[1, 2*G*H]: the bias of the input's share, then that of the state's; "" where both are none."""
    if not bias and not own:
        return ""
    nothing = step.writer.constant(np.zeros(gates, step.dtype.numpy), step.dtype, "zeros")
    both = step.writer.joined([bias or nothing, own or nothing], 0, "biases")
    return step.writer.reshaped(both, (1, 2 * gates), "biases")


def _state(step: Step, index: int) -> str:
    """A first state [1, B, H]; "" where it is zero."""
    value = step.value(index)
    known = step.constant(index)
    if known is not None and not known.any():
        return ""
    batch, hidden = step.node.outputs[1].type.shape
    name = step.reshaped(step.forms.name(value), value.type.shape, (1, *value.type.shape))
    if value.type.shape[0] == batch:
        return name
    return step.emit("Expand", name, step.dims((1, batch, hidden)))


@handler("rnn")
def rnn(step: Step) -> None:
    _layer(step, "RNN", "f", 1, 3)


@handler("gru")
def gru(step: Step) -> None:
    _, hidden = step.known_shape(1)
    zeros = step.writer.constant(np.zeros(2 * hidden, step.dtype.numpy), step.dtype, "zeros")
    known = step.constant(3)
    bias = "" if known is not None and not known.any() else step.writer.joined([zeros, step.input(3)], 0, "bias")
    linear = int(step.op.linear_before_reset) or None
    _layer(step, "GRU", "fg", 1, 4, recurrent_bias=bias, linear_before_reset=linear)


@handler("lstm")
def lstm(step: Step) -> None:
    _, hidden = step.known_shape(1)
    known = step.constant(4)
    peepholes = ""
    if step.has(4) and (known is None or known.any()):
        peepholes = step.writer.reshaped(step.input(4), (1, 3 * hidden), "peepholes")
    forget = int(step.op.input_forget) or None
    _layer(step, "LSTM", "fgh", 2, 5, peepholes=peepholes, input_forget=forget)
