"""How planes lie in the KPU's RAM: rows of 64 bytes that narrow channels share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

RAM_BYTES = 2 * 1024 * 1024
UNIT = 64
RAM_UNITS = RAM_BYTES // UNIT
Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class RowLayout:
    """How many channels share a row, how far apart they start, and how many units of 64 bytes a row takes."""

    group: int
    pitch: int
    row_units: int

    def units(self, height: int, channels: int) -> int:
        """Units of 64 bytes that planes take. The last group counts as whole."""
        return -(-channels // self.group) * self.row_units * height


def row_layout(width: int) -> RowLayout:
    if width <= 16:
        return RowLayout(4, 16, 1)
    if width <= 32:
        return RowLayout(2, 32, 1)
    return RowLayout(1, 64 * -(-width // UNIT), -(-width // UNIT))


def units(width: int, height: int, channels: int) -> int:
    """Units of 64 bytes that planes take in the KPU's RAM."""
    return row_layout(width).units(height, channels)


def upload(ram: Bytes, unit: int, planes: Bytes) -> None:
    """Write planes, channels first. Bytes of the rows that no channel owns stay as they are."""
    channels, height, width = planes.shape
    layout = row_layout(width)
    rows = _grouped(ram, unit, width, height, channels)
    whole = channels // layout.group
    shared = planes[: whole * layout.group].reshape(whole, layout.group, height, width)
    rows[:whole, :, :, :width] = shared
    rest = planes[whole * layout.group :]
    if len(rest):
        rows[whole, : len(rest), :, :width] = rest


def download(ram: Bytes, unit: int, channels: int, height: int, width: int) -> Bytes:
    """Read planes, channels first."""
    layout = row_layout(width)
    rows = _grouped(ram, unit, width, height, channels)[:, :, :, :width]
    planes: Bytes = rows.reshape(len(rows) * layout.group, height, width)[:channels].copy()
    return planes


def _grouped(ram: Bytes, unit: int, width: int, height: int, channels: int) -> Bytes:
    """A view of the RAM: group, channel in the group, row, byte."""
    layout = row_layout(width)
    start = unit * UNIT
    part = ram[start : start + layout.units(height, channels) * UNIT]
    groups = -(-channels // layout.group)
    rows: Bytes = part.reshape(groups, height, layout.group, layout.pitch).transpose(0, 2, 1, 3)
    return rows
