"""The two tables of a KPU layer: batch norm per output channel, and the activation in sixteen straight pieces."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from buildtool.errors import UnsupportedError

SEGMENTS = 16
BATCH_NORM_BYTES = 8
ACTIVATION_BYTES = SEGMENTS * 8 + SEGMENTS
FIRST_START = -(1 << 35)  # below everything that the 36 bits of the KPU hold


def _signed(bits: int, width: int) -> int:
    bits &= (1 << width) - 1
    return bits - (1 << width) if bits >> (width - 1) else bits


def _fit(name: str, value: int, lowest: int, highest: int) -> int:
    if not lowest <= value <= highest:
        raise UnsupportedError(
            f"{name} is {value}", rule=f"the KPU holds {lowest} to {highest} there", remedy="choose another scale"
        )
    return value


@dataclass(frozen=True)
class BatchNorm:
    """`(acc * mul >> shift) + add`, of one output channel."""

    mul: int = 1
    add: int = 0
    shift: int = 0

    def encode(self) -> bytes:
        mul = _fit("mul of a batch norm", self.mul, -(1 << 23), (1 << 23) - 1) & (1 << 24) - 1
        add = _fit("add of a batch norm", self.add, -(1 << 31), (1 << 31) - 1) & (1 << 32) - 1
        shift = _fit("shift of a batch norm", self.shift, 0, 15)
        return struct.pack("<Q", mul | add << 24 | shift << 56)


@dataclass(frozen=True)
class Segment:
    """From `start` on: `round((v - start) * mul >> shift) + bias`."""

    start: int = FIRST_START
    mul: int = 0
    shift: int = 0
    bias: int = 0

    def encode(self) -> int:
        """Its word; the bias stands apart, behind all segments."""
        start = _fit("start of a segment", self.start, FIRST_START, (1 << 35) - 1) & (1 << 36) - 1
        mul = _fit("mul of a segment", self.mul, -(1 << 15), (1 << 15) - 1) & (1 << 16) - 1
        return _fit("shift of a segment", self.shift, 0, 255) | mul << 8 | start << 24


@dataclass(frozen=True)
class Activation:
    """The sixteen segments, in ascending order of their starts."""

    segments: tuple[Segment, ...]

    def encode(self) -> bytes:
        words = struct.pack(f"<{SEGMENTS}Q", *(segment.encode() for segment in self.segments))
        return words + bytes(_fit("bias of a segment", segment.bias, 0, 255) for segment in self.segments)


def decode_batch_norms(data: bytes) -> tuple[BatchNorm, ...]:
    return tuple(
        BatchNorm(_signed(word, 24), _signed(word >> 24, 32), word >> 56 & 15)
        for (word,) in struct.iter_unpack("<Q", data)
    )


def decode_activation(data: bytes) -> Activation:
    words = struct.unpack_from(f"<{SEGMENTS}Q", data)
    biases = data[SEGMENTS * 8 : ACTIVATION_BYTES]
    return Activation(
        tuple(
            Segment(_signed(word >> 24, 36), _signed(word >> 8, 16), word & 255, bias)
            for word, bias in zip(words, biases, strict=True)
        )
    )
