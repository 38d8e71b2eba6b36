"""The argument of one KPU layer: twelve 64-bit words whose bit fields have names here and nowhere else.

Counts and sizes are stored as one less than they are. That is undone when words are decoded and done when they are
encoded, so that all other code sees the numbers themselves.
"""

from __future__ import annotations

import dataclasses
import struct
from dataclasses import dataclass, field
from typing import Any

from buildtool.errors import UnsupportedError

WORDS = 12
BYTES = 8 * WORDS


@dataclass(frozen=True)
class BitField:
    """Where a number lies: the word, its lowest bit, how many bits; and how it is stored."""

    word: int
    lsb: int
    width: int
    signed: bool = False
    minus_one: bool = False

    @property
    def lowest(self) -> int:
        return -(1 << (self.width - 1)) if self.signed else int(self.minus_one)

    @property
    def highest(self) -> int:
        return self.lowest + (1 << self.width) - 1

    def decode(self, word: int) -> int:
        stored = word >> self.lsb & (1 << self.width) - 1
        if self.signed and stored >> (self.width - 1):
            stored -= 1 << self.width
        return stored + self.minus_one

    def encode(self, value: int) -> int:
        """The bits at their place. The value must lie in `lowest..highest`."""
        return (value - self.minus_one & (1 << self.width) - 1) << self.lsb


def _bits(
    word: int, lsb: int, width: int, *, default: int = 0, signed: bool = False, minus_one: bool = False
) -> Any:  # what dataclasses.field() returns is typed by its default
    place = BitField(word, lsb, width, signed, minus_one)
    return field(default=max(default, place.lowest) if not signed else default, metadata={"bits": place})


@dataclass(frozen=True)
class LayerArgument:
    """The registers of the KPU for one layer. Addresses `src` and `dst` count 64 bytes of KPU RAM."""

    interrupt: int = _bits(0, 0, 1)
    ram_flag: int = _bits(0, 1, 1)
    full_add: int = _bits(0, 2, 1)
    depthwise: int = _bits(0, 3, 1)
    src: int = _bits(1, 0, 15)
    dst: int = _bits(1, 32, 15)
    in_channels: int = _bits(2, 0, 10, minus_one=True)
    out_channels: int = _bits(2, 32, 10, minus_one=True)
    channels_per_load: int = _bits(2, 48, 10, minus_one=True)
    in_w: int = _bits(3, 0, 10, minus_one=True)
    in_h: int = _bits(3, 10, 9, minus_one=True)
    out_w: int = _bits(3, 32, 10, minus_one=True)
    out_h: int = _bits(3, 42, 9, minus_one=True)
    kernel: int = _bits(4, 0, 3)
    pad_type: int = _bits(4, 3, 1)
    pool: int = _bits(4, 4, 4)
    first_stride: int = _bits(4, 8, 1)
    bypass: int = _bits(4, 9, 1)
    load_para: int = _bits(4, 10, 1, default=1)
    burst: int = _bits(4, 16, 8, default=15)
    pad_value: int = _bits(4, 24, 8)
    batch_norm_address: int = _bits(4, 32, 32)
    load_coor: int = _bits(5, 0, 1, default=1)
    load_times: int = _bits(5, 1, 6, minus_one=True)
    para_size: int = _bits(5, 15, 17)
    weights_address: int = _bits(5, 32, 32)
    column_offset: int = _bits(6, 0, 4)
    row_offset: int = _bits(6, 4, 12)
    channel_switch: int = _bits(7, 0, 15)
    row_switch: int = _bits(7, 16, 4)
    coef_size: int = _bits(7, 20, 8)
    coef_group: int = _bits(7, 28, 3)
    load_act: int = _bits(7, 31, 1, default=1)
    activation_address: int = _bits(7, 32, 32)
    wb_channel_switch: int = _bits(8, 0, 15)
    wb_row_switch: int = _bits(8, 16, 4)
    wb_group: int = _bits(8, 20, 3)
    shr_w: int = _bits(9, 0, 4)
    shr_x: int = _bits(9, 4, 4)
    arg_w: int = _bits(9, 8, 24, signed=True)
    arg_x: int = _bits(9, 32, 24, signed=True)
    arg_add: int = _bits(10, 0, 40, signed=True)
    send_data_out: int = _bits(11, 0, 1)
    channel_bytes: int = _bits(11, 16, 16, minus_one=True)
    total_bytes: int = _bits(11, 32, 32, minus_one=True)

    @property
    def kernel_size(self) -> int:
        """Elements of one kernel of one channel: 1 or 9."""
        return 9 if self.kernel else 1

    @property
    def kernel_elements(self) -> int:
        """Weights of one output channel."""
        return self.kernel_size * (1 if self.depthwise else self.in_channels)

    def words(self) -> tuple[int, ...]:
        """The twelve words. UnsupportedError names each field whose number does not fit its bits."""
        words = [0] * WORDS
        for name, place in FIELDS.items():
            value = getattr(self, name)
            if not place.lowest <= value <= place.highest:
                raise UnsupportedError(
                    f"{name} of a KPU layer is {value}",
                    rule=f"word {place.word} of its argument holds {place.lowest} to {place.highest} there",
                    remedy="make the layer smaller, or run it on the CPU",
                )
            words[place.word] |= place.encode(value)
        return tuple(words)

    def encode(self) -> bytes:
        return struct.pack(f"<{WORDS}Q", *self.words())


def decode(data: bytes) -> LayerArgument:
    """From its 96 bytes. Any bytes decode; bits without a name are dropped."""
    words = struct.unpack(f"<{WORDS}Q", data)
    return LayerArgument(**{name: place.decode(words[place.word]) for name, place in FIELDS.items()})


FIELDS: dict[str, BitField] = {item.name: item.metadata["bits"] for item in dataclasses.fields(LayerArgument)}
