"""Draws convolutions, pools and pictures of other sizes."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from buildtool.ops.avg_pool2d import AvgPool2d
from buildtool.ops.conv2d import Conv2d
from buildtool.ops.deconv2d import Deconv2d
from buildtool.ops.dwconv2d import DwConv2d
from buildtool.ops.max_pool2d import MaxPool2d
from buildtool.ops.resize2d import COORDINATES, ROUNDINGS, Resize2d
from tests.ops.case import OpCase
from tests.ops.drawn.numbers import ACTIVATIONS, BATCHES, CHANNELS, generators, scaled
from tests.ops.inputs import label, normal


@st.composite
def along_axis(
    draw: st.DrawFn, kernels: st.SearchStrategy[int], most_stride: int = 3, most_dilation: int = 3
) -> dict[str, Any]:
    """One axis of a window: its size, steps, pads on both sides, and an image in which it has a place."""
    kernel, stride = draw(kernels), draw(st.integers(1, most_stride))
    dilation = draw(st.just(1) | st.integers(1, most_dilation))
    extent = (kernel - 1) * dilation + 1
    pads = draw(st.tuples(*[st.just(0) | st.just(kernel // 2) | st.integers(0, 4)] * 2))
    pads = (min(pads[0], extent - 1), min(pads[1], extent - 1))  # pools allow no more
    size = draw(st.integers(max(1, extent - sum(pads)), extent + 12) | st.just(max(1, extent - sum(pads))))
    return {"kernel": kernel, "stride": stride, "dilation": dilation, "pads": pads, "size": size}


def windows_of(axes: list[dict[str, Any]]) -> dict[str, Any]:
    """The attributes of an operator with a window."""
    (top, bottom), (left, right) = (axis["pads"] for axis in axes)
    return {
        "strides": tuple(axis["stride"] for axis in axes),
        "dilations": tuple(axis["dilation"] for axis in axes),
        "pads": (top, left, bottom, right),
    }


def _constants(draw: st.DrawFn, operands: int, always: bool = False) -> tuple[int, ...]:
    """The filter and the bias come with the model, as a rule."""
    return tuple(range(1, min(operands, 3))) if always or draw(st.integers(0, 4)) else ()


@st.composite
def conv2d(draw: st.DrawFn) -> OpCase:
    axes = [draw(along_axis(st.sampled_from((1, 1, 2, 3, 3, 4, 5, 7)))) for _ in range(2)]
    if draw(st.booleans()):  # the most frequent ones, of which a draw of everything has few
        axes[1] = axes[0]
    groups = draw(st.sampled_from((1, 1, 1, 1, 2, 3, 5)))
    depth, outputs = draw(CHANNELS), draw(CHANNELS) * groups
    activation, operands = draw(ACTIVATIONS), draw(st.sampled_from((2, 3, 3, 4)))
    op = Conv2d(groups=groups, **windows_of(axes), **activation)
    image = (draw(BATCHES), axes[0]["size"], axes[1]["size"], depth * groups)
    return _convolution(draw, op, image, (outputs, axes[0]["kernel"], axes[1]["kernel"], depth), operands)


@st.composite
def conv2d_winograd(draw: st.DrawFn) -> OpCase:
    """What the kernels for transformed filters do: windows of 3 x 3 that move by 1."""
    pads = draw(st.tuples(*[st.sampled_from((0, 1, 1, 1, 2, 3))] * 4))
    shape = [max(3 - pads[axis] - pads[axis + 2], draw(st.integers(1, 24))) for axis in (0, 1)]
    if draw(st.integers(0, 3)) == 0:  # many tiles
        shape = [draw(st.integers(33, 57)) for _ in range(2)]
        depth, outputs = draw(st.integers(1, 9)), draw(st.integers(1, 17))
    else:
        depth, outputs = draw(CHANNELS | st.just(259)), draw(CHANNELS | st.just(131))
    activation, operands = draw(ACTIVATIONS), draw(st.sampled_from((2, 3, 3, 4)))
    image = (draw(BATCHES), *shape, depth)
    op = Conv2d(pads=pads, **activation)
    return _convolution(draw, op, image, (outputs, 3, 3, depth), operands, constant=True)


@st.composite
def conv2d_few(draw: st.DrawFn) -> OpCase:
    """What the kernels for few outputs do: windows of one pixel."""
    image = (draw(BATCHES), draw(st.integers(1, 40)), draw(st.integers(1, 70)), draw(CHANNELS) + 7)
    operands = draw(st.sampled_from((2, 3, 3, 4)))
    op = Conv2d(**draw(ACTIVATIONS))
    return _convolution(draw, op, image, (draw(st.integers(1, 4)), 1, 1, image[3]), operands, constant=True)


@st.composite
def conv2d_first(draw: st.DrawFn) -> OpCase:
    """What products of few channels do, line by line: high images."""
    axes = [draw(along_axis(st.sampled_from((1, 2, 3, 3, 3, 5, 6)))) for _ in range(2)]
    height = axes[0]["size"] + draw(st.sampled_from((0, 11, 50, 130)))
    depth, outputs = draw(st.integers(1, 4)), draw(CHANNELS)
    activation, operands = draw(ACTIVATIONS), draw(st.sampled_from((2, 3, 3, 4)))
    op = Conv2d(**windows_of(axes), **activation)
    image = (draw(BATCHES), height, axes[1]["size"], depth)
    return _convolution(draw, op, image, (outputs, axes[0]["kernel"], axes[1]["kernel"], depth), operands)


@st.composite
def conv2d_7x7(draw: st.DrawFn) -> OpCase:
    """What the kernels for squares of pixels do: windows of 7 x 7 that move by 2, of few channels."""
    pads = draw(st.tuples(*[st.sampled_from((0, 1, 2, 3, 3, 3, 4, 7))] * 4))
    longest = draw(st.sampled_from((24, 24, 24, 131)))
    shape = [max(7 - pads[axis] - pads[axis + 2], draw(st.integers(1, longest))) for axis in (0, 1)]
    depth, outputs = draw(st.integers(1, 4)), draw(st.integers(1, 40) if longest > 24 else CHANNELS | st.just(131))
    activation, operands = draw(ACTIVATIONS), draw(st.sampled_from((2, 3, 3, 4)))
    op = Conv2d(strides=(2, 2), pads=pads, **activation)
    return _convolution(draw, op, (draw(BATCHES), *shape, depth), (outputs, 7, 7, depth), operands, constant=True)


def _convolution(
    draw: st.DrawFn,
    op: Conv2d,
    image: tuple[int, ...],
    filters: tuple[int, ...],
    operands: int,
    constant: bool = False,
) -> OpCase:
    rng = draw(generators())
    result = [image[0]]
    for axis in (0, 1):
        room = image[1 + axis] + op.pads[axis] + op.pads[axis + 2] - (filters[1 + axis] - 1) * op.dilations[axis] - 1
        result.append(room // op.strides[axis] + 1)
    terms = filters[1] * filters[2] * filters[3]
    inputs = (
        normal(rng, image),
        scaled(rng, filters, terms),
        normal(rng, filters[:1]),
        normal(rng, (*result, filters[0])),
    )
    constants = _constants(draw, operands, always=constant)
    return OpCase(op, inputs[:operands], label(image, "by", filters), constants)


def _deconv2d(few: bool) -> st.SearchStrategy[OpCase]:
    """`few`: only what the kernels for few outputs take."""

    @st.composite
    def case(draw: st.DrawFn) -> OpCase:
        axes = [draw(along_axis(st.sampled_from((1, 2, 3, 4, 5)), most_dilation=2)) for _ in range(2)]
        apart = draw(st.integers(0, 2)) == 0  # outputs of which one tap reaches each
        for axis in axes:  # the pads take away from the result, which is to have something left
            axis["pads"] = (0, 0) if apart else (axis["pads"][0] // 2, axis["pads"][1] // 2)
            if apart:
                axis |= {"stride": axis["kernel"], "dilation": 1}
        axes[1]["size"] += draw(st.just(0) | st.integers(20, 90))
        groups = 1 if few else draw(st.sampled_from((1, 1, 1, 2, 3)))
        depth = draw(CHANNELS.map(lambda channels: 8 + channels) if few else CHANNELS)
        outputs = draw(st.integers(1, 4 if few else 20)) * groups
        rng = draw(generators())
        image = (draw(BATCHES), axes[0]["size"], axes[1]["size"], depth * groups)
        filters = (outputs, axes[0]["kernel"], axes[1]["kernel"], depth)
        op = Deconv2d(groups=groups, **windows_of(axes), **draw(ACTIVATIONS))
        inputs = (normal(rng, image), scaled(rng, filters, filters[1] * filters[2] * depth), normal(rng, (outputs,)))
        operands = draw(st.sampled_from((2, 3)))
        return OpCase(op, inputs[:operands], label(image, "by", filters), _constants(draw, operands, always=few))

    return case()


deconv2d = _deconv2d(few=False)
deconv2d_few = _deconv2d(few=True)


def _depthwise(kernels: tuple[int, ...], fitting: bool, mixed: bool = False) -> st.SearchStrategy[OpCase]:
    """`fitting`: only what the kernels for one window take, which is square and moves by 1 or 2, both ways alike or, if
    `mixed`, not."""

    @st.composite
    def case(draw: st.DrawFn) -> OpCase:
        most = (2, 1) if fitting else (3, 3)
        size = st.just(draw(st.sampled_from(kernels))) if fitting else st.sampled_from(kernels)
        axes = [draw(along_axis(size, *most)) for _ in range(2)]
        multiplier = 1 if fitting else draw(st.sampled_from((1, 1, 1, 2, 3)))
        if fitting:
            axes[1]["stride"] = 3 - axes[0]["stride"] if mixed else axes[0]["stride"]
            axes[1]["size"] += draw(st.integers(0, 40))
        channels = draw(st.integers(16, 90) if fitting else CHANNELS)
        rng = draw(generators())
        op = DwConv2d(multiplier=multiplier, **windows_of(axes), **draw(ACTIVATIONS))
        image = (draw(BATCHES), axes[0]["size"], axes[1]["size"], channels)
        filters = (axes[0]["kernel"], axes[1]["kernel"], channels * multiplier)
        inputs = (normal(rng, image), scaled(rng, filters, filters[0] * filters[1]), normal(rng, filters[2:]))
        operands = draw(st.sampled_from((2, 3)))
        return OpCase(op, inputs[:operands], label(image, "by", filters), _constants(draw, operands))

    return case()


dwconv2d = _depthwise((1, 2, 3, 4, 5, 7), fitting=False)
dwconv2d_wide = _depthwise((1, 2, 3, 4, 5, 7), fitting=True)
dwconv2d_3x3 = _depthwise((3,), fitting=True)
dwconv2d_5x5 = _depthwise((5,), fitting=True)
dwconv2d_7x7 = _depthwise((7,), fitting=True)
dwconv2d_3x3_mixed = _depthwise((3,), fitting=True, mixed=True)
dwconv2d_5x5_mixed = _depthwise((5,), fitting=True, mixed=True)


@st.composite
def _pool(draw: st.DrawFn, kind: type[MaxPool2d | AvgPool2d]) -> OpCase:
    axes = [draw(along_axis(st.sampled_from((1, 2, 2, 3, 3, 5, 7)))) for _ in range(2)]
    attributes = windows_of(axes) | {"kernel": tuple(axis["kernel"] for axis in axes), "ceil_mode": draw(st.booleans())}
    if kind is AvgPool2d:
        attributes["count_include_pad"] = draw(st.booleans())
    shape = (draw(BATCHES), axes[0]["size"], axes[1]["size"], draw(CHANNELS))
    return OpCase(kind(**attributes), (normal(draw(generators()), shape),), label(shape))


max_pool2d = _pool(MaxPool2d)
avg_pool2d = _pool(AvgPool2d)


@st.composite
def resize2d(draw: st.DrawFn) -> OpCase:
    shape = (draw(BATCHES), draw(st.integers(1, 17)), draw(st.integers(1, 17)), draw(CHANNELS))
    size = (draw(st.integers(1, 40)), draw(st.integers(1, 40)))
    scales = (size[0] / shape[1], size[1] / shape[2])
    mode, coordinates = draw(st.sampled_from(("nearest", "linear"))), draw(st.sampled_from(COORDINATES))
    op = Resize2d(size, scales, mode, coordinates, draw(st.sampled_from(ROUNDINGS)))
    return OpCase(op, (normal(draw(generators()), shape),), label(shape, "to", size))
