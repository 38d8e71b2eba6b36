"""The report of a network: its layers as plain data, and the resources of its program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from buildtool.targets.max7800x.devices import QUADRANTS, Device
from buildtool.targets.max7800x.firmware.addresses import BYTES_PER_COLUMN
from buildtool.targets.max7800x.firmware.program import Program
from buildtool.targets.max7800x.firmware.registers import Placed
from buildtool.targets.max7800x.network import BUFFER, INPUT, Layer, Network, Pool, Size
from buildtool.targets.max7800x.simulation.estimate import Estimate, estimate
from buildtool.targets.protocol import Figure, FirmwareModel

SOURCES: Mapping[int, str] = {INPUT: "input", BUFFER: "buffer"}


def document(placed: Placed) -> dict[str, Any]:
    """A network for JSON, with what it takes of the chip and an estimate of its cycles."""
    network = placed.network
    counted = estimate(network)
    kernels, biases = _held(placed)
    return {
        "name": network.name,
        "device": network.device.name,
        "input": _shape(network.input_channels, network.input_size),
        "fifo": network.fifo,
        "cycles": counted.cycles,
        "macs": counted.macs,
        "rough": counted.rough,
        "kernel_bytes": kernels,
        "kernel_share": kernels / _kernel_bytes(network.device),
        "bias_bytes": biases,
        "bias_share": biases / (network.device.bias_bytes * QUADRANTS),
        "layers": rows(network, counted),
    }


def rows(network: Network, counted: Estimate) -> list[dict[str, Any]]:
    """Its layers."""
    of_layer = {one.layer.index: one for one in counted.layers}
    return [
        {
            **_row(layer),
            "cycles": of_layer[layer.index].cycles,
            "macs": of_layer[layer.index].macs,
        }
        for layer in network.layers
        if layer.index in of_layer
    ]


def _row(layer: Layer) -> dict[str, Any]:
    kernel = layer.kernel
    return {
        "layer": layer.index,
        "name": layer.name,
        "operation": layer.operation,
        "sources": [SOURCES.get(source, source) for source in layer.sources],
        "in": _shape(layer.in_channels, layer.in_size),
        "in_offset": layer.in_offset,
        "processors": layer.processors,
        "operands": layer.operands,
        "eltwise": layer.eltwise,
        "pool": None if layer.pool is None else pool_words(layer.pool),
        "kernel": None if kernel is None else _times(kernel.size),
        "pad": None if kernel is None else kernel.pad[0],
        "bits": None if kernel is None else kernel.bits,
        "bias": kernel is not None and kernel.bias is not None,
        "output_shift": layer.output_shift,
        "activation": layer.activation,
        "out": _shape(layer.out_channels, layer.out_size),
        "out_offset": layer.out_offset,
        "output_processors": layer.output_processors,
        "output_width": layer.output_width,
        "flatten": layer.flatten,
        "streaming": layer.streaming,
        "write_gap": layer.write_gap,
    }


def pool_words(pool: Pool) -> str:
    """A pool, or what leaves out rows and columns."""
    if pool.size == (1, 1):
        return f"every {_times(pool.stride)}"
    return f"{pool.kind} {_times(pool.size)} every {_times(pool.stride)}"


def report_of(name: str, program: Program) -> FirmwareModel:
    """For the report of a build."""
    network = program.network
    counted = estimate(network)
    kinds: dict[str, int] = {}
    for layer in network.layers:
        kinds[_kind(layer)] = kinds.get(_kind(layer), 0) + 1
    kernels, biases = _held(program.placed)
    room = _kernel_bytes(network.device)
    figures = (
        Figure("cycles", "cycles, estimated", counted.cycles, "count"),
        Figure("kernel_bytes", "kernel memory", kernels, "bytes"),
        Figure("kernel_share", "of all kernel memory", kernels / room, "share"),
        Figure("bias_bytes", f"bias memory, of {network.device.bias_bytes * QUADRANTS}", biases, "bytes"),
    )
    return FirmwareModel(
        name, counted.macs, kernels + biases, dict(sorted(kinds.items())), figures, document(program.placed)
    )


def _held(placed: Placed) -> tuple[int, int]:
    """Bytes of kernels and biases on the chip."""
    kernels = sum(len(chunk.data) for chunk in placed.kernels.chunks())
    return kernels, sum(len(held) for held in placed.biases.bytes)


def _kernel_bytes(device: Device) -> int:
    processors = 64 - QUADRANTS
    return (device.kernel_columns * processors + device.first_kernel_columns * QUADRANTS) * BYTES_PER_COLUMN


def _kind(layer: Layer) -> str:
    return layer.eltwise or "passthrough" if layer.operation == "none" else layer.operation


def _shape(channels: int, size: Size) -> str:
    return f"{channels}x{_times(size)}"


def _times(size: Size) -> str:
    return f"{size[0]}x{size[1]}"
