"""Small networks without places, layer by layer, with random weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from buildtool.targets.max7800x.devices import MAX78000, Device
from buildtool.targets.max7800x.network import INPUT, UNPLACED, Kernel, Layer, Network, Pool, Size
from buildtool.targets.max7800x.simulation import arithmetic


class Sketch:
    """Layers are numbers, as a network counts them; -1 is the input."""

    def __init__(self, channels: int, size: Size, device: Device = MAX78000, seed: int = 0) -> None:
        self._rng = np.random.default_rng(seed)
        self._channels, self._size, self._device = channels, size, device
        self._layers: list[Layer] = []

    def conv(self, *sources: int, out: int, size: int = 3, bits: int = 8, pool: Pool | None = None, **more: Any) -> int:
        """A convolution that keeps the size, with what comes in pooled first."""
        channels, picture = self._read(sources, int(more.get("operands", 1)))
        picture = arithmetic.pooled_size(picture, pool)
        kernel = Kernel(
            self._weights((out, channels, size, size), bits),
            bits,
            self._rng.integers(-20, 20, out).astype(np.int8),
            (size, size),
            pad=(size // 2, size // 2),
        )
        more = {"activation": "relu", "output_shift": -3, **more}
        return self._add("conv2d", sources, out_channels=out, out_size=picture, pool=pool, kernel=kernel, **more)

    def up(self, source: int, out: int) -> int:
        """A transposed convolution that doubles the size."""
        channels, (rows, columns) = self._read((source,), 1)
        kernel = Kernel(self._weights((out, channels, 3, 3), 8), stride=(2, 2), output_pad=(1, 1))
        size = (rows * 2, columns * 2)
        return self._add(
            "convtranspose2d", (source,), out_channels=out, out_size=size, kernel=kernel, activation="relu"
        )

    def line(self, source: int, out: int, length: int, pool: Pool | None = None) -> int:
        """A convolution of one dimension that keeps the length, up to kernels of 5."""
        channels, size = self._read((source,), 1)
        size = arithmetic.pooled_size(size, pool)
        weights = self._weights((out, channels, length, 1), 8)
        pad = min(length // 2, 2)
        kernel = Kernel(weights, size=(length, 1), pad=(pad, 0))
        size = (size[0] + 2 * pad - length + 1, 1)
        return self._add(
            "conv1d", (source,), out_channels=out, out_size=size, kernel=kernel, pool=pool, output_shift=-4
        )

    def linear(self, source: int, out: int, width: int = 32) -> int:
        """A layer that sees everything at once."""
        channels, size = self._read((source,), 1)
        weights = self._weights((out, channels * size[0] * size[1], 1, 1), 8)
        kernel = Kernel(weights, bias=self._rng.integers(-20, 20, out).astype(np.int8), size=(1, 1), pad=(0, 0))
        flatten = size != (1, 1)
        return self._add(
            "linear", (source,), out_channels=out, out_size=(1, 1), kernel=kernel, flatten=flatten, output_width=width
        )

    def add(self, *sources: int, **more: Any) -> int:
        """Sources word by word, added."""
        channels, size = self._read(sources, len(sources))
        more = {"operands": len(sources), "eltwise": "add", **more}
        return self._add("none", sources, out_channels=channels, out_size=size, **more)

    def passed(self, *sources: int, pool: Pool | None = None, **more: Any) -> int:
        """Nothing but pooling."""
        channels, size = self._read(sources, 1)
        size = arithmetic.pooled_size(size, pool)
        return self._add("none", sources, out_channels=channels, out_size=size, pool=pool, **more)

    def network(self, name: str = "sketch") -> Network:
        return Network(name, self._device, tuple(self._layers), self._channels, self._size)

    def sample(self) -> Any:
        return self._rng.integers(-128, 128, (self._channels, *self._size))

    def shape(self, number: int) -> tuple[int, Size]:
        """Channels, rows and columns of a layer, or of the input."""
        return self._read((number,), 1)

    def _read(self, sources: tuple[int, ...], operands: int) -> tuple[int, Size]:
        channels, size = 0, self._size
        for source in sources:
            channels += self._channels if source == INPUT else self._layers[source].out_channels
            size = self._size if source == INPUT else self._layers[source].out_size
        return channels // operands, size

    def _weights(self, shape: tuple[int, ...], bits: int) -> Any:
        return self._rng.integers(-(1 << (bits - 1)), 1 << (bits - 1), shape).astype(np.int8)

    def _add(self, operation: Any, sources: tuple[int, ...], **more: Any) -> int:
        channels, size = self._read(sources, int(more.get("operands", 1)))
        number = len(self._layers)
        layer = Layer(
            index=number,
            name=f"layer {number}",
            operation=operation,
            sources=sources,
            in_channels=channels,
            in_size=size,
            processors=0,
            in_offset=UNPLACED,
            out_offset=UNPLACED,
            **more,
        )
        self._layers.append(layer)
        return number


def halved(kind: Any = "max") -> Pool:
    return Pool(kind, (2, 2), (2, 2))
