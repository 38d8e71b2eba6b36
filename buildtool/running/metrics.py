"""How far apart two arrays are, in the figures that MACE's users know and a few more."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Metrics:
    """Distances between a result and its reference.

    `cosine` is 1 for equal directions; two all-zero arrays are equal (1), one all-zero array is not (0).
    `sqnr` is in decibels, infinite for equal arrays. Values that are not finite make cosine 0 unless both sides have
    the same ones in the same places.
    """

    cosine: float
    sqnr: float
    max_abs: float
    max_rel: float  # the largest difference over the largest magnitude of the reference
    pixel_accuracy: float = 1.0  # where the largest channel is the same one, as a part of all places

    def as_json(self) -> dict[str, float | None]:
        """Infinite numbers, which JSON cannot carry, become null."""
        return {key: value if math.isfinite(value) else None for key, value in vars(self).items()}


DIFFERENT = Metrics(cosine=0.0, sqnr=-math.inf, max_abs=math.inf, max_rel=math.inf, pixel_accuracy=0.0)


def compare(result: Array, reference: Array, channels: int = -1) -> Metrics:
    """The distances between two arrays of one shape; ValueError where the shapes differ. `channels`: their axis."""
    if result.shape != reference.shape:
        raise ValueError(f"shapes {list(result.shape)} and {list(reference.shape)} differ")
    places = _pixel_accuracy(result, reference, channels)
    left = result.astype(np.float64).ravel()
    right = reference.astype(np.float64).ravel()
    odd = ~(np.isfinite(left) & np.isfinite(right))
    if odd.any():
        if not np.array_equal(left[odd], right[odd], equal_nan=True):
            return DIFFERENT
        left, right = left[~odd], right[~odd]
    if left.size == 0:
        return Metrics(1.0, math.inf, 0.0, 0.0, places)
    difference = np.abs(left - right)
    largest = float(np.abs(right).max())
    max_abs = float(difference.max())
    max_rel = max_abs / largest if largest else (0.0 if max_abs == 0 else math.inf)
    return Metrics(_cosine(left, right), _sqnr(difference, right), max_abs, max_rel, places)


def _pixel_accuracy(result: Array, reference: Array, channels: int) -> float:
    """An array without places beside its channels has nothing to be wrong about, as MACE has it."""
    if reference.ndim < 2 or not reference.size:
        return 1.0
    return float((result.argmax(channels) == reference.argmax(channels)).mean())


def _cosine(left: Array, right: Array) -> float:
    # Scaled by the largest element first, so that squares neither overflow nor vanish.
    peaks = float(np.abs(left).max()), float(np.abs(right).max())
    if not all(peaks):
        return 1.0 if peaks[0] == peaks[1] else 0.0
    left, right = left / peaks[0], right / peaks[1]
    cosine = float(left @ right) / math.sqrt(float(left @ left) * float(right @ right))
    return max(-1.0, min(1.0, cosine))


def _sqnr(difference: Array, reference: Array) -> float:
    noise_peak, peak = float(difference.max()), float(np.abs(reference).max())
    if not noise_peak:
        return math.inf
    if not peak:
        return -math.inf
    # The peaks are taken out of the squares for the same reason.
    noise = float(np.square(difference / noise_peak).sum())
    signal = float(np.square(reference / peak).sum())
    return 10 * math.log10(signal / noise) + 20 * (math.log10(peak) - math.log10(noise_peak))
