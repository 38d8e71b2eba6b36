"""Draws pairs of convolutions that are computed in one."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from buildtool.ops.pointwise_dwconv2d import PointwiseDwConv2d
from buildtool.ops.separable_conv2d import SeparableConv2d
from tests.ops.case import OpCase
from tests.ops.drawn.numbers import ACTIVATIONS, BATCHES, CHANNELS, generators, scaled
from tests.ops.drawn.windows import along_axis, windows_of
from tests.ops.inputs import label, normal

Pair = type[SeparableConv2d | PointwiseDwConv2d]


@st.composite
def _pair(draw: st.DrawFn, kind: Pair, fitting: bool) -> OpCase:
    """`fitting`: only what the kernels for one window take, which is of 3 x 3 and moves by 1 or 2 both ways."""
    most = (2, 1) if fitting else (3, 2)
    size = st.just(3) if fitting else st.sampled_from((1, 2, 3, 4, 5, 7))
    axes = [draw(along_axis(size, *most)) for _ in range(2)]
    if fitting:
        axes[1]["stride"] = axes[0]["stride"]
        axes[1]["size"] += draw(st.integers(0, 40))
    channels = draw(st.integers(16, 90) if fitting else CHANNELS)  # of the depthwise convolution
    others = draw(CHANNELS)
    separable = kind is SeparableConv2d
    rng = draw(generators())
    inner = "depthwise" if separable else "pointwise"
    activations = draw(ACTIVATIONS), draw(ACTIVATIONS)
    attributes: dict[str, Any] = {f"{inner}_{name}": value for name, value in activations[0].items()}
    op = kind(**windows_of(axes), **activations[1], **attributes)
    inputs_of_first, outputs = (channels, others) if separable else (others, channels)
    image = (draw(BATCHES), axes[0]["size"], axes[1]["size"], inputs_of_first)
    filters = (others if separable else channels, 1, 1, inputs_of_first)
    window = (axes[0]["kernel"], axes[1]["kernel"], channels)
    inputs = [
        normal(rng, image),
        scaled(rng, filters, inputs_of_first),
        normal(rng, filters[:1]),
        scaled(rng, window, window[0] * window[1]),
        normal(rng, window[2:]),
    ]
    case = OpCase(op, tuple(inputs), label(image, "by", window, "to", outputs), (1, 2, 3, 4))
    if separable and draw(st.booleans()):
        inputs.append(normal(rng, op.infer(case.types)[0].shape))  # type: ignore[arg-type]
    return OpCase(op, tuple(inputs), case.name, case.constants)


separable_conv2d = _pair(SeparableConv2d, fitting=False)
separable_conv2d_3x3 = _pair(SeparableConv2d, fitting=True)
pointwise_dwconv2d = _pair(PointwiseDwConv2d, fitting=False)
pointwise_dwconv2d_3x3 = _pair(PointwiseDwConv2d, fitting=True)
