"""Makes C of quantised models, static libraries, projects, and programs for emulated boards."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from buildtool.codegen.source_tree import Archive, Image, Limited, SourceTree
from buildtool.errors import Problem, UnsupportedError, Where
from buildtool.ir.operator import Array
from buildtool.ir.types import DType
from buildtool.runtimes import Runtime
from buildtool.targets.micro import budget, flash, report, room
from buildtool.targets.micro.budget import Search
from buildtool.targets.micro.emitting import emulated, files, mace, model
from buildtool.targets.micro.emitting.projects import project
from buildtool.targets.micro.frontends import Audio, Picture, frontend
from buildtool.targets.micro.frontends import sources as frontend_sources
from buildtool.targets.micro.lowering.lower import lower
from buildtool.targets.micro.network import Layer, Network
from buildtool.targets.micro.planning import Plan
from buildtool.targets.micro.processors import PROCESSORS, Processor
from buildtool.targets.protocol import (
    CrossCompiler,
    Emulated,
    Emulation,
    FirmwareCapabilities,
    FirmwareProgram,
    LibrarySource,
    ModelSource,
)

_ARM_PACKAGES = ("gcc-arm-none-eabi", "libnewlib-arm-none-eabi")
_HOST_PACKAGES = ("gcc", "libc6-dev")
_RISCV_PACKAGES = ("gcc-riscv64-unknown-elf", "picolibc-riscv64-unknown-elf")


@dataclass(frozen=True)
class Planned:
    """A network with its memory."""

    network: Network
    plan: Plan
    search: Search
    constant_bytes: int
    frontend: Audio | Picture | None = None
    code: flash.Choice | None = None

    @property
    def own(self) -> frozenset[Layer]:
        """Layers with code of their own."""
        return frozenset() if self.code is None else self.code.own

    @property
    def identifier(self) -> str:
        return model.identifier(self.network.name)

    @property
    def need(self) -> room.Need:
        """What its program for an emulated board takes."""
        return room.need(self.plan, self.constant_bytes)


@dataclass(frozen=True)
class MicroProgram(FirmwareProgram):
    """With the networks, in the order of the models."""

    planned: tuple[Planned, ...] = ()


@dataclass(frozen=True)
class MicroTarget:
    """The target of microcontrollers."""

    name: str = "micro"
    makes_firmware: Literal[True] = True
    capabilities: FirmwareCapabilities = dataclasses.field(
        default_factory=lambda: FirmwareCapabilities(
            runtimes=(Runtime.CPU,),
            abis={each.name: _compiler(each) for each in PROCESSORS.values()},
            keeps_stored=True,
        )
    )

    def lower(self, library: LibrarySource, abi: str) -> MicroProgram:
        """A network of each model with its memory; errors about all models are reported at once."""
        processor = PROCESSORS[abi]
        planned: list[Planned] = []
        problems: list[Problem] = []
        for source in library.models:
            try:
                network = lower(source.graph, source.name, halves=source.stored.half is DType.BF16)
                planned.append(_planned(network, processor, source))
            except UnsupportedError as error:
                problems += error.problems
        if problems:
            raise UnsupportedError(problems)
        reports = tuple(report.of_model(each.network, each.search, processor) for each in planned)
        notes = tuple(
            Problem(
                f"the backend '{source.settings['backend']}' of the mapping `micro` is ignored",
                Where(model=source.name),
                rule=f"the target decides: {processor.name} uses the kernels '{processor.sets[0]}' of Lathe",
            )
            for source in library.models
            if source.settings.get("backend", "portable") != "portable"
        )
        notes += tuple(_as_c(source.name) for source in library.models if processor.is_host)
        notes += tuple(_in_single(source.name, processor) for source in library.models if source.half_arithmetic)
        notes += tuple(_price(each) for each in planned if each.network.banding.origins)
        notes += tuple(_own_code(each.network.name, each.code) for each in planned if each.code and each.own)
        notes += tuple(
            room.note(each.network.name, processor, each.need)
            for each in planned
            if not room.is_enough(processor, each.need)
        )
        return MicroProgram(self.name, abi, library, reports, notes, tuple(planned))

    def emit(self, programs: Sequence[FirmwareProgram]) -> SourceTree:
        """Sources, projects and static libraries, and a program of each model for an emulated board."""
        tree = emulated.files()
        images: dict[str, tuple[Image, ...]] = {}
        archives: dict[str, tuple[Archive, ...]] = {}
        for program in programs:
            assert isinstance(program, MicroProgram)
            processor, library = PROCESSORS[program.abi], program.library
            folder = f"lib/{program.abi}/{library.name}"
            sources = _sources(program, processor)
            tree |= {f"{folder}/src/{name}": data for name, data in sources.items()}
            tree |= {f"{folder}/{name}": data for name, data in project(library.name, sources, processor).items()}
            own = [(each.network, each.plan) for each in program.planned]
            tree |= {f"{folder}/mace/{name}": data for name, data in mace.headers(own).items()}
            units = tuple(f"{folder}/src/{name}" for name in sorted(sources) if name.endswith(".c"))
            if processor.board is None:
                continue
            flags = emulated.compile_flags((f"{folder}/src",), processor)
            archives[program.abi] = (Archive(library.stem, units, flags, tuple(_limits(program))),)
            found: list[Image] = []
            for each in program.planned:
                if not room.is_enough(processor, each.need):
                    continue
                place = f"emulated/{program.abi}/{each.identifier}/harness.c"
                tree[place] = emulated.harness(each.network, each.plan)
                found.append(emulated.image(each.network.name, (*units, place), (f"{folder}/src",), processor))
            images[program.abi] = tuple(found)
        return SourceTree(programs[0].library.name, tree, images=images, archives=archives)

    def emulation(self, program: FirmwareProgram, name: str, inputs: Mapping[str, Array]) -> Emulation:
        """How a model is run on its emulated board."""
        planned = _named(program, name)
        network, processor = planned.network, PROCESSORS[program.abi]
        if processor.board is None:
            raise UnsupportedError(
                f"nothing is executed for {processor.name}",
                rule="this target gets sources and projects; neither a compiler nor an emulator is used",
                remedy="validate the same kernels on another processor: --abi cortex-m3",
            )
        if not room.is_enough(processor, planned.need):
            raise room.refused(name, processor, planned.need)
        data = b"".join(
            np.ascontiguousarray(inputs[tensor.name].reshape(tensor.shape), tensor.dtype).tobytes()
            for tensor in network.inputs
        )
        return Emulation(
            f"{name}_emulated",
            processor.board.emulator,
            processor.board.machine,
            processor.board.device,
            emulated.PACKAGES[processor.board.emulator],
            {"input.bin": data},
            ("output.bin", "time.bin") if processor.is_host else ("output.bin",),
        )

    def emulated(self, program: FirmwareProgram, name: str, made: Mapping[str, bytes]) -> Emulated:
        """The outputs of a run, and the stack that the model used."""
        planned = _named(program, name)
        data = made["output.bin"]
        outputs, start = {}, 4
        for tensor in planned.network.outputs:
            part = np.frombuffer(data[start : start + tensor.bytes], tensor.dtype)
            outputs[tensor.name] = part.reshape(tensor.shape)
            start += tensor.bytes
        took = int.from_bytes(made["time.bin"], sys.byteorder) if "time.bin" in made else None
        return Emulated(outputs, int.from_bytes(data[:4], sys.byteorder), planned.plan.size, took)


def _in_single(model_: str, processor: Processor) -> Problem:
    return Problem(
        f"the model is stored and computed in single precision on the {processor.title}",
        Where(model=model_),
        rule="kernels of microcontrollers have no half precision: `data_type: fp16_fp16` has no effect",
        remedy="bf16_fp32 stores the constants in 16 bits",
    )


def _as_c(model_: str) -> Problem:
    return Problem(
        "host: the C for microcontrollers, compiled for this machine",
        Where(model=model_),
        rule="`host` means it where a microcontroller is built for, too, or a model has the mapping `micro`",
        remedy="for a CPU library, remove both",
    )


def _price(planned: Planned) -> Problem:
    """What the limit of RAM costs."""
    found, plain = planned.search.found, planned.search.plain
    assert found is not None
    more = (found.instructions - plain.instructions) / plain.instructions
    places = "; ".join(
        f"'{each.first.split(';')[0]}' to '{each.last.split(';')[0]}' in {each.bands} bands of {each.rows}"
        for each in found.stretches
    )
    return Problem(
        f"layers are computed in bands of rows: {places}",
        Where(model=planned.network.name),
        rule=f"{found.plan.size:,} bytes of RAM instead of {plain.plan.size:,}, for {more:+.1%} of the instructions "
        "(estimated; lathe bench counts them)",
    )


def _own_code(name: str, choice: flash.Choice) -> Problem:
    """What the limit of flash is used for."""
    return Problem(
        f"{len(choice.own)} layers have code of their own, compiled for their constants",
        Where(model=name),
        rule=f"about {choice.bytes:,} bytes of flash instead of {choice.smallest:,}, for {choice.saved:,} instructions "
        "less (estimated; lathe bench counts them)",
    )


def _compiler(processor: Processor) -> CrossCompiler:
    if processor.board is None:
        return CrossCompiler("", (), (), processor.title)
    packages = _HOST_PACKAGES if processor.is_host else _ARM_PACKAGES if processor.is_arm else _RISCV_PACKAGES
    return CrossCompiler(processor.prefix, packages, processor.flags, processor.title)


def _planned(network: Network, processor: Processor, source: ModelSource) -> Planned:
    """Within the limit of RAM, if there is one."""
    limit = source.settings.get("arena_limit")
    found = budget.search(network, processor.sets[0], None if limit is None else int(limit))
    if found.found is None:
        assert limit is not None
        raise UnsupportedError(
            f"the model needs {found.smallest:,} bytes of RAM on the {processor.title}, more than {int(limit):,}",
            where=Where(model=source.name),
            rule="`arena_limit` limits the memory of tensors and work buffers; the stack is not part of it",
            remedy=f"the smallest possible limit is {found.smallest}; the largest layer is "
            f"'{max(found.plain.plan.timeline, key=lambda step: step[1])[0]}'",
        )
    about = source.settings.get("frontend")
    made = None if about is None else frontend(about, network.inputs[0], source.name)
    constants = report.of_model(network, found, processor).data_bytes
    return Planned(
        found.found.network,
        found.found.plan,
        found,
        constants,
        made,
        _code(found.found.network, processor, constants, source),
    )


def _code(network: Network, processor: Processor, constants: int, source: ModelSource) -> flash.Choice | None:
    """Within the limit of flash, if there is one."""
    limit = source.settings.get("flash_limit")
    if limit is None:
        return None
    choice = flash.choose(network, processor, constants, int(limit))
    if choice is None:
        smallest = flash.smallest(network, processor, constants)
        raise UnsupportedError(
            f"the model needs about {smallest:,} bytes of flash on the {processor.title}, more than {int(limit):,}",
            where=Where(model=source.name),
            rule="`flash_limit` limits constants, kernels and the code that calls them; sizes of code are estimates",
            remedy=f"the smallest possible limit is {smallest}, {constants} of it for constants",
        )
    return choice


def _sources(program: MicroProgram, processor: Processor) -> dict[str, bytes]:
    found = files.kernels([each.network for each in program.planned], processor)
    for each in program.planned:
        found[f"{each.identifier}.h"] = model.header(each.network, each.plan).encode()
        found[f"{each.identifier}.c"] = model.source(each.network, each.plan, processor.sets[0], each.own).encode()
        own = model.own_sources(each.network, each.plan, processor.sets[0], each.own)
        found |= {name: text.encode() for name, text in own.items()}
        if each.frontend is not None:
            found |= frontend_sources(each.frontend, each.identifier, f"{each.identifier}.h")
    return found


def _limits(program: MicroProgram) -> Iterator[Limited]:
    """Models with a limit of flash, and the functions that applications call."""
    by_name = {source.name: source.settings.get("flash_limit") for source in program.library.models}
    for each in program.planned:
        limit = by_name.get(each.network.name)
        if limit is not None:
            names = ("invoke", "reset") if each.network.states else ("invoke",)
            functions = tuple(f"{each.identifier}_{name}" for name in names)
            yield Limited(each.network.name, functions, int(limit), bool(each.own))


def _named(program: FirmwareProgram, name: str) -> Planned:
    assert isinstance(program, MicroProgram)
    return next(each for each in program.planned if each.network.name == name)
