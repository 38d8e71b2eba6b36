"""The settings of the accelerator for each layer, where that differs from what the layer says.

Kernels of 1x1 beside streaming layers become 3x3; dilated kernels of one dimension are stretched or become kernels of
two; transposed convolutions pad from the other side; on the MAX78002 a small layer clears what averages left behind.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from buildtool.errors import Where
from buildtool.targets.max7800x import processors
from buildtool.targets.max7800x.devices import MAX78000
from buildtool.targets.max7800x.network import Layer, Network, Operation, Size
from buildtool.targets.max7800x.simulation import checks

STREAMING_LAYERS = 8
LONGEST_KERNEL = 9  # of one dimension
_DILATED_AS_PICTURE = 3  # the longest kernel whose dilation is made with rows of a picture


@dataclass(frozen=True)
class HardwareLayer:
    """A layer as its registers and its kernels see it."""

    layer: Layer
    number: int  # of its registers
    first: bool  # it reads what the network is given
    last: bool  # nothing runs after it
    previous: int | None  # position of the one that runs before, in `layers_of`
    following: int | None
    operation: Operation
    in_size: Size
    pool: Size
    pool_stride: Size
    pool_dilation: Size
    pooled: Size
    kernel_size: Size
    stride: Size
    pad: Size
    weights: NDArray[np.int8] | None  # [out, in / groups, rows, columns]; of flattened [out, channels * pixels, 1, 1]
    bits: int
    groups: int = 1
    skipped_bytes: int = 0  # before the output, written and not part of it
    surplus: int = 0  # pixels of output that nobody reads, those included
    eltwise_by_rows: bool = False  # several passes of operands are read as more rows
    clears_averages: bool = False  # a layer before it, of number - 1, does nothing else

    @property
    def convolves(self) -> bool:
        return self.operation != "none"

    @property
    def in_passes(self) -> int:
        return processors.passes(self.layer.in_channels)

    @property
    def in_per_pass(self) -> int:
        return processors.per_pass(self.layer.in_channels)

    @property
    def out_passes(self) -> int:
        return processors.passes(self.layer.out_channels)

    @property
    def out_per_pass(self) -> int:
        return processors.per_pass(self.layer.out_channels)

    @property
    def pools(self) -> bool:
        return self.pool != (1, 1)

    @property
    def weight_bits(self) -> int:
        return abs(self.bits)

    @property
    def broadcasts(self) -> bool:
        """Depthwise convolutions whose outputs go where their inputs came from."""
        return self.groups > 1 and self.layer.processors == self.layer.output_processors

    @property
    def where(self) -> Where:
        source = self.layer.source
        return Where(file=source.file, line=source.line, node=source.node or self.layer.name)

    @property
    def title(self) -> str:
        """Its number, and its name where it has one."""
        return f"{self.layer.index} '{self.layer.name}'" if self.layer.name else str(self.layer.index)

    def hint(self, name: str) -> bool:
        return bool(self.layer.hints.get(name))


def layers_of(network: Network) -> tuple[HardwareLayer, ...]:
    """The layers in the order of their numbers. GraphError where they run in circles."""
    running = [network.layers[at] for at in checks.order(network)]
    by_index = sorted(range(len(running)), key=lambda at: running[at].index)
    position = {at: number for number, at in enumerate(by_index)}
    layers: list[HardwareLayer] = []
    inserted = 0
    for at in by_index:
        layer, previous = running[at], running[at - 1] if at else None
        clears = network.device is not MAX78000 and previous is not None and _averages(layer) and previous.operands > 1
        inserted += clears
        plain = HardwareLayer(
            layer=layer,
            number=layer.index + inserted,
            first=at == 0,
            last=at == len(running) - 1,
            previous=position.get(at - 1),
            following=position.get(at + 1),
            clears_averages=clears,
            eltwise_by_rows=network.device is MAX78000 and _many_operands(layer),
            **_sizes(layer),
        )
        beside_streaming = layer.streaming or (previous is not None and previous.streaming)
        layers.append(_adapted(plain, beside_streaming))
    return tuple(layers)


def _averages(layer: Layer) -> bool:
    return layer.pool is not None and layer.pool.kind == "average"


def _many_operands(layer: Layer) -> bool:
    """Operands in several passes that the hardware of the MAX78000 does not take apart."""
    passes = processors.passes(layer.in_channels)
    return layer.operands > 1 and passes > 1 and layer.operands * passes != layer.operands + passes


def _sizes(layer: Layer) -> dict[str, Any]:
    pool, stride, dilation = (1, 1), (1, 1), (1, 1)
    if layer.pool is not None:
        pool, stride, dilation = layer.pool.size, layer.pool.stride, layer.pool.dilation
    pooled = tuple(
        (size - (window - 1) * apart - 1) // step + 1
        for size, window, step, apart in zip(layer.in_size, pool, stride, dilation, strict=True)
    )
    kernel = layer.kernel
    return {
        "operation": layer.operation,
        "in_size": layer.in_size,
        "pool": pool,
        "pool_stride": stride,
        "pool_dilation": dilation,
        "pooled": pooled,
        "kernel_size": kernel.size if kernel else (1, 1),
        "stride": kernel.stride if kernel else (1, 1),
        "pad": kernel.pad if kernel else (0, 0),
        "weights": kernel.weights if kernel and not layer.hints.get("bypass") else None,
        "bits": kernel.bits if kernel else 8,
        "groups": kernel.groups if kernel else 1,
    }


def _adapted(hardware: HardwareLayer, beside_streaming: bool) -> HardwareLayer:
    kernel = hardware.layer.kernel
    if kernel is None:
        return hardware
    if hardware.operation == "convtranspose2d":
        rows, columns = (
            apart * (size - 1) - pad for apart, size, pad in zip(kernel.dilation, kernel.size, kernel.pad, strict=True)
        )
        return replace(hardware, pad=(rows, columns))
    if beside_streaming and hardware.layer.index <= STREAMING_LAYERS and hardware.operation == "conv2d":
        return _as_3x3(hardware) if kernel.size == (1, 1) else hardware
    if hardware.operation == "conv1d" and kernel.dilation[0] > 1:
        if (kernel.size[0] - 1) * kernel.dilation[0] < LONGEST_KERNEL:
            return _stretched(hardware, kernel.dilation[0])
        if kernel.size[0] <= _DILATED_AS_PICTURE:
            return _as_picture(hardware, kernel.dilation[0])
    return hardware


def _as_3x3(hardware: HardwareLayer) -> HardwareLayer:
    """The same convolution with eight taps of zero: what streams has no other kernels."""
    weights = hardware.weights
    if weights is not None:
        weights = np.pad(weights, ((0, 0), (0, 0), (1, 1), (1, 1)))
    return replace(hardware, weights=weights, kernel_size=(3, 3), pad=(1, 1))


def _stretched(hardware: HardwareLayer, dilation: int) -> HardwareLayer:
    """A kernel of one dimension with zeros between its taps."""
    length = (hardware.kernel_size[0] - 1) * dilation + 1
    weights = hardware.weights
    if weights is not None:
        stretched = np.zeros((*weights.shape[:2], length, 1), weights.dtype)
        stretched[:, :, ::dilation] = weights
        weights = stretched
    return replace(hardware, weights=weights, kernel_size=(length, 1))


def _as_picture(hardware: HardwareLayer, dilation: int) -> HardwareLayer:
    """A dilated convolution of one dimension: rows as long as the dilation, and a kernel of 3x3 with one column.

    The first row of the result is cut off where the kernel reaches back.
    """
    length, taps = hardware.in_size[0], hardware.kernel_size[0]
    size = (-(-length // dilation), dilation)
    weights = hardware.weights
    if weights is not None:
        above = 1 if taps < _DILATED_AS_PICTURE else 0
        below = _DILATED_AS_PICTURE - taps - above
        weights = np.pad(weights, ((0, 0), (0, 0), (above, below), (1, 1)))
    skipped = 4 * dilation * hardware.out_passes if taps == _DILATED_AS_PICTURE else 0
    surplus = size[0] * size[1] - hardware.layer.out_size[0]
    return replace(
        hardware,
        operation="conv2d",
        in_size=size,
        pooled=size,
        kernel_size=(3, 3),
        pad=(1, 1),
        weights=weights,
        skipped_bytes=skipped,
        surplus=surplus,
    )
