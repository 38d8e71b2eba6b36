"""Everything that a generated program writes to the accelerator, and what it expects to read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from buildtool.errors import UnsupportedError
from buildtool.targets.max7800x import limits
from buildtool.targets.max7800x.firmware import addresses, bias_memory, data_memory, kernel_memory, made_inputs
from buildtool.targets.max7800x.firmware.data_memory import ExpectedBlock, InputBlock, Stored, Unload
from buildtool.targets.max7800x.firmware.hardware import layers_of
from buildtool.targets.max7800x.firmware.kernel_memory import Chunk
from buildtool.targets.max7800x.firmware.registers import Placed, Setting, Write, layer_settings, quadrants_of
from buildtool.targets.max7800x.firmware.registers_control import (
    Step,
    counted_by_snooping,
    fifo_settings,
    first_of,
    init_steps,
    snoop_settings,
    start_writes,
    unused_registers,
)
from buildtool.targets.max7800x.network import Network
from buildtool.targets.max7800x.options import Options
from buildtool.targets.max7800x.planning import overlap
from buildtool.targets.max7800x.simulation import checks, simulate


@dataclass(frozen=True)
class Group:
    """Registers that belong together, in the order in which they are written."""

    title: str
    settings: tuple[Setting, ...]


@dataclass(frozen=True)
class Program:
    """What the generated functions do, as data."""

    placed: Placed
    init: tuple[Step, ...]  # writes, and what is waited for between them
    configuration: tuple[Group, ...]
    start: tuple[Write, ...]
    cleared: tuple[Write, ...]  # after the configuration: from where on, and how many words
    sample: NDArray[Any]  # [channels, rows, columns]
    kernels: tuple[tuple[int, bytes], ...]  # address, bytes in the order of columns
    biases: tuple[tuple[int, bytes], ...]
    inputs: tuple[InputBlock, ...]
    expected: tuple[ExpectedBlock, ...]
    counted: tuple[ExpectedBlock, ...]  # what snooping has to have counted
    unload: tuple[Unload, ...]

    @property
    def register_writes(self) -> Mapping[str, tuple[Write, ...]]:
        """By function: every register that it writes, in order."""
        return {
            "cnn_init": tuple((address, value) for kind, address, value in self.init if kind == "write"),
            "cnn_configure": tuple(one[:2] for group in self.configuration for one in group.settings),
            "cnn_start": self.start,
        }

    @property
    def network(self) -> Network:
        return self.placed.network

    @property
    def options(self) -> Options:
        return self.placed.options


def place(network: Network, options: Options | None = None) -> Placed:
    """Kernels and biases of a network whose layers have their places.

    UnsupportedError names everything that does not fit, GraphError where layers contradict each other.
    """
    options = options or Options()
    limits.check_options(network, options)
    checks.check(network)
    layers = layers_of(network)
    limits.check(network, layers)
    overlapping = [] if options.overlap_data else overlap.check(network)
    if overlapping:
        raise UnsupportedError(overlapping)
    quadrants = quadrants_of(layers)
    kernels = kernel_memory.place(network.device, layers)
    return Placed(network, layers, kernels, bias_memory.place(network.device, layers, quadrants), quadrants, options)


def make(network: Network, sample: NDArray[Any], options: Options | None = None) -> Program:
    """Place kernels and biases and compute every register of a network whose layers have their places.

    `sample` is [channels, rows, columns]; its simulated outputs are what the program expects. UnsupportedError names
    everything that does not fit.
    """
    placed = place(network, options)
    limits.check_repetitions(placed)
    sample = made_inputs.chosen(placed, simulate.as_sample(network, sample))
    trace = simulate.run(network, sample)
    kernels, biases = placed.kernels, placed.biases
    outputs = {hardware.layer.index: hardware for hardware in placed.layers}
    results = [
        (data_memory.stored(outputs[network.layers[at].index].layer), values) for at, values in trace.results.items()
    ]
    return Program(
        placed,
        tuple(init_steps(placed)),
        tuple(_configuration(placed)),
        tuple(start_writes(placed)),
        tuple(unused_registers(placed)) if placed.options.clear_unused else (),
        trace.sample,
        tuple((_chunk_address(placed, chunk), chunk.data) for chunk in kernels.chunks()),
        tuple(
            (addresses.of(network.device).bias(quadrant), held) for quadrant, held in enumerate(biases.bytes) if held
        ),
        data_memory.inputs(network, first_of(placed), trace.sample),
        _compared(placed, data_memory.expected(network.device, results)),
        tuple(_counted(placed)),
        tuple(data_memory.unload(network.device, output) for output in _unloaded(network, results)),
    )


def _configuration(placed: Placed) -> Iterator[Group]:
    for repetition in range(placed.options.repeat_layers):
        again = f", run {repetition + 1}" if repetition else ""
        for at, hardware in enumerate(placed.layers):
            for quadrant in placed.quadrants:
                title = f"layer {hardware.title}{again}: quadrant {quadrant}"
                yield Group(title, tuple(layer_settings(placed, at, quadrant, repetition)))
    for title, settings in (("snooping", snoop_settings(placed)), ("FIFO", fifo_settings(placed))):
        if settings:
            yield Group(title, tuple(settings))


def _compared(placed: Placed, blocks: tuple[ExpectedBlock, ...]) -> tuple[ExpectedBlock, ...]:
    """As many words of the output as the options want."""
    most = placed.options.most_verified
    if most is None:
        return blocks
    found: list[ExpectedBlock] = []
    for block in blocks:
        words = block.words[: most - sum(len(before.words) for before in found)]
        if words:
            found.append(replace(block, words=words))
    return tuple(found)


def _counted(placed: Placed) -> Iterator[ExpectedBlock]:
    if placed.options.verify_snoop:
        for address, value in counted_by_snooping(placed):
            yield ExpectedBlock(address, data_memory.ALL, (value,))


def _chunk_address(placed: Placed, chunk: Chunk) -> int:
    """Where loading begins. Kernels that are loaded as bytes have addresses that step by words."""
    step = addresses.WORD if placed.options.compact_weights else addresses.COLUMN_STEP
    return addresses.of(placed.network.device).kernel_memory(chunk.processor) + chunk.column * step


def _unloaded(network: Network, results: list[tuple[Stored, Any]]) -> list[Stored]:
    """The outputs that are read: those that were written down, else what the last layers put out."""
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
