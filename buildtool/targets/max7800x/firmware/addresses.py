"""Where the registers and memories of the accelerators lie, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from buildtool.targets.max7800x.devices import (
    MAX78000,
    MAX78002,
    PROCESSORS_PER_MEMORY,
    PROCESSORS_PER_QUADRANT,
    Device,
)

WORD = 4
BYTES_PER_COLUMN = 9  # of kernel memory
COLUMN_STEP = 16  # bytes of addresses for each column

FIFO_CONTROL = 0x50000000
FIFO_STATUS = FIFO_CONTROL + 4
FIFO_DATA = FIFO_CONTROL + 8  # of the first of four
ALWAYS_ON_CONTROL = 0x50001000
FAST_FIFO_CONTROL = 0x400C0400
FAST_FIFO_STATUS = FAST_FIFO_CONTROL + 4
FAST_FIFO_INTERRUPTS = FAST_FIFO_CONTROL + 8
FAST_FIFO_DATA = FAST_FIFO_CONTROL + 16

STREAMING = ("stream_start", "stream_delta", "rollover")  # registers of a layer


def _evenly(names: str, first: int, step: int, stride: int) -> dict[str, tuple[int, int]]:
    return {name: (first + at * step, stride) for at, name in enumerate(names.split()) if name != "-"}


@dataclass(frozen=True)
class AddressMap:
    """Of one chip. Addresses are those of quadrant 0."""

    quadrant: int  # from one quadrant to the next
    control: int
    layer_registers: int
    registers: Mapping[str, tuple[int, int]]  # of a layer: offset of the first layer's, step to the next layer's
    streaming_layers: int  # that have registers for it
    frame_size: int
    transposer: int  # gives out bytes of one channel (mlator)
    snoop: int | None
    biases: int
    tram: int
    tram_step: int  # from one processor to the next
    tram_words: int  # of each processor
    kernels: int
    kernel_step: int  # from one processor to the next
    data: int
    data_step: int  # from one data memory to the next
    write_pointer_bits: int  # of a write pointer that say where in a memory; the bits above say which

    def register(self, quadrant: int, name: str, layer: int) -> int:
        offset, step = self.registers[name]
        return self.layer_registers + quadrant * self.quadrant + offset + layer * step

    def has_register(self, name: str, layer: int) -> bool:
        """Whether a layer has a register: those of streaming may be those of the first layers alone."""
        return name not in STREAMING or layer < self.streaming_layers

    def control_register(self, quadrant: int, number: int = 0) -> int:
        """0: control; 1: memory control; 2: number of layers; 3: test of memories."""
        return self.control + quadrant * self.quadrant + number * WORD

    def frame_size_register(self, quadrant: int) -> int:
        return self.frame_size + quadrant * self.quadrant

    def bias(self, quadrant: int) -> int:
        return self.biases + quadrant * self.quadrant

    def processor_tram(self, processor: int) -> int:
        quadrant, inner = divmod(processor, PROCESSORS_PER_QUADRANT)
        return self.tram + quadrant * self.quadrant + inner * self.tram_step

    def kernel_memory(self, processor: int) -> int:
        quadrant, inner = divmod(processor, PROCESSORS_PER_QUADRANT)
        return self.kernels + quadrant * self.quadrant + inner * self.kernel_step

    def data_memory(self, processor: int) -> int:
        """The memory that a processor shares with three others."""
        quadrant, inner = divmod(processor, PROCESSORS_PER_QUADRANT)
        return self.data + quadrant * self.quadrant + inner // PROCESSORS_PER_MEMORY * self.data_step

    @property
    def write_pointer_step(self) -> int:
        """From one data memory to the next, as write pointers count."""
        return 1 << self.write_pointer_bits


_MAX78000 = AddressMap(
    quadrant=0x400000,
    control=0x50100000,
    layer_registers=0x50100010,
    registers=_evenly(
        "rows columns one_d pool_rows pool_columns stride write_pointer slot_offset mask_offset channel_offset "
        "read_pointer control masks tram processors post stream_start stream_delta rollover - control2",
        0,
        0x80,
        WORD,
    ),
    streaming_layers=32,
    frame_size=0x50100990,
    transposer=0x50101000,
    snoop=None,
    biases=0x50108000,
    tram=0x50110000,
    tram_step=0x4000,
    tram_words=3072,
    kernels=0x50180000,
    kernel_step=0x4000,
    data=0x50400000,
    data_step=0x8000,
    write_pointer_bits=13,
)

_MAX78002 = AddressMap(
    quadrant=0x1000000,
    control=0x51000000,
    layer_registers=0x51100000,
    registers={
        **_evenly(
            "next rows columns one_d pool_rows pool_columns stride write_pointer slot_offset mask_offset "
            "channel_offset read_pointer control control2 masks mask_start outputs tram processors post",
            0,
            WORD,
            0x100,
        ),
        **_evenly("stream_start stream_delta rollover", 0x8000, 0x20, WORD),
    },
    streaming_layers=8,
    frame_size=0x51108060,
    transposer=0x51110000,
    snoop=0x51108080,
    biases=0x51180000,
    tram=0x51200000,
    tram_step=0x10000,
    tram_words=12288,
    kernels=0x51400000,
    kernel_step=0x20000,
    data=0x51800000,
    data_step=0x20000,
    write_pointer_bits=15,
)

_MAPS = {MAX78000.name: _MAX78000, MAX78002.name: _MAX78002}


def of(device: Device) -> AddressMap:
    return _MAPS[device.name]
