"""The integers of the chips, as functions of NumPy arrays and of torch tensors alike.

Values are multiples of 1/128 in training and integers on the chip; everything here is in integers, which may be stored
as floats. Results equal those of `simulation.arithmetic`, which the simulators use, and of `quantise_checkpoint`.
"""

from __future__ import annotations

from typing import Any

from buildtool.targets.max7800x.checkpoints.quantise_checkpoint import WEIGHT_BITS, highest_shift
from buildtool.targets.max7800x.simulation.arithmetic import BIAS_FACTOR, FRACTION, HIGHEST, LOWEST, total_shift

__all__ = ["BIAS_FACTOR", "DATA_FACTOR", "HIGHEST", "LOWEST", "WEIGHT_BITS", "average", "factor", "highest_shift"]
__all__ += ["narrowed", "saturated", "whole"]

DATA_FACTOR = 128  # a value of 1.0 in training


def factor(bits: int, power: int) -> float:
    """What weights and biases of training are multiplied by."""
    return float(2.0 ** (bits - 1 + power))


def whole(values: Any, by: float, bits: int) -> Any:
    """Weights or biases as integers of so many bits: halves go up."""
    half = 2 ** (bits - 1)
    return ((values * by + 0.5) // 1).clip(-half, half - 1)


def saturated(values: Any) -> Any:
    return values.clip(LOWEST, HIGHEST)


def narrowed(sums: Any, output_shift: int, bits: int) -> Any:
    """Sums as 8-bit values. `sums` are floats without fractions: those of 64 bits hold every sum of the chips."""
    return saturated((sums * 2.0 ** (total_shift(output_shift, bits) - FRACTION) + 0.5) // 1)


def average(sums: Any, count: int, *, rounds: bool) -> Any:
    """Means of integers, cut off towards zero, or rounded to the nearest with halves away from it."""
    sizes = abs(sums)
    means = (2 * sizes + count) // (2 * count) if rounds else sizes // count
    return means * ((sums > 0) * 1.0 - (sums < 0) * 1.0)
