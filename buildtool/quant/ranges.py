"""The scale and the zero point of numbers that lie between two others."""

from __future__ import annotations

import numpy as np

from buildtool.ir.types import QuantType

#: Ranges that are narrower hold nothing but zero: steps of theirs would be no normal numbers of single precision.
NARROWEST = float(np.finfo(np.float32).tiny) * 2**16
#: The largest number of single precision.
LARGEST = float(np.finfo(np.float32).max)


def stored_as(low: float, high: float, bits: int = 8, symmetric: bool = False) -> QuantType:
    """How numbers from `low` to `high` are stored as signed ones of so many bits.

    Zero is always one of the numbers, and is stored exactly. `symmetric` puts it at 0 and leaves out the least stored
    number. ValueError where the ends are no finite numbers of single precision, or not in order.
    """
    low, high = ends(low, high)
    least, most = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    width = 2 * max(-low, high) if symmetric else high - low
    if width < NARROWEST:
        return QuantType((1.0,), (0 if symmetric or bits == 1 else least,), bits=bits)
    if symmetric:
        return QuantType((_step(width, 2 * max(most, 1)),), (0,), bits=bits)
    scale = _step(width, most - least)
    zero = int(np.clip(np.rint(least - low / scale), least, most))
    return QuantType((scale,), (zero,), bits=bits)


def ends(low: float, high: float) -> tuple[float, float]:
    """The range with zero in it. ValueError as `stored_as` has it."""
    if not -LARGEST <= low <= high <= LARGEST:  # NaN is not, either
        raise ValueError(f"the bounds of a range are finite and ordered, not {low:g} to {high:g}")
    return min(low, 0.0), max(high, 0.0)


def _step(width: float, steps: int) -> float:
    return float(np.float32(min(width / steps, LARGEST)))


def between(quant: QuantType) -> tuple[float, float]:
    """The least and the largest number that a tensor stored like that has."""
    least, most = -(1 << (quant.bits - 1)), (1 << (quant.bits - 1)) - 1
    scale, zero = quant.scales[0], quant.zero_points[0]
    return (least - zero) * scale, (most - zero) * scale
