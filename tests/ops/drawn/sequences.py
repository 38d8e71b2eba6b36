"""Draws recurrent layers with the functions that they usually have, and attention."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from buildtool.ir.operator import Array
from buildtool.ops.attention import Attention
from buildtool.ops.gru import Gru
from buildtool.ops.lstm import Lstm
from buildtool.ops.rnn import Rnn
from tests.ops.case import OpCase
from tests.ops.cases.attention import causal, matrix
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


@st.composite
def attention(draw: st.DrawFn) -> OpCase:
    rng = draw(generators())
    batch, groups, shared = draw(st.integers(1, 2)), draw(st.integers(1, 3)), draw(st.sampled_from((1, 1, 2, 3)))
    queries = draw(st.integers(1, 6) | CHANNELS | st.sampled_from((72, 73, 90, 145)))
    keys = draw(CHANNELS | st.sampled_from((127, 128, 300, 1100)))
    depth, width = draw(CHANNELS), draw(CHANNELS)
    firsts = tuple(draw(st.integers(0, 1)) for _ in range(4))
    inputs = [
        matrix(rng, (batch, groups * shared, queries, depth), firsts[0]),
        matrix(rng, (batch, groups, keys, depth), firsts[1]),
        matrix(rng, (batch, groups, keys, width), firsts[2]),
    ]
    mask = draw(st.sampled_from(("none", "none", "causal", "bias")))
    if mask == "causal":
        inputs.append(causal(queries, keys, -np.inf))
    if mask == "bias":
        sizes = (batch, groups * shared, queries)
        inputs.append(normal(rng, (*(draw(st.sampled_from((1, size))) for size in sizes), keys)))
    name = label((batch, groups * shared, groups), (queries, keys), (depth, width), mask, *firsts)
    return OpCase(Attention(depth**-0.5, firsts), tuple(inputs), name)
