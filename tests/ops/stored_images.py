"""Cases of operators on quantised images: depthwise convolutions, pools, means and images of another size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from buildtool.ir.types import DType, QuantType
from buildtool.ops.avg_pool2d import AvgPool2d
from buildtool.ops.dwconv2d import DwConv2d
from buildtool.ops.max_pool2d import MaxPool2d
from buildtool.ops.reduce_mean import ReduceMean
from buildtool.ops.resize2d import Resize2d
from tests.ops.inputs import Rng
from tests.ops.native_cases import NativeCase
from tests.ops.pools import POOLS
from tests.ops.stored_case import ACTIVATIONS, Operand, bias_of, one_scale, stored_case, whole

# image [N, H, W, C], filter [KH, KW], multiplier, stride, pads, dilation
_DEPTHWISE: tuple[tuple[Any, ...], ...] = (
    ((1, 1, 1, 1), (1, 1), 1, 1, (0, 0, 0, 0), 1),
    ((1, 5, 7, 3), (3, 3), 1, 1, (1, 1, 1, 1), 1),
    ((1, 7, 5, 31), (3, 3), 1, 2, (1, 1, 1, 1), 1),
    ((2, 4, 4, 32), (3, 3), 1, 1, (1, 1, 1, 1), 1),
    ((1, 8, 8, 33), (3, 3), 1, 2, (0, 0, 1, 1), 1),
    ((1, 6, 9, 63), (3, 3), 1, 1, (0, 0, 0, 0), 1),
    ((1, 9, 9, 64), (3, 3), 1, 2, (1, 1, 0, 0), 1),
    ((1, 7, 7, 65), (3, 3), 1, 1, (2, 2, 2, 2), 1),
    ((1, 6, 6, 96), (3, 3), 1, 1, (1, 1, 1, 1), 1),
    ((1, 6, 6, 97), (3, 3), 1, 2, (2, 1, 2, 1), 1),
    ((1, 3, 3, 144), (3, 3), 1, 1, (1, 1, 1, 1), 1),
    ((1, 5, 5, 58), (3, 3), 1, 2, (1, 1, 1, 1), 1),
    ((1, 1, 1, 130), (3, 3), 1, 1, (1, 1, 1, 1), 1),
    ((1, 2, 3, 24), (3, 3), 1, 2, (1, 1, 1, 1), 1),
    ((1, 9, 8, 17), (5, 5), 1, 1, (2, 2, 2, 2), 1),
    ((1, 9, 9, 16), (3, 3), 1, 1, (2, 2, 2, 2), 2),
    ((1, 6, 7, 5), (3, 2), 2, 1, (1, 0, 1, 1), 1),
    ((1, 6, 6, 1), (3, 3), 16, 2, (1, 1, 1, 1), 1),
    ((1, 11, 3, 40), (7, 1), 1, 1, (3, 0, 3, 0), 1),
    ((1, 8, 8, 20), (3, 3), 1, 3, (1, 1, 1, 1), 1),
    ((1, 4, 4, 64), (3, 3), 1, 1, (4, 4, 4, 4), 1),
    ((1, 14, 14, 80), (3, 3), 1, 1, (1, 1, 1, 1), 1),
    ((1, 3, 150, 20), (3, 3), 1, 1, (1, 1, 1, 1), 1),
    ((2, 5, 101, 40), (5, 5), 1, 2, (2, 2, 2, 2), 1),
    ((1, 4, 67, 16), (7, 7), 1, 1, (3, 3, 3, 3), 1),
)


def dwconv2d(rng: Rng) -> Iterator[NativeCase]:
    for number, geometry in enumerate(_DEPTHWISE):
        for turn, activation in enumerate(ACTIVATIONS):
            image, kernel, multiplier, stride, pads, dilation = geometry
            outputs = image[3] * multiplier
            of_x = one_scale(rng)
            scales = tuple(float(np.float32(scale)) for scale in rng.uniform(0.002, 0.02, outputs))
            size = of_x.scales[0] * 0.01 * 60 * 60 * np.sqrt(kernel[0] * kernel[1]) / 64
            of_y = replace(one_scale(rng), scales=(float(np.float32(size)),))
            operands = [
                Operand(whole(rng, image), of_x),
                Operand(whole(rng, (*kernel, outputs)), QuantType(scales, (0,) * outputs, 2), True),
            ]
            if turn != 1:
                operands.append(bias_of(rng, of_x, scales))
            op = DwConv2d(
                strides=(stride, stride),
                pads=pads,
                dilations=(dilation, dilation),
                multiplier=multiplier,
                **activation,
            )
            yield stored_case(f"{number}_{turn}", op, operands, (DType.S8, of_y))


def _moved(quant: QuantType) -> QuantType:
    """Steps of the same size, counted from another zero."""
    return replace(quant, zero_points=tuple(zero ^ 5 for zero in quant.zero_points))


def _scaled(quant: QuantType) -> QuantType:
    """Steps of another size, counted from the same zero."""
    return replace(quant, scales=tuple(float(np.float32(scale * 1.7)) for scale in quant.scales))


#: Windows whose rows, or columns, all lie in the padding.
_NOTHING_BELOW: tuple[tuple[tuple[int, ...], dict[str, Any]], ...] = (
    ((1, 1, 4, 37), {"kernel": (2, 1), "dilations": (3, 1), "pads": (2, 0, 2, 0)}),
    ((1, 4, 1, 3), {"kernel": (1, 2), "dilations": (1, 3), "pads": (0, 2, 0, 2)}),
)


def max_pool2d(rng: Rng) -> Iterator[NativeCase]:
    for number, (shape, attributes) in enumerate((*POOLS, *_NOTHING_BELOW)):
        quant = one_scale(rng)
        x = Operand(whole(rng, shape), quant)
        yield stored_case(f"{number}_same", MaxPool2d(**attributes), [x], (DType.S8, quant))
        yield stored_case(f"{number}_other", MaxPool2d(**attributes), [x], (DType.S8, one_scale(rng)))
        if number >= len(POOLS):  # here the least byte would be converted into another one
            wide = replace(quant, scales=(4 * quant.scales[0],), zero_points=(20,))
            yield stored_case(f"{number}_wide", MaxPool2d(**attributes), [x], (DType.S8, wide))
        if number in (1, 12):
            yield stored_case(f"{number}_moved", MaxPool2d(**attributes), [x], (DType.S8, _moved(quant)))
    for number in (0, 1, 12):
        shape, attributes = POOLS[number]
        quant = one_scale(rng)
        x = Operand(whole(rng, shape), quant)
        yield stored_case(f"{number}_scaled", MaxPool2d(**attributes), [x], (DType.S8, _scaled(quant)))


def avg_pool2d(rng: Rng) -> Iterator[NativeCase]:
    for number, (shape, attributes) in enumerate(POOLS):
        quant = one_scale(rng)
        x = Operand(whole(rng, shape), quant)
        yield stored_case(f"{number}_same", AvgPool2d(**attributes), [x], (DType.S8, quant))
        padded = AvgPool2d(**attributes, count_include_pad=True)
        yield stored_case(f"{number}_padded", padded, [x], (DType.S8, one_scale(rng)))


_MEANS: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (
    ((1,), (0,)),
    ((7,), (0,)),
    ((1, 7, 7, 64), (1, 2)),
    ((1, 7, 7, 37), (1, 2)),
    ((2, 5, 3, 17), (1, 2)),
    ((1, 3, 3, 5), (1, 2)),
    ((2, 64, 7, 7), (2, 3)),
    ((3, 5, 33), (2,)),
    ((3, 5, 33), (0, 2)),
    ((4, 3, 2, 31), (0,)),
    ((4, 3, 2, 31), (1, 3)),
    ((2, 3, 4, 5), (0, 1, 2, 3)),
    ((1, 1, 1, 100), (1, 2)),
    ((6, 1, 47), (1,)),
    ((130, 16), (0,)),
    ((16, 130), (1,)),
)


def reduce_mean(rng: Rng) -> Iterator[NativeCase]:
    for number, (shape, axes) in enumerate(_MEANS):
        quant = one_scale(rng)
        narrow = QuantType((float(np.float32(quant.scales[0] / 7)),), (int(rng.integers(-128, 128)),))
        for turn, result in enumerate((quant, one_scale(rng), narrow)):
            x = Operand(whole(rng, shape), quant)
            yield stored_case(f"{number}_{turn}", ReduceMean(axes, turn == 0), [x], (DType.S8, result))


def resize2d(rng: Rng) -> Iterator[NativeCase]:
    sizes = (((1, 1, 1, 1), (3, 5)), ((1, 4, 5, 3), (8, 10)), ((2, 7, 3, 16), (5, 11)), ((1, 5, 5, 33), (10, 10)))
    ways = (
        ("linear", "half_pixel", "floor"),
        ("linear", "align_corners", "floor"),
        ("nearest", "asymmetric", "floor"),
        ("nearest", "half_pixel", "round_prefer_ceil"),
    )
    for number, (shape, size) in enumerate(sizes):
        for turn, (mode, coordinates, rounding) in enumerate(ways):
            scales = tuple(float(np.float32(size[axis] / shape[1 + axis])) for axis in (0, 1))
            op = Resize2d(size, scales, mode, coordinates, rounding)
            quant = one_scale(rng)
            x = Operand(whole(rng, shape), quant)
            yield stored_case(f"{number}_{turn}_same", op, [x], (DType.S8, quant))
            if number == 1:
                yield stored_case(f"{number}_{turn}_moved", op, [x], (DType.S8, _moved(quant)))
            yield stored_case(f"{number}_{turn}_other", op, [x], (DType.S8, one_scale(rng)))
    shape, size = sizes[1]
    scales = tuple(float(np.float32(size[axis] / shape[1 + axis])) for axis in (0, 1))
    for turn, (mode, coordinates, rounding) in enumerate(ways):
        quant = one_scale(rng)
        x = Operand(whole(rng, shape), quant)
        op = Resize2d(size, scales, mode, coordinates, rounding)
        yield stored_case(f"1_{turn}_scaled", op, [x], (DType.S8, _scaled(quant)))
