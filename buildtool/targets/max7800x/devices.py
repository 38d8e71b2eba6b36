"""What the two chips have: sizes and addresses, as data."""

from __future__ import annotations

from dataclasses import dataclass

PROCESSORS = 64
QUADRANTS = 4
PROCESSORS_PER_QUADRANT = PROCESSORS // QUADRANTS
PROCESSORS_PER_MEMORY = 4  # share one instance of the data memory


@dataclass(frozen=True)
class Device:
    """One chip."""

    name: str  # as in `target_abis`
    part: str  # as in the data sheet
    layers: int
    kernel_columns: int  # columns of 9 bytes for each processor
    first_kernel_columns: int  # for the first processor of each quadrant
    data_bytes: int  # of each instance of the data memory
    bias_bytes: int  # of each quadrant
    largest_side: int  # of pictures


MAX78000 = Device("max78000", "MAX78000", 32, 768, 768, 0x8000, 512, 1023)
MAX78002 = Device("max78002", "MAX78002", 128, 4096, 5120, 0x14000, 2048, 2047)

DEVICES = {device.name: device for device in (MAX78000, MAX78002)}
