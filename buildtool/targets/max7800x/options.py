"""How a program is made, beside what the network says: kernels, clocks, power, tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from buildtool.targets.max7800x.devices import MAX78000, MAX78002, Device

_LOADING_DIVIDER = 4  # of the PLL while nothing is computed
_SWITCH_MILLISECONDS = 10  # that the load switches of the MAX78002 take


@dataclass(frozen=True)
class Options:
    """Everything that a user may choose. Defaults are what pays."""

    processor: Literal["arm", "riscv"] = "arm"  # the core that runs the network
    compact_weights: bool = True  # kernels are loaded as bytes in a row, not as words for each column
    softmax: bool = False
    softmax_shift: int | None = None  # bits by which sums go up for it; None: those that the weights have too few
    known_answer: bool = True  # the program checks its output for the sample
    unload: bool = True
    debug_wait: int = 2  # seconds for a debugger before anything is done
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
    max_speed: bool = False  # MAX78002: the clock of inferences also for loading
    switch_delay: int | None = None  # milliseconds after power is switched on; None: those that the chip needs
    # wait states of memories, of FIFOs and of what is always on
    memory_waits: int = 0
    fifo_waits: int = 0
    always_on_waits: int = 0
    clear_unused: bool = False  # registers of layers that there are not
    repeat_layers: int = 1  # the registers of all layers are there so often, one behind the other
    one_shot: bool = False  # MAX78002: the accelerator stops behind each layer
    # what the program does beside one inference
    energy: bool = False  # every phase often enough to be measured
    forever: bool = False  # inferences without end behind the first
    stop_start: bool = False  # the first is halted and goes on
    verify_writes: bool = False  # registers are read back
    verify_kernels: bool = False
    verify_snoop: bool = False  # what the snoop registers count is compared
    most_verified: int | None = None  # words of output that are compared
    # what it is given
    fixed_input: bool = False  # 0x55555555 and 0xaaaaaaaa in turns
    input_step: int | None = None  # added to the first words of the sample for each following run of them
    input_words: int = 8  # those first words
    fifo_wait: bool = True  # for room in the FIFO
    fifo_go: bool = False  # MAX78002: layers begin before the first word comes
    slow_load: int = 0  # instructions that do nothing behind each word for the FIFO
    # of the RISC-V core
    riscv_flash: bool = True  # kernels and input are read from flash, else copied into its memory as it begins
    riscv_cache: bool = True
    riscv_debug: bool = False
    riscv_exclusive: bool = False  # its memory belongs to it alone
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

    def loading_divider(self, device: Device) -> int:
        """Of the clock while kernels and inputs are loaded: at the PLL's speed that takes three times the energy."""
        inference = self.divider(device)
        if self.max_speed or not (self.has_pll(device) and self.has_pipeline(device)):
            return inference
        return max(inference, _LOADING_DIVIDER)

    def power_up_delay(self, device: Device) -> int:
        if self.switch_delay is not None:
            return self.switch_delay
        return _SWITCH_MILLISECONDS if device is MAX78002 else 0

    @property
    def measures(self) -> int | None:
        """The timer of inferences; what measures energy leaves it alone."""
        return None if self.energy else self.timer
