"""Recurrent layers. Their states begin at zero whenever the model runs: TFLite keeps them from run to run."""

from __future__ import annotations

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.spatial import NO_ACTIVATION, channels
from buildtool.importers.step import Step
from buildtool.importers.tflite.registry import handler
from buildtool.importers.tflite.values import optional_real, real

_TANH = 4  # the code of the activation
_FUNCTIONS = {1: "relu", 4: "tanh"}


@handler("UNIDIRECTIONAL_SEQUENCE_LSTM")
def lstm(step: Step) -> Tensor:
    """Inputs: x, the weights of i, f, c, o for it, those for the last output, peepholes i, f, o, biases i, f, c, o."""
    if any(step.optional(index) is not None for index in (16, 17, 20, 21, 22, 23)):
        step.unsupported("a projection or a normalisation of the layer", "convert the model with plain LSTM layers")
    if step.real("proj_clip", 0.0) or step.real("cell_clip", 0.0):
        step.unsupported("a clipped state", "convert the model with plain LSTM layers")
    if step.optional(1) is None or step.optional(5) is None:
        step.unsupported("an input gate that follows from the forget gate", "convert it with all four gates")
    x = _times_first(step)
    hidden = channels(step, step.input(6), 0)
    inputs = _joined(step, [real(step, index) for index in (1, 4, 2, 3)])  # i, o, f, c
    recurrent = _joined(step, [real(step, index) for index in (5, 8, 6, 7)])
    bias = _joined(step, [real(step, index) for index in (12, 15, 13, 14)])
    share = step.emit("fully_connected", x, inputs, bias, **NO_ACTIVATION)
    zeros = step.filled((1, hidden), 0, x.dtype)
    peepholes = [optional_real(step, index) for index in (9, 11, 10)]
    present = [row for row in peepholes if row is not None]
    if len(present) not in (0, 3):
        step.malformed("it has some of the peepholes only")
    return _output(step, "lstm", [share, recurrent, zeros, zeros, *([_joined(step, present)] if present else [])], 3)


@handler("UNIDIRECTIONAL_SEQUENCE_RNN")
def rnn(step: Step) -> Tensor:
    """Inputs: x, the weights for it, those for the last output, the bias."""
    x = _times_first(step)
    share = step.emit("fully_connected", x, real(step, 1), real(step, 3), **NO_ACTIVATION)
    zeros = step.filled((1, channels(step, step.input(2), 0)), 0, x.dtype)
    return _output(step, "rnn", [share, real(step, 2), zeros], 1)


def _times_first(step: Step) -> Tensor:
    x = real(step, 0)
    if x.rank != 3:
        step.malformed(f"its input has rank {x.rank}, not 3")
    return x if step.integer("time_major", 0) else step.transpose(x, (1, 0, 2))


def _joined(step: Step, parts: list[Tensor]) -> Tensor:
    known = [part.content for part in parts if part.content is not None]
    if len(known) == len(parts):
        return step.constant(np.concatenate(known))
    return step.emit("concat", *parts, axis=0)


def _output(step: Step, op: str, inputs: list[Tensor], functions: int) -> Tensor:
    """The outputs of all steps."""
    code = step.integer("fused_activation_function", _TANH)
    if code not in _FUNCTIONS:
        step.unsupported(f"the activation {code} in a recurrent layer", "use tanh or relu")
    own = _FUNCTIONS[code]
    words = {"function_f": "sigmoid", "function_g": own, "function_h": own} if functions == 3 else {"function_f": own}
    y, *_ = step.emit_all(
        op,
        *inputs,
        **words,
        clip=0.0,
        reverse=False,
    )
    return y if step.integer("time_major", 0) else step.transpose(y, (1, 0, 2))
