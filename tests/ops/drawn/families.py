"""What is drawn: families of cases, most of them all that an operator takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import numpy as np
from hypothesis import strategies as st

from buildtool.ir.operator import Array
from buildtool.ops.layer_norm import LayerNorm
from buildtool.ops.registry import builtin
from buildtool.ops.rms_norm import RmsNorm
from tests.ops.case import OpCase
from tests.ops.drawn import elements, integers, pairs, products, sequences, windows
from tests.ops.drawn.drawing import distinct
from tests.ops.inputs import uniform

_UNARY: Mapping[str, tuple[object, ...]] = {  # with their attributes
    "relu": (),
    "clip": (-0.75, 1.5),
    "leaky_relu": (0.1,),
    "elu": (0.7,),
    "hard_sigmoid": (0.2, 0.5),
    "hard_swish": (),
    "sigmoid": (),
    "tanh": (),
    "swish": (),
    "exp": (),
    "erf": (),
}

# Families without a half: nothing computes these operators in half precision, or draws what only kernels of single
# precision need.
_SINGLE = (
    *(
        "layer_norm",
        "rms_norm",
        "group_norm",
        "batch_norm",
        "conv2d_7x7",
        "conv2d_few",
        "deconv2d_few",
        "attention",
        "gru",
        "lstm",
        "rnn",
        "softmax_rows",
        *(f"{name}_integer{sign}" for name in ("conv", "fully_connected") for sign in ("", "_signed")),
        "conv_integer_depthwise",
    ),
    *("dwconv2d_wide", "dwconv2d_7x7", "dwconv2d_3x3_mixed", "dwconv2d_5x5_mixed"),
)
_LARGEST_EXPONENT = 10.0  # of which exp has a half


def _away_from_zero(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    return uniform(rng, shape, 0.5, 4.0)


@cache
def families() -> Mapping[str, st.SearchStrategy[OpCase]]:
    """The strategy of every family. Its name is that of the operator, or begins with it."""
    make = builtin()
    found: dict[str, st.SearchStrategy[OpCase]] = {
        "conv2d": windows.conv2d(),
        "conv2d_winograd": windows.conv2d_winograd(),
        "conv2d_7x7": windows.conv2d_7x7(),
        "conv2d_few": windows.conv2d_few(),
        "conv2d_first": windows.conv2d_first(),
        "deconv2d": windows.deconv2d,
        "deconv2d_few": windows.deconv2d_few,
        "dwconv2d": windows.dwconv2d,
        "dwconv2d_wide": windows.dwconv2d_wide,
        "dwconv2d_3x3": windows.dwconv2d_3x3,
        "dwconv2d_5x5": windows.dwconv2d_5x5,
        "dwconv2d_7x7": windows.dwconv2d_7x7,
        "dwconv2d_3x3_mixed": windows.dwconv2d_3x3_mixed,
        "dwconv2d_5x5_mixed": windows.dwconv2d_5x5_mixed,
        "separable_conv2d": pairs.separable_conv2d,
        "separable_conv2d_3x3": pairs.separable_conv2d_3x3,
        "pointwise_dwconv2d": pairs.pointwise_dwconv2d,
        "pointwise_dwconv2d_3x3": pairs.pointwise_dwconv2d_3x3,
        "max_pool2d": windows.max_pool2d,
        "avg_pool2d": windows.avg_pool2d,
        "resize2d": windows.resize2d(),
        "fully_connected": products.fully_connected(),
        "matmul": products.matmul(),
        "fully_connected_integer": integers.fully_connected_integer(np.uint8),
        "fully_connected_integer_signed": integers.fully_connected_integer(np.int8),
        "conv_integer": integers.conv_integer(np.uint8),
        "conv_integer_signed": integers.conv_integer(np.int8),
        "conv_integer_depthwise": integers.conv_integer_depthwise(),
        "gru": sequences.gru(),
        "lstm": sequences.lstm(),
        "rnn": sequences.rnn(),
        "attention": sequences.attention(),
        "layer_norm": elements.row_norm(LayerNorm, 2),
        "rms_norm": elements.row_norm(RmsNorm, 1),
        "group_norm": elements.group_norm(),
        "batch_norm": elements.batch_norm(),
        "prelu": elements.prelu(),
        "transpose": elements.transpose(),
        "concat": elements.concat(),
        "gather_elements": elements.gather_elements(),
        "reduce_prod": elements.product_of_few(make["reduce_prod"]),
        "div": elements.binary(make["div"](), _away_from_zero),
    }
    for name, attributes in _UNARY.items():
        found[name] = elements.unary(make[name](*attributes))
    found["gelu"] = elements.unary(make["gelu"]("none")) | elements.unary(make["gelu"]("tanh"))  # type: ignore[call-arg]
    for name in ("add", "sub", "mul", "maximum", "minimum"):
        found[name] = elements.binary(make[name]())
    for name in ("softmax", "log_softmax"):
        found[name] = elements.along_axis(make[name])
    found["softmax_rows"] = elements.along_rows(make["softmax"])
    for name in ("reduce_sum", "reduce_mean", "reduce_max", "reduce_min"):
        found[name] = elements.reduction(make[name])
    halves = {name: strategy.map(in_half) for name, strategy in found.items() if name not in _SINGLE}
    halves["exp"] = elements.unary(make["exp"](), _LARGEST_EXPONENT).map(in_half)
    return found | {f"{name}_half": strategy for name, strategy in halves.items()}


def in_half(case: OpCase) -> OpCase:
    """The case with all numbers of single precision in half."""
    inputs = tuple(array.astype(np.float16) if array.dtype == np.float32 else array for array in case.inputs)
    return replace(case, inputs=inputs)


def drawn(family: str, count: int) -> list[OpCase]:
    """So many different cases, the same ones every time."""
    return [
        replace(case, name=f"drawn_{family}_{number}_{case.name}")
        for number, case in enumerate(distinct(family, families()[family], count, _what))
    ]


def _what(case: OpCase) -> str:
    return f"{case.op} {[array.shape for array in case.inputs]} {case.constants}"
