"""Cases of nodes on quantised numbers: a graph each, what goes in, and what has to come out."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from buildtool.ir.types import DType, QuantType
from buildtool.ops.conv2d import Conv2d
from buildtool.ops.fully_connected import FullyConnected
from buildtool.ops.requantize import Requantize
from tests.ops import stored_elements, stored_images
from tests.ops.inputs import Rng
from tests.ops.native_cases import NativeCase
from tests.ops.stored_case import ACTIVATIONS, Operand, bias_of, one_scale, stored_case, whole, word_of


def stored_cases(operator: str) -> Iterator[NativeCase]:
    """The cases of an operator, the same ones every time."""
    maker = MAKERS.get(operator)
    if maker is not None:
        yield from maker(np.random.default_rng(zlib.crc32(f"stored {operator}".encode())))


def _requantize(rng: Rng) -> Iterator[NativeCase]:
    shapes = ((1,), (7,), (16,), (17,), (64,), (3, 5), (2, 3, 31), (1, 8, 8, 3), (0, 4), ())
    types: tuple[Any, ...] = (np.int8, np.uint8, np.int16, np.uint16)
    for number, shape in enumerate(shapes):
        for kind in types[: 4 if number % 2 else 2]:
            word = DType(word_of(np.zeros(0, kind)))
            quant = one_scale(rng, kind)
            real = (rng.normal(size=shape) * quant.scales[0] * 2 ** (quant.bits - 2)).astype(np.float32)
            yield stored_case(f"{number}_to_{word.value}", Requantize(), [Operand(real, None)], (word, quant))
            given = Operand(np.asarray(whole(rng, shape, kind)), quant)
            yield stored_case(f"{number}_from_{word.value}", Requantize(), [given], None)
            other = types[int(rng.integers(4))]
            to = (DType(word_of(np.zeros(0, other))), one_scale(rng, other))
            yield stored_case(f"{number}_between_{word.value}_{to[0].value}", Requantize(), [given], to)
    strange = np.asarray([np.nan, np.inf, -np.inf, 1e30, -1e30, -0.0, 0.5, 1.5] * 5, np.float32)
    for kind in types:
        word, quant = DType(word_of(np.zeros(0, kind))), one_scale(rng, kind, 1.0, 1.0)
        yield stored_case(f"strange_to_{word.value}", Requantize(), [Operand(strange, None)], (word, quant))


# image [N, H, W, C], filters [O, KH, KW], strides, pads, dilations, groups
_GEOMETRIES: tuple[tuple[Any, ...], ...] = (
    ((1, 1, 1, 1), (1, 1, 1), 1, 0, 1, 1),
    ((1, 5, 7, 3), (8, 3, 3), 2, 1, 1, 1),
    ((2, 4, 4, 4), (16, 1, 1), 1, 0, 1, 1),
    ((1, 7, 7, 8), (17, 1, 1), 1, 0, 1, 1),
    ((1, 7, 7, 64), (64, 1, 1), 1, 0, 1, 1),
    ((1, 3, 3, 65), (79, 1, 1), 1, 0, 1, 1),
    ((1, 1, 49, 32), (33, 1, 1), 1, 0, 1, 1),
    ((3, 9, 5, 6), (10, 3, 3), 1, 1, 1, 2),
    ((1, 6, 6, 12), (36, 3, 3), 1, 1, 1, 3),
    ((1, 11, 11, 5), (5, 5, 5), 1, 2, 1, 1),
    ((1, 9, 9, 7), (13, 3, 2), 1, 1, 2, 1),
    ((1, 8, 8, 16), (48, 3, 3), 1, 1, 1, 1),
    ((1, 14, 14, 2), (65, 3, 3), 2, 0, 1, 1),
    ((1, 2, 2, 130), (20, 2, 2), 1, 0, 1, 1),
    ((1, 10, 10, 4), (4, 3, 3), 1, 1, 1, 4),
    ((1, 5, 5, 31), (31, 1, 1), 2, 0, 1, 1),
    ((1, 13, 13, 9), (24, 3, 3), 1, 2, 2, 1),
    ((2, 3, 17, 10), (112, 1, 3), 1, 1, 1, 1),
    ((1, 4, 4, 257), (6, 1, 1), 1, 0, 1, 1),
    ((1, 12, 1, 3), (2, 3, 1), 1, 0, 1, 1),
    ((1, 7, 7, 24), (64, 7, 7), 1, 3, 1, 1),
    ((2, 13, 15, 3), (19, 7, 7), 2, 3, 1, 1),
    ((2, 7, 9, 1), (18, 1, 1), 1, 0, 1, 1),
    ((1, 1, 2, 2), (20, 1, 1), 1, 0, 1, 1),
    ((1, 8, 9, 18), (33, 3, 3), 1, 1, 1, 1),
    ((1, 9, 7, 72), (16, 1, 1), 1, 0, 1, 1),
    ((1, 6, 5, 58), (58, 1, 1), 1, 0, 1, 1),
    ((1, 6, 5, 8), (8, 3, 3), 1, 1, 1, 8),
    ((1, 5, 4, 42), (51, 1, 1), 1, 0, 1, 3),
    ((0, 5, 6, 3), (4, 3, 3), 2, 1, 1, 1),
    ((1, 25, 23, 3), (9, 3, 3), 1, 1, 1, 1),
    ((2, 5, 2, 261), (5, 3, 3), 1, 2, 1, 1),
)


def _conv2d(rng: Rng) -> Iterator[NativeCase]:
    for number, geometry in enumerate(_GEOMETRIES):
        for turn, activation in enumerate(ACTIVATIONS):
            yield _convolution(rng, f"{number}_{turn}", geometry, activation, turn, -127 - turn // 2)


def _convolution(
    rng: Rng, name: str, geometry: tuple[Any, ...], activation: Mapping[str, Any], turn: int, least: int
) -> NativeCase:
    """`turn`: 0 has a bias, 2 a residual besides. Filters of `least` -128 are not what networks have."""
    bias, residual = turn != 1, turn == 2
    image, (outputs, *kernel), stride, pad, dilation, groups = geometry
    of_x = one_scale(rng)
    scales = tuple(float(np.float32(scale)) for scale in rng.uniform(0.002, 0.02, outputs))
    of_w = QuantType(scales, (0,) * outputs, 0)
    depth = kernel[0] * kernel[1] * image[3] // groups
    # As large as sums of products are: most results are inside of what a byte holds.
    of_y = replace(one_scale(rng), scales=(float(np.float32(of_x.scales[0] * 0.01 * 60 * 60 * np.sqrt(depth) / 64)),))
    operands = [
        Operand(whole(rng, image), of_x),
        Operand(np.maximum(whole(rng, (outputs, *kernel, image[3] // groups)), least).astype(np.int8), of_w, True),
    ]
    if bias or residual:
        operands.append(bias_of(rng, of_x, scales))
    top, left = pad, pad if kernel[1] > 1 else 0
    op = Conv2d(
        strides=(stride, stride),
        pads=(top if kernel[0] > 1 else 0, left, max(top - 1, 0) if kernel[0] > 1 else 0, left),
        dilations=(dilation, dilation),
        groups=groups,
        **activation,
    )
    result = (DType.S8, of_y)
    if not residual:
        return stored_case(name, op, operands, result)
    plain = stored_case(name, op, operands, result)
    like = Operand(whole(rng, plain.expected[0].shape), replace(one_scale(rng), scales=of_y.scales))
    return stored_case(name, op, [*operands, like], result)


def _fully_connected(rng: Rng) -> Iterator[NativeCase]:
    shapes = ((1,), (3,), (1, 4), (1, 5), (2, 16), (3, 17), (1, 64), (7, 64), (13, 30), (50, 12), (2, 3, 20), (4, 129))
    for number, shape in enumerate(shapes):
        for turn, outputs in enumerate((1, 16, 77)):
            of_x = one_scale(rng)
            scales = tuple(float(np.float32(scale)) for scale in rng.uniform(0.002, 0.02, outputs))
            of_y = replace(one_scale(rng), scales=(float(np.float32(of_x.scales[0] * 0.5 * np.sqrt(shape[-1]))),))
            w = np.maximum(whole(rng, (outputs, shape[-1])), -127).astype(np.int8)
            operands = [
                Operand(whole(rng, shape), of_x),
                Operand(w, QuantType(scales, (0,) * outputs, 0), True),
            ]
            if turn:
                operands.append(bias_of(rng, of_x, scales))
            op = FullyConnected(**ACTIVATIONS[turn])
            yield stored_case(f"{number}_{outputs}", op, operands, (DType.S8, of_y))


#: Functions of one number, which kernels look up in tables.
FUNCTIONS = (
    *("abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "celu", "clip", "cos", "cosh", "elu", "erf"),
    *("exp", "floor", "gelu", "hard_sigmoid", "hard_swish", "leaky_relu", "log", "mish", "neg", "reciprocal", "relu"),
    *("round", "selu", "shrink", "sigmoid", "sign", "sin", "sinh", "softplus", "softsign", "sqrt", "swish", "tan"),
    *("tanh", "thresholded_relu"),
)
#: What moves or compares numbers that are stored in one way.
MOVES = (
    *("argmax", "argmin", "broadcast_to", "depth_to_space", "equal", "gather", "gather_elements"),
    *("gather_nd", "identity", "less", "less_equal", "maximum", "minimum", "reduce_max", "reduce_min", "reshape"),
    *("reverse_sequence", "slice", "space_to_depth", "split", "tile", "topk", "transpose"),
)
MAKERS: Mapping[str, Callable[[Rng], Iterator[NativeCase]]] = {
    **{name: partial(stored_elements.function, operator=name) for name in FUNCTIONS},
    **{name: partial(stored_elements.moved, operator=name) for name in MOVES},
    "add": stored_elements.add,
    "avg_pool2d": stored_images.avg_pool2d,
    "concat": stored_elements.concat,
    "conv2d": _conv2d,
    "dwconv2d": stored_images.dwconv2d,
    "fully_connected": _fully_connected,
    "max_pool2d": stored_images.max_pool2d,
    "mul": stored_elements.mul,
    "pad": stored_elements.pad,
    "reduce_mean": stored_images.reduce_mean,
    "requantize": _requantize,
    "resize2d": stored_images.resize2d,
    "softmax": stored_elements.softmax,
    "sub": stored_elements.sub,
}
