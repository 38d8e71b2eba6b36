"""Recurrent layers. Their states begin at zero whenever the model runs: TFLite keeps them from run to run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.spatial import NO_ACTIVATION, channels
from buildtool.importers.step import Step
from buildtool.importers.tflite.integer_recurrent import keep_lstm, keep_svdf
from buildtool.importers.tflite.registry import handler
from buildtool.importers.tflite.values import (
    activated,
    dequantised,
    optional_real,
    quantisation,
    quantised,
    real,
    stored,
)
from buildtool.ir.graph import Region
from buildtool.ir.types import DType, TensorType

_TANH = 4  # the code of the activation
_FUNCTIONS = {1: "relu", 4: "tanh"}


@dataclass(frozen=True)
class _Places:
    """Where the inputs of an LSTM layer stand."""

    inputs: tuple[int, ...] = (1, 2, 3, 4)  # weights of i, f, c, o
    states: tuple[int, ...] = (5, 6, 7, 8)
    peepholes: tuple[int, ...] = (9, 10, 11)  # of i, f, o
    biases: tuple[int, ...] = (12, 13, 14, 15)
    projection: tuple[int, int] = (16, 17)
    norms: tuple[int, ...] = (20, 21, 22, 23)


_FORWARDS = _Places()
_BACKWARDS = _Places((18, 19, 20, 21), (22, 23, 24, 25), (26, 27, 28), (29, 30, 31, 32), (33, 34), ())
_BOTH_WAYS = _Places(norms=())
_SMALLEST_VARIANCE = 1e-8


@handler("UNIDIRECTIONAL_SEQUENCE_LSTM")
def lstm(step: Step) -> Tensor:
    """Inputs: x, the weights of i, f, c, o for it, those for the last output, peepholes i, f, o, biases i, f, c, o."""
    y = stored(step, _in_order(step, _layer(step, _times_first(step), _FORWARDS, reverse=False)))
    keep_lstm(step, y)
    return y


@handler("BIDIRECTIONAL_SEQUENCE_LSTM")
def lstm_both_ways(step: Step) -> Sequence[Tensor]:
    """Inputs: x, those of a layer, those of a layer that begins at the end, states, and what an earlier layer gave."""
    if any(step.optional(index) is not None for index in range(39, 48)):
        step.unsupported("an input besides x", "stack the layers one on another")
    x = _times_first(step)
    return _merged(step, [_layer(step, x, _BOTH_WAYS, reverse=False), _layer(step, x, _BACKWARDS, reverse=True)])


@handler("LSTM")
def lstm_step(step: Step) -> Sequence[Tensor]:
    """One step of a layer; or, as the older kernel has it, with the state among inputs and outputs."""
    if step.integer("kernel_type", 0) == 1:
        return _basic(step)
    x = real(step, 0)
    y = _layer(step, step.reshape(x, (1, *x.shape)), _FORWARDS, reverse=False)
    return [stored(step, step.reshape(y, y.shape[1:]))]


def _basic(step: Step) -> Sequence[Tensor]:
    """Inputs: x, the last output, the weights of i, c, f, o for both, their biases, the last state.

    Outputs: the output, the state, both inputs side by side, and what goes into the gates.
    """
    both = step.emit("concat", real(step, 0), real(step, 1), axis=1)
    gates = step.emit("fully_connected", both, real(step, 2), real(step, 3), **NO_ACTIVATION)
    i, new, f, o = step.emit_all("split", gates, axis=1, sizes=(channels(step, step.input(4), 1),) * 4)
    kept = step.emit("mul", step.emit("sigmoid", f), real(step, 4))
    added = step.emit("mul", step.emit("sigmoid", i), step.emit("tanh", new))
    state = step.emit("add", kept, added, **NO_ACTIVATION)
    return step.emit("mul", step.emit("sigmoid", o), step.emit("tanh", state)), state, both, gates


def _layer(step: Step, x: Tensor, places: _Places, reverse: bool) -> Tensor:
    """[steps, batch, hidden] of a layer in one direction."""
    if step.optional(places.inputs[1]) is None or step.optional(places.states[1]) is None:
        step.malformed("the weights of its forget gate are missing")
    extra = any(step.optional(index) is not None for index in (*places.projection, *places.norms))
    if extra or step.real("proj_clip", 0.0) or step.real("cell_clip", 0.0):
        return _Composed(step, places).run(x, reverse)
    hidden = channels(step, step.input(places.states[1]), 0)
    inputs, recurrent = (_joined(step, _gates(step, found, (0, 3, 1, 2))) for found in (places.inputs, places.states))
    bias = _joined(step, _gates(step, places.biases, (0, 3, 1, 2)))
    share = step.emit("fully_connected", x, inputs, bias, **NO_ACTIVATION)
    zeros = step.filled((1, hidden), 0, x.dtype)
    present = [index for index in places.peepholes if step.optional(index) is not None]
    rows: list[Tensor] = []
    if present:
        if step.optional(places.peepholes[1]) is None or step.optional(places.peepholes[2]) is None:
            step.malformed("it has some of the peepholes only")
        rows = [_joined(step, _gates(step, places.peepholes, (0, 2, 1)))]
    return _output(step, "lstm", [share, recurrent, zeros, zeros, *rows], 3, reverse)


def _gates(step: Step, places: Sequence[int], order: Sequence[int]) -> list[Tensor]:
    """Tensors of the gates in another order. Without an input gate it is 1 - f: its numbers are those of f, negated."""
    found = [optional_real(step, index) for index in places]
    if found[0] is None and found[1] is not None:
        found[0] = step.emit("neg", found[1])
    if any(item is None for item in found):
        step.malformed("weights or biases of a gate are missing")
    return [item for item in (found[place] for place in order) if item is not None]


class _Composed:
    """A layer with a projection, norms or limits: a loop over its steps."""

    def __init__(self, step: Step, places: _Places) -> None:
        self._step = step
        self._places = places
        self._norms = [optional_real(step, index) for index in places.norms] or [None] * 4
        self._biases = [optional_real(step, index) for index in places.biases]
        self._peepholes = [optional_real(step, index) for index in places.peepholes]
        self._states = [optional_real(step, index) for index in places.states]
        self._projection = [optional_real(step, index) for index in places.projection]
        code = step.integer("fused_activation_function", 0)
        if code not in _FUNCTIONS:
            step.unsupported(f"the activation {code} in a recurrent layer", "use tanh or relu")
        self._function = _FUNCTIONS[code]

    def run(self, x: Tensor, reverse: bool) -> Tensor:
        step, (count, batch) = self._step, x.shape[:2]
        hidden = channels(step, step.input(self._places.states[1]), 0)
        weights = self._projection[0]
        width = hidden if weights is None else channels(step, weights, 0)
        shares = [self._share(x, index) for index in range(4)]
        zero = step.constant(np.zeros((), x.dtype.numpy))
        starts = [step.emit("broadcast_to", zero, shape=(batch, size)) for size in (width, hidden)]
        region = Region()
        number = step.taken(region, TensorType(DType.S64, ()))
        output, state = (step.taken(region, start.type) for start in starts)
        with step.inside(region):
            place = number
            if reverse:
                if not isinstance(count, int):
                    step.unsupported("a layer that begins at a run-time end", "fix the input shapes")
                place = step.emit("sub", step.constant(np.array(count - 1)), number)
            rows = [None if share is None else step.emit("gather", share, place, axis=0) for share in shares]
            output, state = self._advanced(rows, output, state)
        always = step.constant(np.array(True))
        step.give(region, [always, output, state, output])
        trips = step.constant(np.array(count if isinstance(count, int) else np.iinfo(np.int64).max, np.int64))
        *_, y = step.emit_regions("loop", [trips, always, *starts], [region], most=(count,), size=())
        return _turned(step, y) if reverse else y

    def _share(self, x: Tensor, index: int) -> Tensor | None:
        """What the inputs give to a gate in all steps; None for an input gate that follows from the forget gate."""
        weights = optional_real(self._step, self._places.inputs[index])
        if weights is None:
            if index:
                self._step.malformed("weights of a gate are missing")
            return None
        zeros = self._step.filled((channels(self._step, weights, 0),), 0, x.dtype)
        return self._step.emit("fully_connected", x, weights, zeros, **NO_ACTIVATION)

    def _gate(self, index: int, row: Tensor, output: Tensor, peephole: Tensor | None, state: Tensor) -> Tensor:
        step, weights, norm, bias = self._step, self._states[index], self._norms[index], self._biases[index]
        if weights is None or bias is None:
            step.malformed("weights or biases of a gate are missing")
        zeros = step.filled((channels(step, weights, 0),), 0, row.dtype)
        held = step.emit("fully_connected", output, weights, zeros, **NO_ACTIVATION)
        y = step.emit("add", row, held, **NO_ACTIVATION)
        if peephole is not None:
            y = step.emit("add", y, step.emit("mul", state, peephole), **NO_ACTIVATION)
        if norm is not None:
            return step.emit("layer_norm", y, norm, bias, axis=1, epsilon=_SMALLEST_VARIANCE)
        return step.emit("add", y, bias, **NO_ACTIVATION)

    def _advanced(self, rows: Sequence[Tensor | None], output: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        step, peepholes = self._step, self._peepholes
        _, f_row, new_row, o_row = rows
        if f_row is None or new_row is None or o_row is None:
            step.malformed("weights of a gate are missing")
        forget = step.emit("sigmoid", self._gate(1, f_row, output, peepholes[1], state))
        if rows[0] is None:
            update = step.emit("sub", step.constant(np.ones((), forget.dtype.numpy)), forget)
        else:
            update = step.emit("sigmoid", self._gate(0, rows[0], output, peepholes[0], state))
        new = step.emit(self._function, self._gate(2, new_row, output, None, state))
        kept = step.emit("mul", forget, state)
        state = self._limited(step.emit("add", kept, step.emit("mul", update, new), **NO_ACTIVATION), "cell_clip")
        open_ = step.emit("sigmoid", self._gate(3, o_row, output, peepholes[2], state))
        output = step.emit("mul", open_, step.emit(self._function, state))
        weights, bias = self._projection
        if weights is not None:
            given = bias if bias is not None else step.filled((channels(step, weights, 0),), 0, output.dtype)
            output = step.emit("fully_connected", output, weights, given, **NO_ACTIVATION)
            output = self._limited(output, "proj_clip")
        return output, state

    def _limited(self, x: Tensor, name: str) -> Tensor:
        limit = self._step.real(name, 0.0)
        return self._step.emit("clip", x, low=-limit, high=limit) if limit > 0 else x


def _turned(step: Step, y: Tensor) -> Tensor:
    """The last step first."""
    starts, steps = (y.shape[0] - 1, 0, 0), (-1, 1, 1)
    return step.emit("slice", y, starts=starts, steps=steps, sizes=y.shape)


# -- layers with one gate ----------------------------------------------------------------------------------------------
@handler("UNIDIRECTIONAL_SEQUENCE_RNN")
def rnn(step: Step) -> Tensor:
    """Inputs: x, the weights for it, those for the last output, the bias."""
    return stored(step, _in_order(step, _plain(step, _times_first(step), 1, reverse=False)))


@handler("BIDIRECTIONAL_SEQUENCE_RNN")
def rnn_both_ways(step: Step) -> Sequence[Tensor]:
    """Inputs: x, weights, bias and state of both directions, and what an earlier layer gave."""
    if any(step.optional(index) is not None for index in range(9, 12)):
        step.unsupported("an input besides x", "stack the layers one on another")
    x = _times_first(step)
    return _merged(step, [_plain(step, x, 1, reverse=False), _plain(step, x, 5, reverse=True)])


@handler("RNN")
def rnn_step(step: Step) -> Tensor:
    x = real(step, 0)
    y = _plain(step, step.reshape(x, (1, *x.shape)), 1, reverse=False)
    return stored(step, step.reshape(y, y.shape[1:]))


def _plain(step: Step, x: Tensor, first: int, reverse: bool) -> Tensor:
    """`first`: the place of the weights."""
    share = step.emit("fully_connected", x, real(step, first), real(step, first + 2), **NO_ACTIVATION)
    zeros = step.filled((1, channels(step, step.input(first + 1), 0)), 0, x.dtype)
    return _output(step, "rnn", [share, real(step, first + 1), zeros], 1, reverse)


# -- filters over what came before -------------------------------------------------------------------------------------
@handler("SVDF")
def filter_of_rank(step: Step) -> Sequence[Tensor]:
    """Inputs: x, weights [filters, in], weights over time [filters, memory], bias, state [batch, filters * memory].

    The state is what the filters gave in the last runs, the newest last; the new one is a second output.
    """
    column = step.emit("fully_connected", real(step, 0), real(step, 1), **NO_ACTIVATION)
    over_time, rank, quant = real(step, 2), step.integer("rank", 0), quantisation(step, 4)
    if quant is not None:
        column = dequantised(step, quantised(step, column, quant, step.input(4).dtype), quant)
    count, memory = (channels(step, over_time, axis) for axis in (0, 1))
    batch, filters = step.check_rank(column, 2, what="what the filters give").shape
    if rank < 1 or filters != count or count % rank:
        step.malformed(f"{count} filters over time for {filters} filters of rank {rank}")
    held = step.reshape(real(step, 4), (batch, count, memory))
    kept = step.emit("slice", held, starts=(0, 0, 1), steps=(1, 1, 1), sizes=(batch, count, memory - 1))
    state = step.emit("concat", kept, step.reshape(column, (batch, count, 1)), axis=2)
    weighed = step.emit("reduce_sum", step.emit("mul", state, over_time), axes=(2,), keepdims=False)
    shares = step.reshape(weighed, (batch, count // rank, rank))
    y = step.emit("reduce_sum", shares, axes=(2,), keepdims=False)
    bias = optional_real(step, 3)
    y = activated(step, y if bias is None else step.emit("add", y, bias, **NO_ACTIVATION))
    flat, output = step.reshape(state, (batch, count * memory)), stored(step, y)
    if quant is None:
        return [output, flat]
    kept = quantised(step, flat, quant, step.input(4).dtype)
    keep_svdf(step, output, kept)
    return [output, kept]


def _times_first(step: Step) -> Tensor:
    x = real(step, 0)
    if x.rank != 3:
        step.malformed(f"its input has rank {x.rank}, not 3")
    return x if step.integer("time_major", 0) else step.transpose(x, (1, 0, 2))


def _in_order(step: Step, y: Tensor) -> Tensor:
    return y if step.integer("time_major", 0) else step.transpose(y, (1, 0, 2))


def _merged(step: Step, directions: Sequence[Tensor]) -> Sequence[Tensor]:
    """Both directions beside each other, or as two outputs."""
    ordered = [_in_order(step, y) for y in directions]
    if step.integer("merge_outputs", 0):
        ordered = [step.emit("concat", *ordered, axis=2)]
    return [stored(step, y, index) for index, y in enumerate(ordered)]


def _joined(step: Step, parts: list[Tensor]) -> Tensor:
    if len({part.shape[1:] for part in parts}) > 1 or any(
        part.rank != parts[0].rank or not part.rank for part in parts
    ):
        step.malformed("the weights of its gates have different shapes")
    known = [part.content for part in parts if part.content is not None]
    if len(known) == len(parts):
        return step.constant(np.concatenate(known))
    return step.emit("concat", *parts, axis=0)


def _output(step: Step, op: str, inputs: list[Tensor], functions: int, reverse: bool) -> Tensor:
    """The outputs of all steps."""
    code = step.integer("fused_activation_function", 0)
    if code not in _FUNCTIONS:
        step.unsupported(f"the activation {code} in a recurrent layer", "use tanh or relu")
    own = _FUNCTIONS[code]
    words = {"function_f": "sigmoid", "function_g": own, "function_h": own} if functions == 3 else {"function_f": own}
    y, *_ = step.emit_all(op, *inputs, **words, clip=0.0, reverse=reverse)
    return y
