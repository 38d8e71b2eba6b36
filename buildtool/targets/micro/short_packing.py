"""How constants of layers with activations of 16 bits are stored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from buildtool.targets.micro.network import Bytes, ConvShort, CurveShort, SoftmaxShort

_STEPS = 512  # of a table, whose entries are 128 numbers apart


@dataclass(frozen=True)
class Packed:
    """The constants of a convolution or product."""

    weights: Bytes
    biases: NDArray[np.int64]
    multipliers: NDArray[np.int32]
    shifts: NDArray[np.int8]

    @property
    def bytes(self) -> int:
        return self.weights.nbytes + self.biases.nbytes + self.multipliers.nbytes + self.shifts.nbytes


def packed(layer: ConvShort) -> Packed:
    """Multipliers of 15 bits, unless the layer is exact."""
    multipliers = np.array(layer.multipliers, np.int32)
    return Packed(
        np.ascontiguousarray(layer.weights).reshape(-1),
        layer.bias.astype(np.int64),
        multipliers if layer.exact else reduced(multipliers),
        np.array(layer.shifts, np.int8),
    )


def reduced(multipliers: Any) -> NDArray[np.int32]:
    """The upper 16 bits, rounded; below 2^15."""
    wide = np.asarray(multipliers, np.int64)
    return np.where(wide < 0x7FFF0000, (wide + (1 << 15)) >> 16, 0x7FFF).astype(np.int32)


def sigmoids() -> NDArray[np.uint16]:
    """Of i / 24, in 16 bits; higher by half of what interpolation is too low in the middle between two."""

    def at(places: Any) -> Any:
        return 65536.0 / (1.0 + np.exp(-places / 24.0))

    places = np.arange(256.0)
    now, after = at(places), at(places + 1)
    found: NDArray[np.uint16] = np.rint(now + (at(places + 0.5) - (now + after) / 2) / 2).astype(np.uint16)
    found[-1] = 65535
    return found


def exponentials() -> NDArray[np.int16]:
    """Of -10 to 0."""
    return _table(10.0, 32767, np.exp)


def inverses() -> NDArray[np.int16]:
    """1 / (1 + x) of 0 to 1."""
    return _table(1.0, -32768, lambda x: 1.0 / (1.0 + x))


def tables(layer: CurveShort | SoftmaxShort) -> tuple[NDArray[Any], ...]:
    return (sigmoids(),) if isinstance(layer, CurveShort) else (exponentials(), inverses())


def _table(width: float, zero: int, function: Callable[[Any], Any]) -> NDArray[np.int16]:
    """Entries that are off by half of what interpolation is off in the middle between two. Single precision."""
    single = np.float32
    scale, out = single(width) / single(65535), single(2.0) / single(65535)
    low, high = (scale * single(end - zero) for end in (-32768, 32767))
    step, inverse = (high - low) / single(_STEPS), single(65536) / (out * single(32767) - out * single(-32768))

    def scaled(x: Any) -> Any:
        return function(np.asarray(x, single)).astype(single) * inverse

    starts = low + np.arange(_STEPS, dtype=single) * step
    now, middle, after = scaled(starts), scaled(starts + step / single(2)), scaled(low + _after() * step)
    off = _rounded((after + _rounded(now)) / single(2)) - _rounded(middle)
    entries = np.append(_rounded(now) - _rounded(off / single(2)), _rounded(scaled(high)))
    found: NDArray[np.int16] = np.clip(entries, -32768, 32767).astype(np.int16)
    return found


def _after() -> NDArray[np.float32]:
    return np.arange(1, _STEPS + 1, dtype=np.float32)


def _rounded(values: Any) -> Any:
    """Half away from zero."""
    return np.trunc(values + np.copysign(np.float32(0.5), values)).astype(np.float32)
