"""How long a layer takes, by a rule of thumb: good for finding the expensive layer, not for promising frames."""

from __future__ import annotations

from typing import Any

from buildtool.targets.k210.format import cpu_layers as cpu
from buildtool.targets.k210.format.kmodel import Kmodel
from buildtool.targets.k210.format.kpu_layers import AddPadding, Conv, RemovePadding, Upload
from buildtool.targets.k210.format.layer import Layer

HERTZ = 400e6  # of the KPU, and of the CPU as it starts
WINDOWS_PER_CYCLE = 64
BYTES_PER_CYCLE = 8
CYCLES_PER_MAC = 3  # of the CPU: two loads and a fused multiply-add
CYCLES_PER_ELEMENT = 4  # load, compute, store, count
CYCLES_PER_EXP = 100
RULE = (
    f"KPU: the larger of kernel windows (1x1 or 3x3) / {WINDOWS_PER_CYCLE}, before the pool, and bytes of weights and "
    f"tables / {BYTES_PER_CYCLE}, and bytes sent to main memory / {BYTES_PER_CYCLE} more; CPU: {CYCLES_PER_MAC} per "
    f"multiply-accumulate, {CYCLES_PER_ELEMENT} per element read or written, {CYCLES_PER_EXP} per exp"
)


def macs(layer: Layer) -> int:
    """Multiply-accumulates of a convolution, before its pool, or of a fully connected layer."""
    if isinstance(layer, Conv):
        return windows(layer) * layer.argument.kernel_size
    return layer.ic * layer.oc if isinstance(layer, cpu.FullyConnected) else 0


def windows(layer: Conv) -> int:
    """How many kernels of one channel are laid over planes."""
    argument = layer.argument
    sources = 1 if argument.depthwise else argument.in_channels
    return argument.in_w * argument.in_h * sources * argument.out_channels


def cycles(layer: Layer) -> int:
    if isinstance(layer, Conv):
        tables = len(layer.weights) + 8 * len(layer.batch_norm) + 144
        busy = max(-(-windows(layer) // WINDOWS_PER_CYCLE), -(-tables // BYTES_PER_CYCLE))
        return busy + (-(-layer.out_bytes // BYTES_PER_CYCLE) if layer.to_main else 0)
    if isinstance(layer, cpu.FullyConnected):
        return macs(layer) * CYCLES_PER_MAC + layer.oc * CYCLES_PER_ELEMENT
    if isinstance(layer, AddPadding | RemovePadding):
        return layer.channels * CYCLES_PER_ELEMENT
    if isinstance(layer, Upload):
        return layer.w * layer.h * layer.c * CYCLES_PER_ELEMENT
    exponents = layer.channels if isinstance(layer, cpu.Softmax | cpu.Logistic) else 0
    if isinstance(layer, cpu.QMaxPool | cpu.AvgPool):
        return layer.out_w * layer.out_h * layer.out_c * layer.kw * layer.kh * CYCLES_PER_ELEMENT
    elements = sum(part.bytes // part.element for part in (*layer.reads(), *layer.writes()))
    return elements * CYCLES_PER_ELEMENT + exponents * CYCLES_PER_EXP


def document(model: Kmodel) -> dict[str, Any]:
    """All layers as plain data, with the KPU's 64 multipliers or the one of the CPU."""
    layers = []
    for number, layer in enumerate(model.layers):
        on_kpu, took = isinstance(layer, Conv), cycles(layer)
        least = -(-windows(layer) // WINDOWS_PER_CYCLE) if isinstance(layer, Conv) else took
        layers.append({
            "layer": number, "name": layer.TYPE.name.lower(), "cycles": took, "rough": True, "macs": macs(layer),
            "processors": WINDOWS_PER_CYCLE if on_kpu else 1, "busy": least / took if took else 0.0,
        })  # fmt: skip
    total = sum(cycles(layer) for layer in model.layers)
    return {
        "device": "k210",
        "hertz": HERTZ,
        "cycles": total,
        "seconds": total / HERTZ,
        "macs": sum(macs(layer) for layer in model.layers),
        "rough": True,
        "rule": RULE,
        "layers": layers,
    }
