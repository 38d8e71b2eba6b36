"""How many cycles each layer takes, and how long that is.

The machine works on one position of the picture after the other. All processors read at once: of each pass and operand
a cycle for every value under the pool, and one to put the result away. A position in padding takes one value. Where a
window is complete, the outputs follow, one in a cycle for each pass; a position that completes none costs a cycle.

For the MAX78002, which can work ahead, the same count is an upper bound.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from buildtool.targets.max7800x import processors
from buildtool.targets.max7800x.devices import (
    MAX78000,
    MAX78002,
    PROCESSORS,
    PROCESSORS_PER_MEMORY,
    QUADRANTS,
    Device,
)
from buildtool.targets.max7800x.firmware.hardware import HardwareLayer, layers_of
from buildtool.targets.max7800x.network import Layer, Network, Size

HERTZ: Mapping[str, float] = MappingProxyType(
    {MAX78000.name: 50e6, MAX78002.name: 200e6}
)  # as generated programs set them
TAPS_PER_CYCLE = 9  # of each processor
_START = 1
_STREAMING = (3, 2)  # waiting for other layers makes it so many times longer, about


@dataclass(frozen=True)
class LayerEstimate:
    """Of one layer."""

    layer: Layer
    cycles: int
    rough: bool  # whether it streams, or is of a chip that works ahead
    macs: int
    active: int  # processors

    @property
    def busy(self) -> float:
        """Which part of what all processors could multiply in that time is used."""
        return self.macs / (self.cycles * PROCESSORS * TAPS_PER_CYCLE)


@dataclass(frozen=True)
class Estimate:
    """Of a network. Weights are loaded already; loading the input and unloading the output are not in it."""

    device: Device
    layers: tuple[LayerEstimate, ...]
    hertz: float

    @property
    def cycles(self) -> int:
        return _START + sum(layer.cycles for layer in self.layers)

    @property
    def macs(self) -> int:
        return sum(layer.macs for layer in self.layers)

    @property
    def seconds(self) -> float:
        return self.cycles / self.hertz

    @property
    def rough(self) -> bool:
        return any(layer.rough for layer in self.layers)

    def as_json(self) -> dict[str, Any]:
        return {
            "device": self.device.name,
            "hertz": self.hertz,
            "cycles": self.cycles,
            "seconds": self.seconds,
            "macs": self.macs,
            "rough": self.rough,
            "layers": [
                {
                    "layer": layer.layer.index,
                    "name": layer.layer.name,
                    "cycles": layer.cycles,
                    "rough": layer.rough,
                    "macs": layer.macs,
                    "processors": layer.active,
                    "busy": layer.busy,
                }
                for layer in self.layers
            ],
        }


def estimate(network: Network, *, hertz: float | None = None) -> Estimate:
    """Of all layers that run. Their places need not be known."""
    layers = tuple(_estimated(hardware, network.device) for hardware in layers_of(network))
    return Estimate(network.device, layers, hertz or HERTZ[network.device.name])


def _estimated(hardware: HardwareLayer, device: Device) -> LayerEstimate:
    layer = hardware.layer
    cycles = _cycles(hardware)
    if layer.streaming:
        cycles = -(-cycles * _STREAMING[0] // _STREAMING[1])
    active = layer.processors.bit_count() or min(hardware.in_per_pass, PROCESSORS)
    return LayerEstimate(layer, cycles, layer.streaming or device is not MAX78000, _macs(layer), active)


def _macs(layer: Layer) -> int:
    if layer.kernel is None:
        return 0
    return int(layer.kernel.weights[0].size) * layer.out_channels * layer.out_size[0] * layer.out_size[1]


@dataclass(frozen=True)
class _Steps:
    """Cycles of one position of the picture."""

    padding: int
    data: int
    runs: int  # how often a row is gone through

    @property
    def idle_padding(self) -> int:
        return self.padding + 1

    @property
    def idle_data(self) -> int:
        return self.data + 1


def _cycles(hardware: HardwareLayer) -> int:
    layer = hardware.layer
    passes, steps = _passes(hardware), _steps(hardware)
    rows, columns = _picture(hardware)
    if not hardware.convolves:
        return rows * columns * (steps.data + passes * _slots(hardware))
    window, (pad_rows, pad_columns) = hardware.kernel_size, hardware.pad
    if hardware.operation == "linear":
        window, pad_rows, pad_columns = (1, 1), 0, 0
    above, before = window[0] - 1 - pad_rows, window[1] - 1 - pad_columns
    out_columns = columns + 2 * pad_columns - window[1] + 1
    sides = 2 * pad_columns * steps.idle_padding
    first = pad_rows * (sides + steps.runs * columns * steps.idle_padding)
    incomplete = above * (sides + steps.runs * columns * steps.idle_data)
    edges = pad_columns * (steps.idle_padding + steps.padding)
    complete = out_columns - pad_columns
    data = edges + steps.runs * (before * steps.idle_data + complete * steps.data)
    last = edges + steps.runs * (before * steps.idle_padding + complete * steps.padding)
    single = layer.out_channels == 1 and passes == 1
    written = passes * out_columns * layer.out_channels + single
    return (
        first
        + incomplete
        + (rows - above) * (data + written)
        + pad_rows * (last + written)
        + (1 if layer.flatten else 0)
    )


def _picture(hardware: HardwareLayer) -> Size:
    """What the kernel goes over: zeros that upsampling puts between pixels are positions as well."""
    rows, columns = hardware.pooled
    if hardware.operation == "convtranspose2d":
        return rows * hardware.stride[0], columns * hardware.stride[1]
    return rows, columns


def _passes(hardware: HardwareLayer) -> int:
    """Pools without a convolution go back after each pass but the last."""
    if not hardware.convolves and hardware.pools and hardware.out_passes > 1:
        return 2 * hardware.in_passes - 1
    return hardware.in_passes


def _steps(hardware: HardwareLayer) -> _Steps:
    layer = hardware.layer
    window = hardware.pool[0] * hardware.pool[1]
    passes = _passes(hardware)
    if layer.pool_first:
        return _Steps(passes * layer.operands * 2, passes * layer.operands * (window + 1), 1)
    return _Steps(passes * 2, passes * (layer.operands * window + 1), passes)


def _slots(hardware: HardwareLayer) -> int:
    """Words that a position without a convolution writes, in the quadrant that writes most of them."""
    layer = hardware.layer
    each = PROCESSORS // QUADRANTS
    used = layer.processors or (1 << hardware.in_per_pass) - 1
    most = max(processors.in_quadrant(used, quadrant).bit_count() for quadrant in range(QUADRANTS))
    return (min(most, each) * layer.output_width // 8 - 1) // PROCESSORS_PER_MEMORY + 1
