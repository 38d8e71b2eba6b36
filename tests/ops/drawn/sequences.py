"""Draws recurrent layers with the functions that they usually have."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from buildtool.ir.operator import Array
from buildtool.ops.gru import Gru
from buildtool.ops.lstm import Lstm
from buildtool.ops.rnn import Rnn
from tests.ops.case import OpCase
from tests.ops.drawn.numbers import CHANNELS, generators, scaled
from tests.ops.inputs import label, normal

_BATCHES = st.sampled_from((1, 1, 2, 3, 5, 6, 7, 8, 24, 25, 31, 50))
_SIZES = CHANNELS | st.sampled_from((96, 100, 127, 128, 131))


def _layer(
    draw: st.DrawFn, rng: np.random.Generator, gates: int, states: int
) -> tuple[str, list[Array], tuple[Array, ...]]:
    """What a layer reads up to its states, and lengths, some of them out of range, or none."""
    steps, batch, hidden = draw(st.integers(1, 9)), draw(_BATCHES), draw(_SIZES)
    starts = [normal(rng, (draw(st.sampled_from((1, batch))), hidden)) for _ in range(states)]
    inputs = [normal(rng, (steps, batch, gates * hidden)), scaled(rng, (gates * hidden, hidden), hidden), *starts]
    lengths = np.asarray(rng.integers(-1, steps + 2, batch), np.int32)
    return label((steps, batch, hidden)), inputs, (lengths,) if draw(st.integers(0, 2)) == 0 else ()


def _constants(draw: st.DrawFn, count: int) -> tuple[int, ...]:
    """Mostly the weights and what comes behind the first state."""
    return (1, *range(3, count)) if draw(st.integers(0, 4)) else ()


@st.composite
def gru(draw: st.DrawFn) -> OpCase:
    rng = draw(generators())
    name, inputs, lengths = _layer(draw, rng, 3, 1)
    op = Gru(function_f="sigmoid", reverse=draw(st.booleans()), linear_before_reset=draw(st.booleans()))
    inputs.append(normal(rng, inputs[1].shape[1:]))
    return OpCase(op, (*inputs, *lengths), name, _constants(draw, len(inputs)))


@st.composite
def lstm(draw: st.DrawFn) -> OpCase:
    rng = draw(generators())
    name, inputs, lengths = _layer(draw, rng, 4, 2)
    op = Lstm(function_f="sigmoid", reverse=draw(st.booleans()), input_forget=draw(st.integers(0, 3)) == 0)
    peepholes = draw(st.booleans())
    if lengths or peepholes:
        inputs.append(normal(rng, (3 * inputs[1].shape[1],)))
    return OpCase(op, (*inputs, *lengths), name, _constants(draw, len(inputs)))


@st.composite
def rnn(draw: st.DrawFn) -> OpCase:
    rng = draw(generators())
    name, inputs, lengths = _layer(draw, rng, 1, 1)
    op = Rnn(function_f=draw(st.sampled_from(("tanh", "tanh", "relu"))), reverse=draw(st.booleans()))
    return OpCase(op, (*inputs, *lengths), name, _constants(draw, len(inputs)))
