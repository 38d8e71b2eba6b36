"""Everything that a generated program writes to the accelerator, and what it expects to read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from buildtool.targets.max7800x import addresses, bias_memory, data_memory, kernel_memory, simulate
from buildtool.targets.max7800x.data_memory import ExpectedBlock, InputBlock, Stored, Unload
from buildtool.targets.max7800x.hardware import HardwareLayer, layers_of
from buildtool.targets.max7800x.kernel_memory import Chunk
from buildtool.targets.max7800x.network import Network
from buildtool.targets.max7800x.options import Options
from buildtool.targets.max7800x.registers import Placed, Write, layer_writes, quadrants_of
from buildtool.targets.max7800x.registers_control import clock_writes, fifo_writes, init_writes, start_writes


@dataclass(frozen=True)
class Program:
    """What the generated functions do, as data."""

    placed: Placed
    register_writes: Mapping[str, tuple[Write, ...]]  # by function, in order
    kernels: tuple[tuple[int, bytes], ...]  # address, bytes in the order of columns
    biases: tuple[tuple[int, bytes], ...]
    inputs: tuple[InputBlock, ...]
    expected: tuple[ExpectedBlock, ...]
    unload: tuple[Unload, ...]

    @property
    def network(self) -> Network:
        return self.placed.network

    @property
    def options(self) -> Options:
        return self.placed.options


def make(network: Network, sample: NDArray[Any], options: Options | None = None) -> Program:
    """Place kernels and biases and compute every register of a network whose layers have their places.

    `sample` is [channels, rows, columns]; its simulated outputs are what the program expects. UnsupportedError names
    everything that does not fit.
    """
    options = options or Options()
    layers = layers_of(network)
    quadrants = quadrants_of(layers)
    kernels = kernel_memory.place(network.device, layers)
    biases = bias_memory.place(network.device, layers, quadrants)
    placed = Placed(network, layers, kernels, biases, quadrants, options)
    trace = simulate.run(network, sample)
    first = next(hardware for hardware in layers if hardware.first)
    outputs = {hardware.layer.index: hardware for hardware in layers}
    results = [(data_memory.stored(outputs[network.layers[at].index]), values) for at, values in trace.results.items()]
    return Program(
        placed,
        {
            "cnn_init": (*clock_writes(placed), *init_writes(placed)),
            "cnn_configure": tuple(_configure(placed)),
            "cnn_start": tuple(start_writes(placed)),
        },
        tuple((_chunk_address(placed, chunk), chunk.data) for chunk in kernels.chunks()),
        tuple(
            (addresses.of(network.device).bias(quadrant), held) for quadrant, held in enumerate(biases.bytes) if held
        ),
        data_memory.inputs(network, first, trace.sample),
        data_memory.expected(network.device, results),
        tuple(data_memory.unload(network.device, output) for output in _unloaded(network, layers, results)),
    )


def _configure(placed: Placed) -> Iterator[Write]:
    for at in range(len(placed.layers)):
        for quadrant in placed.quadrants:
            yield from layer_writes(placed, at, quadrant)
    yield from fifo_writes(placed)


def _chunk_address(placed: Placed, chunk: Chunk) -> int:
    """Where loading begins. Kernels that are loaded as bytes have addresses that step by words."""
    step = addresses.WORD if placed.options.compact_weights else addresses.COLUMN_STEP
    return addresses.of(placed.network.device).kernel_memory(chunk.processor) + chunk.column * step


def _unloaded(network: Network, layers: tuple[HardwareLayer, ...], results: list[tuple[Stored, Any]]) -> list[Stored]:
    """The outputs that are read: those that were written down, else what the last layers put out."""
    del layers
    if not network.unload:
        return [output for output, _ in results]
    return [
        Stored(
            channels=int(entry["channels"]),
            size=tuple(entry["dim"]),
            processors=int(entry["processors"]),
            offset=int(entry["offset"]),
            width=int(entry.get("width", 8)),
            gap=int(entry.get("write_gap", 0)),
        )
        for entry in network.unload
    ]
