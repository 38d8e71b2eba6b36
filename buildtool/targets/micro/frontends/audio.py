"""Log mel energies and cepstral coefficients (MFCC) of 16-bit samples in fixed point."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
LOGARITHMS = {"ln": math.log(2.0), "log10": math.log10(2.0), "db": 10.0 * math.log10(2.0)}
_LARGEST = 1024  # places of a transform, so that nothing overflows
_ONE = 37  # the base-2 logarithm of what an energy of 1 is in the integers of a band
_MOST_FACTOR = 1 << 42


@dataclass(frozen=True)
class Audio:
    """Frames of `window` samples, `step` apart; for each `bins` bands between `low` and `high` Hz, or coefficients.

    The window is Hann's (periodic), the bands are triangles on HTK's mel scale over the power of the spectrum; samples
    count as -1 to 1. The logarithm is natural, decimal or in decibels. Coefficients: orthonormal DCT-II.
    Results are stored as the model's input is quantised: real = (stored - zero) * scale.
    """

    rate: int
    window: int
    step: int
    bins: int
    low: float
    high: float
    frames: int
    coefficients: int = 0
    logarithm: str = "ln"
    scale: float = 1.0
    zero: int = 0

    def __post_init__(self) -> None:
        """ValueError with the rule that a number breaks."""
        if not 8 <= self.window <= _LARGEST:
            raise ValueError(f"'window' is {self.window}; a frame has 8 to {_LARGEST} samples")
        if self.step < 1 or self.frames < 1 or self.bins < 1 or self.rate < 1:
            raise ValueError("'rate', 'step', 'bins' and the number of frames are positive")
        if not 0 <= self.low < self.high <= self.rate / 2:
            raise ValueError(
                f"the bands lie between {self.low:g} and {self.high:g} Hz; they fit 0 to {self.rate / 2:g}"
            )
        if not 0 <= self.coefficients <= self.bins:
            raise ValueError(f"{self.coefficients} coefficients of {self.bins} bands; there are at most as many")
        if self.logarithm not in LOGARITHMS:
            raise ValueError(f"'logarithm' is '{self.logarithm}'; it is one of {', '.join(LOGARITHMS)}")
        if not self.scale > 0 or self.factor >= _MOST_FACTOR:
            raise ValueError(f"the scale {self.scale:g} of the input is too small for these features")
        empty = [band for band, weights in enumerate(self._triangles) if not np.any(weights)]
        if empty:
            raise ValueError(f"band {empty[0]} has no frequency: use fewer bands or a longer window")

    @property
    def size(self) -> int:
        """Of the transform."""
        return 1 << (self.window - 1).bit_length()

    @property
    def width(self) -> int:
        """Numbers of a frame."""
        return self.coefficients or self.bins

    @property
    def samples(self) -> int:
        """Of all frames together."""
        return self.window + (self.frames - 1) * self.step

    @property
    def factor(self) -> int:
        return round(LOGARITHMS[self.logarithm] / self.scale * (1 << 32))

    # -- tables of the C ---------------------------------------------------------------------------------------------
    @functools.cached_property
    def shape(self) -> NDArray[np.int16]:
        angles = 2 * np.pi * np.arange(self.window) / self.window
        return np.minimum(np.rint((0.5 - 0.5 * np.cos(angles)) * 32768), 32767).astype(np.int16)

    @functools.cached_property
    def turns(self) -> NDArray[np.int32]:
        angles = 2 * np.pi * np.arange(self.size // 2) / self.size
        return np.asarray(np.rint(np.stack([np.cos(angles), np.sin(angles)], axis=1) * (1 << 30)), np.int32)

    @functools.cached_property
    def reversed(self) -> NDArray[np.uint16]:
        bits = self.size.bit_length() - 1
        return np.array([int(f"{at:0{bits}b}"[::-1], 2) for at in range(self.size)], np.uint16)

    @functools.cached_property
    def _triangles(self) -> NDArray[Any]:
        """Q15: [bins, size / 2 + 1]."""
        edges = _hertz(np.linspace(_mel(self.low), _mel(self.high), self.bins + 2))
        at = np.arange(self.size // 2 + 1) * self.rate / self.size
        rising = (at - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
        falling = (edges[2:, None] - at) / (edges[2:] - edges[1:-1])[:, None]
        return np.asarray(np.rint(np.clip(np.minimum(rising, falling), 0, 1) * 32768), np.uint16)

    @functools.cached_property
    def bands(self) -> tuple[NDArray[np.uint16], NDArray[np.uint16], NDArray[np.uint16]]:
        """First frequencies, counts, and weights of all bands."""
        places = [np.flatnonzero(weights) for weights in self._triangles]
        parts = [weights[where[0] : where[-1] + 1] for weights, where in zip(self._triangles, places, strict=True)]
        first = np.array([where[0] for where in places], np.uint16)
        return first, np.array([part.size for part in parts], np.uint16), np.concatenate(parts)

    @functools.cached_property
    def cosines(self) -> NDArray[np.int16]:
        """Q14: [coefficients, bins]."""
        rows, columns = np.arange(self.coefficients)[:, None], np.arange(self.bins)[None, :]
        found = np.sqrt(2 / self.bins) * np.cos(np.pi * rows * (2 * columns + 1) / (2 * self.bins))
        found[:1] /= np.sqrt(2)
        return np.asarray(np.rint(found * (1 << 14)), np.int16)

    @property
    def offset(self) -> int:
        return _ONE << 16

    # -- the twin ----------------------------------------------------------------------------------------------------
    def features(self, samples: NDArray[np.int16]) -> NDArray[np.int8]:
        """What the C makes of the same samples, bit for bit: [frames, width]."""
        if samples.dtype != np.int16 or samples.ndim != 1 or samples.size < self.samples:
            raise ValueError(f"{self.frames} frames need {self.samples} samples of 16 bits")
        starts = np.arange(self.frames)[:, None] * self.step
        rows = samples[starts + np.arange(self.window)].astype(np.int64)
        re, im = self._transformed((rows * self.shape + (1 << 10)) >> 11)
        power = (re * re + im * im) >> 12
        first, count, weights = self.bands
        ends = np.cumsum(count.astype(np.int64))
        bands = np.zeros((self.frames, self.bins), np.int64)
        for band, (start, size, end) in enumerate(zip(first, count, ends, strict=True)):
            part = weights[end - size : end].astype(np.uint64)
            total = (power[:, start : start + size].astype(np.uint64) * part).sum(axis=1)
            bands[:, band] = _logarithm(total >> np.uint64(4)) - self.offset
        if self.coefficients:
            bands = (bands @ self.cosines.T.astype(np.int64) + (1 << 13)) >> 14
        steps = (((bands >> 8) * self.factor + (1 << 39)) >> 40) + self.zero
        return np.asarray(np.clip(steps, -128, 127), np.int8)

    def _transformed(self, shaped: Ints) -> tuple[Ints, Ints]:
        re, im = (np.zeros((len(shaped), self.size), np.int64) for _ in range(2))
        re[:, self.reversed[: self.window]] = shaped
        half, step = 1, self.size // 2
        while half < self.size:
            cosine, sine = self.turns[: half * step : step].astype(np.int64).T
            low = (np.arange(0, self.size, 2 * half)[:, None] + np.arange(half)).ravel()
            cosine, sine = np.tile(cosine, self.size // (2 * half)), np.tile(sine, self.size // (2 * half))
            high = low + half
            one = _product(re[:, high], cosine) + _product(im[:, high], sine)
            other = _product(im[:, high], cosine) - _product(re[:, high], sine)
            re[:, high], im[:, high] = re[:, low] - one, im[:, low] - other
            re[:, low] += one
            im[:, low] += other
            half, step = 2 * half, step // 2
        return re, im


def _mel(hertz: Any) -> Any:
    return 2595.0 * np.log10(1.0 + np.asarray(hertz) / 700.0)


def _hertz(mel: Any) -> NDArray[Any]:
    return np.asarray(700.0 * (10.0 ** (mel / 2595.0) - 1.0))


def _product(a: Ints, b: Ints) -> Ints:
    return (a * b + (1 << 29)) >> 30


def _logarithm(values: NDArray[np.uint64]) -> Ints:
    """The base-2 logarithm, Q16; 0 of 0."""
    found = []
    for value in values.tolist():
        whole = max(value.bit_length() - 1, 0)
        x = value >> (whole - 30) if whole > 30 else value << (30 - whole)
        part = 0
        for _ in range(16):
            square = (x * x) >> 30
            high = square >> 31
            part = 2 * part + high
            x = square >> high
        found.append(whole * 65536 + part if value else 0)
    return np.array(found, np.int64)
