"""Runs a kmodel as the chip would, to the last bit: layer by layer, in main memory and the KPU's RAM."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from buildtool.errors import RunError
from buildtool.targets.k210.format import layout
from buildtool.targets.k210.format.cpu_layers import FullyConnected
from buildtool.targets.k210.format.kmodel import Kmodel
from buildtool.targets.k210.format.kpu_layers import AddPadding, Conv, RemovePadding, Upload
from buildtool.targets.k210.format.layer import Layer, LayerType
from buildtool.targets.k210.format.layout import Bytes
from buildtool.targets.k210.generation import checks
from buildtool.targets.k210.simulation import cpu, kpu

_PADDED_EDGE = 4
_CPU: dict[LayerType, Callable[[Any, cpu.MainMemory], None]] = {
    LayerType.ADD: cpu.add,
    LayerType.Q_ADD: cpu.q_add,
    LayerType.GAP: cpu.gap,
    LayerType.Q_MAXPOOL: cpu.q_max_pool,
    LayerType.AVGPOOL: cpu.average_pool,
    LayerType.QUANTIZE: cpu.quantize,
    LayerType.DEQUANTIZE: cpu.dequantize,
    LayerType.REQUANTIZE: cpu.requantize,
    LayerType.L2_NORM: cpu.l2_norm,
    LayerType.SOFTMAX: cpu.softmax,
    LayerType.CONCAT: cpu.concat,
    LayerType.Q_CONCAT: cpu.concat,
    LayerType.FC: cpu.fully_connected,
    LayerType.TF_FLATTEN: cpu.flatten,
    LayerType.Q_TF_FLATTEN: cpu.flatten,
    LayerType.RESIZE_NN: cpu.resize,
    LayerType.Q_RESIZE_NN: cpu.resize,
    LayerType.CHANNELWISE_DEQUANT: cpu.channelwise_dequantize,
    LayerType.LOGISTIC: cpu.logistic,
}


class Memory:
    """Main memory: bytes, some of which are read as floats. What is read is a copy."""

    def __init__(self, size: int) -> None:
        self.bytes = np.zeros(size, np.uint8)

    def u8(self, start: int, count: int) -> Bytes:
        part: Bytes = self.bytes[start : start + count].copy()
        return part

    def f32(self, start: int, count: int) -> cpu.Floats:
        part: cpu.Floats = self.bytes[start : start + count * 4].copy().view("<f4")
        return part

    def put(self, start: int, values: Bytes | cpu.Floats) -> None:
        """In their order. What lies behind the end of the memory is lost."""
        data = np.ascontiguousarray(values).reshape(-1)
        raw = data if data.dtype == np.uint8 else data.astype("<f4").view(np.uint8)
        part = self.bytes[start : start + len(raw)]
        part[:] = raw[: len(part)]


class Simulator:
    """A model with its memories. `main` and `ram` may be looked at between steps."""

    def __init__(self, model: Kmodel) -> None:
        self.model = model
        self.main = Memory(checks.rounded(model.main_memory))
        # Twice what the chip has: planes whose last rows lie behind the end are written, and nobody reads them.
        self.ram = np.zeros(2 * layout.RAM_BYTES, np.uint8)

    def run(self, data: bytes) -> list[bytes]:
        """All outputs for one input: bytes of planes, channels first, or floats where the first layer is an FC."""
        self.load(data)
        for layer in self.model.layers:
            self.step(layer)
        return [self.main.u8(output.address, output.size).tobytes() for output in self.model.outputs]

    def load(self, data: bytes) -> None:
        """Put the input where the first layer looks for it."""
        if len(data) != self.model.input_bytes:
            raise RunError(
                f"the input has {len(data)} bytes", rule=f"the first layer takes {self.model.input_bytes} bytes"
            )
        values = np.frombuffer(data, np.uint8)
        first = self.model.layers[0]
        if isinstance(first, Conv):
            layout.upload(self.ram, first.argument.src, values.reshape(first.in_shape))
        elif isinstance(first, FullyConnected):
            self.main.put(first.in_, values)

    def step(self, layer: Layer) -> None:
        """Run one layer."""
        with np.errstate(all="ignore"):  # infinities and wrapping are what the chip makes of them
            if isinstance(layer, Conv):
                self._conv(layer)
            elif isinstance(layer, AddPadding):
                self._add_padding(layer)
            elif isinstance(layer, RemovePadding):
                cpu.remove_padding(layer.in_, layer.out, layer.channels, self.main)
            elif isinstance(layer, Upload):
                planes = self.main.u8(layer.in_, layer.c * layer.h * layer.w)
                layout.upload(self.ram, layer.kpu_out, planes.reshape(layer.c, layer.h, layer.w))
            else:
                _CPU[layer.TYPE](layer, self.main)

    def _conv(self, layer: Conv) -> None:
        """The KPU writes main memory where the layer says so, and its RAM unless the input lies there."""
        planes = layout.download(self.ram, layer.argument.src, *layer.in_shape)
        result = kpu.run(layer, planes, wide_weights=self.model.wide_weights)
        if not checks.covers_its_input(layer):
            layout.upload(self.ram, layer.argument.dst, result)
        if layer.to_main:
            self.main.put(layer.main_out, result)

    def _add_padding(self, layer: AddPadding) -> None:
        planes = layout.download(self.ram, layer.kpu_out, layer.channels, _PADDED_EDGE, _PADDED_EDGE)
        planes[:, 0, 0] = self.main.u8(layer.in_, layer.channels)
        layout.upload(self.ram, layer.kpu_out, planes)


def simulate(model: Kmodel, data: bytes) -> list[bytes]:
    """All outputs of a model for one input."""
    return Simulator(model).run(data)
