"""Draws products and convolutions of bytes whose zero points are operands."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from buildtool.ops.conv_integer import ConvInteger
from buildtool.ops.fully_connected_integer import FullyConnectedInteger
from tests.ops.case import OpCase
from tests.ops.drawn.numbers import ACTIVATIONS, BATCHES, CHANNELS, generators
from tests.ops.drawn.windows import along_axis, windows_of
from tests.ops.inputs import label, normal
from tests.ops.quantised import whole_range, zero_point

_DEPTHS = CHANNELS | st.sampled_from((127, 256, 257, 521))
_LEAST_DEPTH = 8  # of groups, for kernels that multiply panels


@st.composite
def fully_connected_integer(draw: st.DrawFn, dtype: type) -> OpCase:
    leading = draw(st.lists(st.integers(1, 4), max_size=3).map(tuple) | st.tuples(CHANNELS))
    depth, outputs, rng = draw(_DEPTHS), draw(CHANNELS | st.sampled_from((131, 259))), draw(generators())
    zeros, scales = (draw(st.sampled_from(((), (outputs,)))) for _ in range(2))
    of_w = np.zeros(zeros, np.int8) if draw(st.booleans()) else whole_range(rng, zeros, np.int8)
    inputs = (
        whole_range(rng, (*leading, depth), dtype),
        whole_range(rng, (outputs, depth), np.int8),
        whole_range(rng, (), dtype),
        of_w,
        np.asarray(rng.uniform(0.5, 2.0, scales) / (6000.0 * depth), np.float32),
        normal(rng, (outputs,)),
    )
    operands, constants = draw(st.sampled_from((5, 6))), draw(st.sampled_from(((1,), (1, 3), (1, 3, 5))))
    op = FullyConnectedInteger(**draw(ACTIVATIONS))
    name = label((*leading, depth), "to", outputs)
    return OpCase(op, inputs[:operands], name, tuple(index for index in constants if index < operands))


@st.composite
def conv_integer(draw: st.DrawFn, dtype: type) -> OpCase:
    axes = [draw(along_axis(st.sampled_from((1, 1, 2, 3, 3, 5)))) for _ in range(2)]
    groups = draw(st.sampled_from((1, 1, 1, 2, 3)))
    depth, outputs = draw(CHANNELS) + (_LEAST_DEPTH if groups > 1 else 0), draw(CHANNELS) * groups
    image = (draw(BATCHES), axes[0]["size"], axes[1]["size"], depth * groups)
    filters, rng = (outputs, axes[0]["kernel"], axes[1]["kernel"], depth), draw(generators())
    zeros = draw(st.sampled_from(((), (outputs,))))
    of_w = np.zeros(zeros, np.int8) if draw(st.booleans()) else zero_point(rng, zeros, np.int8)
    inputs = (whole_range(rng, image, dtype), whole_range(rng, filters, np.int8), whole_range(rng, (), dtype), of_w)
    op = ConvInteger(groups=groups, **windows_of(axes))
    return OpCase(op, inputs, label(image, "by", filters), draw(st.sampled_from(((1,), (1, 3)))))


@st.composite
def conv_integer_depthwise(draw: st.DrawFn) -> OpCase:
    axes = [draw(along_axis(st.sampled_from((1, 2, 3, 3, 5, 5, 7)))) for _ in range(2)]
    channels, rng = draw(CHANNELS), draw(generators())
    image = (draw(BATCHES), axes[0]["size"], axes[1]["size"], channels)
    filters = (channels, axes[0]["kernel"], axes[1]["kernel"], 1)
    types = draw(st.tuples(*[st.sampled_from((np.int8, np.uint8))] * 2))
    bytes_ = [whole_range(rng, shape, dtype) for shape, dtype in zip((image, filters), types, strict=True)]
    zeros = [zero_point(rng, (), types[0]), zero_point(rng, draw(st.sampled_from(((), (channels,)))), types[1])]
    op = ConvInteger(groups=channels, **windows_of(axes))
    return OpCase(op, (*bytes_, *zeros), label(image, "by", filters), draw(st.sampled_from(((), (1, 3)))))
