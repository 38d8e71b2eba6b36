"""Scales and zero points of ranges."""

from __future__ import annotations

import math

import numpy as np
import pytest

from buildtool.ir.quantised import dequantised, limits, quantised
from buildtool.ir.types import DType, QuantType, TensorType
from buildtool.quant.ranges import stored_as

RANGES = [
    (-1.0, 1.0), (0.0, 6.0), (-6.0, 0.0), (2.0, 3.0), (-3.0, -2.0), (-0.1, 700.0), (-1e-20, 3e-20),
    (-3.4e38, 3.4e38), (-1e-3, 1e-7), (-12.5, 0.37),
]  # fmt: skip


def _type(quant: QuantType) -> TensorType:
    return TensorType(DType.S8 if quant.bits <= 8 else DType.S16, (5,), quant)


@pytest.mark.parametrize("bits", [2, 4, 8, 16])
@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("ends", RANGES)
def test_every_number_of_the_range_is_stored_within_half_a_step(
    ends: tuple[float, float], symmetric: bool, bits: int
) -> None:
    quant = stored_as(*ends, bits=bits, symmetric=symmetric)
    low, high = min(ends[0], 0.0), max(ends[1], 0.0)
    numbers = np.append(np.linspace(low, high, 1001), 0.0)
    type_ = _type(quant)
    back = dequantised(quantised(numbers, type_), type_)
    # Scales have 24 bits, and ends are as many steps from zero as there are.
    assert np.abs(back - numbers).max() <= quant.scales[0] * (0.5 + 2.0 ** (bits - 23))
    assert back[-1] == 0.0
    width = 2 * max(-low, high) if symmetric else high - low
    assert quant.scales[0] == pytest.approx(width / (2**bits - (2 if symmetric else 1)), rel=1e-6)


@pytest.mark.parametrize("symmetric", [False, True])
def test_a_symmetric_zero_point_is_zero_and_the_others_are_stored_numbers(symmetric: bool) -> None:
    for ends in RANGES:
        for bits in range(1, 17):
            quant = stored_as(*ends, bits=bits, symmetric=symmetric)
            least, most = limits(DType.S16, bits)
            assert least <= quant.zero_points[0] <= most
            assert quant.bits == bits and quant.axis is None
            if symmetric:
                assert quant.zero_points == (0,)


def test_known_numbers() -> None:
    assert stored_as(0, 255) == QuantType((1.0,), (-128,))
    assert stored_as(-128, 127) == QuantType((1.0,), (0,))
    assert stored_as(-255, 0) == QuantType((1.0,), (127,))
    assert stored_as(-127, 20, symmetric=True) == QuantType((1.0,), (0,))


@pytest.mark.parametrize("width", [0.0, 1e-45, 1e-38, 1e-34])
def test_a_tensor_of_zeros_has_a_scale(width: float) -> None:
    for quant in (stored_as(-width, width), stored_as(0, width, symmetric=True)):
        assert quant.scales == (1.0,)
        type_ = _type(quant)
        zeros = np.zeros(5)
        assert (dequantised(quantised(zeros, type_), type_) == 0).all()


@pytest.mark.parametrize(
    "ends", [(1.0, -1.0), (math.nan, 1.0), (0.0, math.nan), (-math.inf, 0.0), (0.0, math.inf), (0.0, 1e39)]
)
def test_invalid_ranges_are_refused(ends: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="the bounds of a range"):
        stored_as(*ends)
