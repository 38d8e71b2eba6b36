"""Lathe's side of the comparison."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from buildtool.ir.operator import Array
from buildtool.targets.micro import reference, report
from buildtool.targets.micro.emitting import emulated, files, model
from buildtool.targets.micro.network import Layer, Network
from buildtool.targets.micro.planning import Plan, plan
from buildtool.targets.micro.processors import Processor
from tests.bench.micro import programs

_FLAGS = (*emulated.OPTIMISATION, "-w")


@dataclass(frozen=True)
class Figures:
    """What a run of a network says."""

    output: bytes
    instructions: int
    code: int
    weights: int
    ram: int
    stack: int


def inputs_of(network: Network) -> dict[str, Array]:
    random = np.random.default_rng(3)
    return {tensor.name: random.integers(-128, 128, tensor.shape).astype(np.int8) for tensor in network.inputs}


def expected(network: Network, inputs: Mapping[str, Array]) -> bytes:
    return b"".join(np.ascontiguousarray(each).tobytes() for each in reference.evaluate(network, inputs).values())


def run(
    network: Network,
    processor: Processor,
    place: Path,
    data: bytes,
    memory: Plan | None = None,
    own: Set[Layer] = frozenset(),
) -> Figures:
    folder = place / "lathe"
    folder.mkdir(parents=True, exist_ok=True)
    memory = memory or plan(network, processor.sets[0])
    sources = files.kernels([network], processor)
    name = model.identifier(network.name)
    sources[f"{name}.h"] = model.header(network, memory).encode()
    sources[f"{name}.c"] = model.source(network, memory, processor.sets[0], own).encode()
    parts = model.own_sources(network, memory, processor.sets[0], own)
    sources |= {file: text.encode() for file, text in parts.items()}
    sources["harness.c"] = emulated.harness(network, memory)
    for old in folder.glob("*_layer*"):
        old.unlink()
    for file, content in sources.items():
        (folder / file).write_bytes(content)
    for old in folder.glob("*.o"):
        old.unlink()
    flags = [*_FLAGS, f"-I{folder}", f"-I{programs.EMULATOR}"]
    units = [folder / file for file in sources if file.endswith(".c")] + programs.board_sources(processor)
    objects = programs.compile_all([(unit, flags) for unit in units], processor, folder)
    program = folder / "program.elf"
    programs.link(objects, processor, program)
    ran = programs.run(program, processor, data)
    flash, ram = programs.sizes(program)
    layers = dict.fromkeys(network.origin(layer) for layer in network.layers)
    weights = sum(report.constant_bytes(layer, processor.sets[0]) for layer in layers)
    return Figures(ran.output, ran.instructions, flash - weights, weights, ram, ran.stack)
