"""Recurrent layers whose gates are convolutions: one convolution of all steps at once, and a loop over the steps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from buildtool.importers.builder import Tensor
from buildtool.importers.keras.activation import activated
from buildtool.importers.keras.handlers.convolution import share_of_input, share_of_output
from buildtool.importers.keras.registry import handler
from buildtool.importers.keras.values import (
    floating,
    is_channels_first,
    keyword,
    plus,
    refuse_keywords,
    tensors,
)
from buildtool.importers.spatial import channels
from buildtool.importers.step import Step
from buildtool.ir.graph import Region
from buildtool.ir.types import DType, TensorType

_RANKS = {"ConvLSTM1D": 1, "ConvLSTM2D": 2, "ConvLSTM3D": 3}
_GATES = 4  # i, f, c, o


@handler(*_RANKS)
def convolutional_lstm(step: Step) -> list[Tensor]:
    rank = _RANKS[step.node.op]
    given = [floating(step, tensor) for tensor in (*tensors(step), *_named_states(step))]
    x, *states = [_channels_last(step, tensor) for tensor in given]
    if x.rank != rank + 3:
        step.malformed(f"its input has rank {x.rank}, not {rank + 3}")
    batch, count = x.shape[:2]
    if not isinstance(count, int):
        step.unsupported("a number of steps that is known only at run time", "fix the input shapes")
    flat = step.reshape(step.transpose(x, (1, 0, *range(2, x.rank))), (count * batch, *x.shape[2:]))
    made = share_of_input(step, flat, rank)
    units, rest = divmod(channels(step, made, -1), _GATES)
    if rest:
        step.malformed(f"{units * _GATES + rest} filters for {_GATES} gates")
    share = step.reshape(made, (count, batch, *made.shape[1:]))
    shape = (*share.shape[1:-1], units)
    if len(states) not in (0, 2):
        step.malformed(f"it is called with {len(states)} states, and has 2")
    zero = step.constant(np.zeros((), x.dtype.numpy))
    starts = states or [step.emit("broadcast_to", zero, shape=shape) for _ in range(2)]
    *last, sequence = _run(step, share, count, starts, rank)
    y = last[0]
    if step.integer("return_sequences", 0):
        y = step.transpose(sequence, (1, 0, *range(2, sequence.rank)))
    results = [y, *last] if step.integer("return_state", 0) else [y]
    return [_as_it_was(step, tensor, rank) for tensor in results]


def _named_states(step: Step) -> list[Tensor]:
    refuse_keywords(step, ("initial_state",))
    found = [keyword(step, word) for word in ("initial_state", "initial_state.0", "initial_state.1")]
    return [tensor for tensor in found if tensor is not None]


def _channels_last(step: Step, x: Tensor) -> Tensor:
    """The input has an axis more than the states, in front of the channels."""
    if not is_channels_first(step):
        return x
    axis = x.rank - _RANKS[step.node.op] - 1
    return step.transpose(x, (*range(axis), *range(axis + 1, x.rank), axis))


def _as_it_was(step: Step, y: Tensor, rank: int) -> Tensor:
    if not is_channels_first(step):
        return y
    axis = y.rank - rank - 1
    return step.transpose(y, (*range(axis), y.rank - 1, *range(axis, y.rank - 1)))


def _run(step: Step, share: Tensor, count: int, starts: Sequence[Tensor], rank: int) -> tuple[Tensor, ...]:
    """The last output, the last state, and the outputs of all steps in the order in which they were taken."""
    region = Region()
    number = step.taken(region, TensorType(DType.S64, ()))
    output, state = (step.taken(region, start.type) for start in starts)
    with step.inside(region):
        place = number
        if step.integer("go_backwards", 0):
            place = step.emit("sub", step.constant(np.array(count - 1)), number)
        row = step.emit("gather", share, place, axis=0)
        output, state = _advanced(step, row, output, state, rank)
    always = step.constant(np.array(True))
    step.give(region, [always, output, state, output])
    trips = step.constant(np.array(count, np.int64))
    return step.emit_regions("loop", [trips, always, *starts], [region], most=(count,), size=())


def _advanced(step: Step, row: Tensor, output: Tensor, state: Tensor, rank: int) -> tuple[Tensor, Tensor]:
    held = share_of_output(step, output, rank)
    if held.shape != row.shape:
        step.malformed(f"its input gives {list(row.shape)} to its gates, and its state {list(held.shape)}")
    if not step.has("recurrent_activation"):
        step.malformed("its 'recurrent_activation' is missing, which Keras 2 and 3 do not take for the same")
    gates = step.emit_all("split", plus(step, row, held), axis=row.rank - 1, sizes=(output.shape[-1],) * _GATES)
    update, forget, new, shown = gates
    update, forget, shown = (activated(step, gate, "recurrent_activation") for gate in (update, forget, shown))
    kept = step.emit("mul", forget, state)
    state = plus(step, kept, step.emit("mul", update, activated(step, new)))
    return step.emit("mul", shown, activated(step, state)), state
