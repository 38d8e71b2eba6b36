"""What every layer of a kmodel gives, as text for people."""

from __future__ import annotations

import io

import numpy as np
import numpy.typing as npt

from buildtool.targets.k210.format import layout
from buildtool.targets.k210.format.kmodel import Kmodel
from buildtool.targets.k210.format.kpu_layers import AddPadding, Conv, Upload
from buildtool.targets.k210.format.layer import Layer, LayerType
from buildtool.targets.k210.generation import checks
from buildtool.targets.k210.simulation.simulator import Simulator

_EDGE = 4


def texts(model: Kmodel, data: bytes) -> dict[str, bytes]:
    """A file for each layer: a line for each row of planes, or for each number of a list, channels first."""
    simulator = Simulator(model)
    simulator.load(data)
    found = {}
    for number, layer in enumerate(model.layers):
        simulator.step(layer)
        found[f"layer-{number:03}-{layer.TYPE.name.lower()}.txt"] = _text(simulator, layer)
    return found


def _text(simulator: Simulator, layer: Layer) -> bytes:
    written = io.BytesIO()
    if isinstance(layer, Conv | Upload | AddPadding):
        found = planes(simulator, layer)
        np.savetxt(written, found.reshape(-1, found.shape[2]), "%d")
    else:
        for part in layer.writes():
            if part.element == 4 or layer.TYPE is LayerType.CONCAT:  # which counts bytes, and moves floats
                np.savetxt(written, simulator.main.f32(part.start, part.bytes // 4), "%.9g")
            else:
                np.savetxt(written, simulator.main.u8(part.start, part.bytes), "%d")
    return written.getvalue()


def planes(simulator: Simulator, layer: Conv | Upload | AddPadding) -> npt.NDArray[np.uint8]:
    """What a layer of the KPU has just made: channels, rows, columns. Where it covers its own input, they are nowhere
    but in main memory.
    """
    if isinstance(layer, Conv):
        if checks.covers_its_input(layer):
            return simulator.main.u8(layer.main_out, layer.out_bytes).reshape(layer.out_shape)
        return layout.download(simulator.ram, layer.argument.dst, *layer.out_shape)
    shape = (layer.c, layer.h, layer.w) if isinstance(layer, Upload) else (layer.channels, _EDGE, _EDGE)
    return layout.download(simulator.ram, layer.kpu_out, *shape)
