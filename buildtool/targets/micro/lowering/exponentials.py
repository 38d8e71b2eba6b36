"""The exponential function in fixed point, as LiteRT's integer softmax computes it."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from buildtool.targets.micro.fixed_point import high_product, multiplier_of, scaled, shifted_right

_INTEGER_BITS = 5
_FRACTION_BITS = 31 - _INTEGER_BITS
_QUARTER = 1 << (_FRACTION_BITS - 2)
# exp(-2^k) for k = -2..4, Q0.31.
_POWERS = (1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242)
_EXP_OF_MINUS_EIGHTH = 1895147668
_THIRD = 715827883


def table(scale: float, beta: float) -> NDArray[np.int32]:
    """exp(beta * scale * -d) for d = 0..255, Q0.31; 0 where the difference is too large to count."""
    real = min(beta * scale * (1 << _FRACTION_BITS), float((1 << 31) - 1))
    multiplier, shift = multiplier_of(real)
    radius = math.floor(((1 << _INTEGER_BITS) - 1) * (1 << _FRACTION_BITS) / (1 << shift)) if shift >= 0 else 255
    differences = -np.arange(256, dtype=np.int64)
    found = _of_negatives(scaled(differences, multiplier, shift))
    return np.where(differences >= -radius, found, 0).astype(np.int32)


def _of_negatives(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """exp(values), from Q5.26 to Q0.31."""
    part = (values & (_QUARTER - 1)) - _QUARTER
    result = _near_zero(part << _INTEGER_BITS)
    rest = part - values
    for exponent, power in enumerate(_POWERS, start=-2):
        chosen = (rest >> (_FRACTION_BITS + exponent)) & 1
        result = np.where(chosen == 1, high_product(result, power), result)
    return np.where(values == 0, (1 << 31) - 1, result)


def _near_zero(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """exp(values) for values in [-1/4, 0), Q0.31: a Taylor polynomial around -1/8."""
    x = values + (1 << 28)
    square = high_product(x, x)
    cube, fourth = high_product(square, x), high_product(square, square)
    higher = shifted_right(high_product(shifted_right(fourth, 2) + cube, _THIRD) + square, 1)
    return _EXP_OF_MINUS_EIGHTH + high_product(np.asarray(x + higher), _EXP_OF_MINUS_EIGHTH)
