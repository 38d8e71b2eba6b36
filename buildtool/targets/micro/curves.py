"""Sigmoid and tanh of 16-bit fixed point, to the last bit as LiteRT's recurrent layers compute them."""

from __future__ import annotations

import numpy as np

from buildtool.targets.micro.fixed_point import Ints

_MOST = (1 << 15) - 1
# exp(-2^k) for k = -2..4, Q0.15.
_POWERS = (25520, 19875, 12055, 4435, 600, 11, 0)
_EXP_OF_MINUS_EIGHTH = 28918
_THIRD = 10923


def product(a: Ints | int, b: Ints | int) -> Ints:
    """Twice the product, its upper 16 bits, rounded."""
    found: Ints = np.minimum((np.asarray(a, np.int64) * b + (1 << 14)) >> 15, _MOST)
    return found


def halved(values: Ints, shift: int) -> Ints:
    """Divided by a power of two, half away from zero."""
    found: Ints = (values + (1 << (shift - 1)) - (values < 0)) >> shift
    return found


def sigmoid(values: Ints, integer_bits: int = 3) -> Ints:
    """From Q(integer_bits).x to Q0.15."""
    exponential = _exponential(-np.abs(values), integer_bits)
    one, x = _inverse(exponential)
    del one
    found = np.clip(x << 1, -_MOST - 1, _MOST)
    return np.where(values > 0, found, np.where(values < 0, _MOST - found, 1 << 14))


def tanh(values: Ints, integer_bits: int) -> Ints:
    """From Q(integer_bits).x to Q0.15."""
    exponential = _exponential(-np.abs(values), integer_bits + 1)
    _, x = _inverse(exponential)
    found = np.clip((x - (1 << 13)) << 2, -_MOST - 1, _MOST)
    return np.where(values == 0, 0, np.where(values < 0, -found, found))


def _clipped(values: Ints) -> Ints:
    found: Ints = np.clip(values, -_MOST - 1, _MOST)
    return found


def _inverse(values: Ints) -> tuple[Ints, Ints]:
    """1 / (1 + x) twice over, Q2.13, by three steps of Newton's method."""
    half = (values + _MOST + 1) // 2
    x = 23130 + product(half, -15420)
    for _ in range(3):
        x = _clipped(x + _clipped(product(x, (1 << 13) - product(half, x)) << 2))
    return half, x


def _exponential(values: Ints, integer_bits: int) -> Ints:
    """exp of numbers up to 0, Q0.15."""
    fraction_bits = 15 - integer_bits
    quarter = 1 << (fraction_bits - 2) if fraction_bits >= 2 else 0
    part = (values & (quarter - 1)) - quarter
    found = _near_zero(part << integer_bits)
    left = part - values
    for at, power in enumerate(_POWERS):
        exponent = at - 2
        if integer_bits > exponent:
            found = np.where(left & (1 << (fraction_bits + exponent)), product(found, power), found)
    if integer_bits > 5:
        found = np.where(values < -(1 << (fraction_bits + 5)), 0, found)
    return np.where(values == 0, _MOST, found)


def _near_zero(values: Ints) -> Ints:
    """exp of numbers from -1/4 to 0, Q0.15."""
    x = values + (1 << 12)
    x2 = product(x, x)
    x3, x4 = product(x2, x), product(x2, x2)
    terms = halved(product(halved(x4, 2) + x3, _THIRD) + x2, 1)
    return _clipped(_EXP_OF_MINUS_EIGHTH + product(_EXP_OF_MINUS_EIGHTH, _clipped(x + terms)))
