"""How a program is made, beside what the network says: kernels, clocks, power, tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from buildtool.targets.max7800x.devices import MAX78000, Device


@dataclass(frozen=True)
class Options:
    """Everything that a user may choose. Defaults are what pays."""

    processor: Literal["arm", "riscv"] = "arm"  # the core that runs the network
    compact_weights: bool = True  # kernels are loaded as bytes in a row, not as words for each column
    softmax: bool = False
    softmax_shift: int | None = None  # bits by which sums go up for it; None: those that the weights have too few
    known_answer: bool = True  # the program checks its output for the sample
    unload: bool = True
    timer: int | None = 0  # measures inferences
    boost: tuple[int, int] | None = None  # port and pin that are high while the accelerator works
    power_down: bool = False  # kernel memories of unused quadrants
    deep_sleep: bool = False  # of the other core, with riscv
    sleep: bool = True  # wait for the interrupt instead of asking
    pll: bool | None = None  # MAX78002: None: yes
    pipeline: bool | None = None  # MAX78002: None: yes
    clock_divider: int | None = None  # None: the fastest that works
    write_zeros: bool = False  # registers whose value is zero are written too
    clear_memories: bool = False  # and test them before use
    clear_tram: bool = False
    overlap_data: bool = False  # outputs may be written over what is still read
    memory_images: bool = False  # registers and memories as text lie beside the program
    single_bit_xor: bool = False  # 1-bit weights by exclusive or
    # of streaming, where the computed values are not the right ones
    stream_start: int | None = None
    stream_delta1: int | None = None
    stream_delta2: int | None = None
    stream_rollover: int | None = None

    def has_pipeline(self, device: Device) -> bool:
        return device is not MAX78000 and self.pipeline is not False

    def has_pll(self, device: Device) -> bool:
        return device is not MAX78000 and self.pll is not False

    def divider(self, device: Device) -> int:
        """Of the accelerator's clock. Without the pipeline it goes no faster than 50 MHz."""
        if self.clock_divider is not None:
            return self.clock_divider
        if self.has_pipeline(device) or device is MAX78000:
            return 1
        return 4 if self.has_pll(device) else 2
