"""Lowers graphs to kmodels, and emits what runs them: on any RISC-V machine, and on the chip by its SDK."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from buildtool import resources
from buildtool.codegen import kpu
from buildtool.codegen.names import obscure
from buildtool.codegen.source_tree import Image, SourceTree
from buildtool.errors import Problem, UnsupportedError, Where
from buildtool.extensions.sheets import Sheet
from buildtool.ir.graph import Value
from buildtool.ir.operator import Array
from buildtool.runtimes import Runtime
from buildtool.targets.k210 import boxes, flash, inspection
from buildtool.targets.k210.boxes import Regions
from buildtool.targets.k210.deployment_keys import KpuSection
from buildtool.targets.k210.generation import estimate, generate
from buildtool.targets.k210.generation.generate import Generated, Port
from buildtool.targets.k210.generation.on_kpu import Settings
from buildtool.targets.k210.simulation import intermediates
from buildtool.targets.k210.simulation.simulator import simulate
from buildtool.targets.protocol import (
    CrossCompiler,
    Figure,
    FirmwareCapabilities,
    FirmwareModel,
    FirmwareProgram,
    Flashed,
    LibrarySource,
    ModelSource,
)

ABI = "k210"
_MACHINE = ("-march=rv64imafdc", "-mabi=lp64d", "-mcmodel=medany", "--specs=picolibc.specs")
_COMPILE = (
    *_MACHINE,
    *("-std=c99", "-O3", "-ffp-contract=off", "-fno-math-errno", "-ffunction-sections", "-fdata-sections"),
    *("-DPICOLIBC_DOUBLE_PRINTF_SCANF", "-Wall", "-Inative/kpu", "-Inative/kpu/firmware"),
    *(f"-Wa,-Ilib/{ABI}", "-Wa,-Ifirmware"),
)
# The chip's memory, and what lies in it beside the model.
_MEMORY, _MEMORY_BYTES = 0x80000000, 6 << 20
_PROGRAM_BYTES, _WORK_BYTES, _STACK_BYTES = 96 << 10, 192 << 10, 16 << 10
_PAGE = 4096


@dataclass(frozen=True)
class KpuProgram(FirmwareProgram):
    """With the kmodels, in the order of the models, and an input for each."""

    made: tuple[Generated, ...] = ()
    samples: tuple[bytes, ...] = ()
    regions: tuple[Regions | None, ...] = ()  # of the first output


@dataclass(frozen=True)
class K210Target:
    """The target of `runtime: kpu`."""

    name: str = "k210"
    makes_firmware: Literal[True] = True
    capabilities: FirmwareCapabilities = dataclasses.field(
        default_factory=lambda: FirmwareCapabilities(
            runtimes=(Runtime.KPU,),
            abis={
                ABI: CrossCompiler(
                    "riscv64-unknown-elf-",
                    ("gcc-riscv64-unknown-elf", "picolibc-riscv64-unknown-elf"),
                    _MACHINE,
                    "Kendryte K210",
                )
            },
            sections={"kpu": KpuSection},
        )
    )

    def lower(self, library: LibrarySource, abi: str) -> KpuProgram:
        """A kmodel of each model; errors about all models are reported at once."""
        settings = Settings(fallback=library.fallback == "cpu")
        made: list[Generated] = []
        problems: list[Problem] = []
        for model in library.models:
            try:
                made.append(generate.generate(model.graph, settings))
            except UnsupportedError as error:
                problems += error.problems
        if problems:
            raise UnsupportedError(problems)
        regions = tuple(
            boxes.regions(model.settings, found.outputs[0].shape, model.name)
            for model, found in zip(library.models, made, strict=True)
        )
        pairs = list(zip(library.models, made, strict=True))
        for model in library.models:
            if model.obscured:
                obscure(model.graph)
        return KpuProgram(
            self.name,
            abi,
            library,
            tuple(_report(model, found) for model, found in pairs),
            tuple(note for model, found in pairs for note in _notes(model, found)),
            tuple(made),
            tuple(_sample(model, found) for model, found in pairs),
            regions,
        )

    def emit(self, programs: Sequence[FirmwareProgram]) -> SourceTree:
        """The kmodels with the interpreter's headers, a project for the SDK, and an image of each."""
        (program,) = programs
        assert isinstance(program, KpuProgram)
        source, native = program.library, resources.native_dir() / "kpu"
        interpreter = {path.name: path.read_bytes() for path in sorted(native.glob("*.[ch]"))}
        files = {f"native/kpu/{name}": data for name, data in interpreter.items()}
        files |= {f"native/kpu/firmware/{name}": _firmware(native, name) for name in ("bare.c", "image.h")}
        files |= {f"include/{name}": (native / name).read_bytes() for name in ("lathe_kpu.h", "lathe_kpu.hpp")}
        sdk = f"lib/{ABI}/sdk"
        files |= {f"{sdk}/kpu/{name}": data for name, data in interpreter.items()}
        files |= {f"{sdk}/kpu/{name}": _firmware(native, name) for name in ("kendryte.c", "image.h")}
        files[f"{sdk}/CMakeLists.txt"] = kpu.sdk_project(source.name, [model.name for model in source.models])
        images = []
        units = tuple(f"native/kpu/{name}" for name in interpreter if name.endswith(".c"))
        for model, made, sample, regions in zip(
            source.models, program.made, program.samples, program.regions, strict=True
        ):
            assembler = kpu.model_assembler(model.name, made.model.main_memory, regions)
            outputs = [_port(port) for port in made.outputs]
            files |= {
                f"lib/{ABI}/{model.name}.kmodel": made.data,
                f"include/{source.name}/{model.name}.h": kpu.model_header(
                    model.name, _port(made.input), outputs, made.model.main_memory, regions
                ),
                f"{sdk}/{model.name}.S": assembler,
                f"{sdk}/{model.name}.sample": sample,
                f"firmware/{model.name}.S": assembler,
                f"firmware/{model.name}.sample": sample,
            }
            parts = (*units, "native/kpu/firmware/bare.c", f"firmware/{model.name}.S")
            images.append(Image(model.name, parts, _COMPILE, _link_flags(made, sample)))
        return SourceTree(source.name, files, images={ABI: tuple(images)})

    def simulate(self, program: FirmwareProgram, model: str, inputs: Mapping[str, Array]) -> Mapping[str, Array]:
        """What the kmodel gives, to the last bit."""
        source, made = _named(program, model)
        found = simulate(made.model, made.input.given(_values(source, inputs)))
        return {
            value.name: port.taken(data).reshape(_shape(value))
            for value, port, data in zip(source.graph.outputs, made.outputs, found, strict=True)
        }

    def intermediates(self, program: FirmwareProgram, model: str, inputs: Mapping[str, Array]) -> Mapping[str, bytes]:
        """What each layer of the kmodel gives."""
        source, made = _named(program, model)
        return intermediates.texts(made.model, made.input.given(_values(source, inputs)))

    def estimate(self, program: FirmwareProgram, model: str) -> Mapping[str, Any]:
        """Cycles by a rule of thumb."""
        return estimate.document(_named(program, model)[1].model)

    def flash(
        self, program: FirmwareProgram, images: Mapping[str, bytes], own: bytes | None
    ) -> tuple[Mapping[str, bytes], Sequence[Flashed]]:
        """A package for flashing tools and the same byte by byte, with all models behind one program."""
        assert isinstance(program, KpuProgram)
        library = program.library
        models = {model.name: made.data for model, made in zip(library.models, program.made, strict=True)}
        chosen = images[library.models[0].name] if own is None else own
        found = flash.parts(f"{library.name}.program", chosen, models)
        files = {f"{library.name}.kfpkg": flash.package(found), f"{library.name}.flash.bin": flash.contents(found)}
        return files, [Flashed(part.name, part.address, len(part.written)) for part in found]

    @property
    def kinds(self) -> Mapping[str, tuple[str, ...]]:
        return {"kmodel": (".kmodel",)}

    def inspect(self, kind: str, file: Path) -> dict[str, Any]:
        """Everything that is in a kmodel."""
        return inspection.document(file)

    def show(self, document: Mapping[str, Any], *, verbose: bool) -> Sequence[str | Sheet]:
        """It for people."""
        return inspection.parts(document, verbose)


def _named(program: FirmwareProgram, model: str) -> tuple[ModelSource, Generated]:
    assert isinstance(program, KpuProgram)
    pairs = zip(program.library.models, program.made, strict=True)
    return next((source, made) for source, made in pairs if source.name == model)


def _firmware(native: Path, name: str) -> bytes:
    return (native / "firmware" / name).read_bytes()


def _sample(model: ModelSource, made: Generated) -> bytes:
    """An input as the file takes it: that of the model source, or zeros."""
    return made.input.given(_values(model, model.sample))


def _values(model: ModelSource, given: Mapping[str, Array]) -> Array:
    (value,) = model.graph.inputs
    return np.asarray(given.get(value.name, np.zeros(_shape(value), np.float32))).reshape(_shape(value))


def _shape(value: Value) -> tuple[int, ...]:
    return tuple(int(dim) for dim in value.type.shape if isinstance(dim, int))


def _port(port: Port) -> kpu.Port:
    if port.stored is None:
        return kpu.Port(port.name, port.shape, port.size)
    return kpu.Port(port.name, port.shape, port.size, f"{port.stored.scale!r}f", port.stored.zero_point)


# -- memory ------------------------------------------------------------------------------------------------------------
def _places(made: Generated, sample: bytes) -> tuple[int, int]:
    """Bytes of what is only read, and of what is written."""
    read = _PROGRAM_BYTES + len(made.data) + len(sample)
    written = _WORK_BYTES + made.model.main_memory + made.input.size + _STACK_BYTES
    return -(-read // _PAGE) * _PAGE, -(-written // _PAGE) * _PAGE


def _link_flags(made: Generated, sample: bytes) -> tuple[str, ...]:
    """Everything one behind the other; the KPU's RAM, which software replaces, where the chip has it."""
    read, written = _places(made, sample)
    symbols = {
        "__flash": _MEMORY,
        "__flash_size": read,
        "__ram": _MEMORY + read,
        "__ram_size": written,
        "__stack_size": _STACK_BYTES,
        "lathe_kpu_ram": _MEMORY + max(_MEMORY_BYTES, read + written),
    }
    places = (f"-Wl,--defsym={name}={value:#x}" for name, value in symbols.items())
    return ("--crt0=semihost", "--oslib=semihost", "-Wl,--gc-sections", "-Wl,--build-id=none", *places, "-lm")


# -- what is told ------------------------------------------------------------------------------------------------------
def _notes(model: ModelSource, made: Generated) -> list[Problem]:
    needed = len(made.data) + made.model.main_memory
    if needed + _PROGRAM_BYTES <= _MEMORY_BYTES:
        return []
    return [
        Problem(
            f"the kmodel and its main memory take {needed} bytes",
            Where(model=model.name),
            rule=f"the chip has {_MEMORY_BYTES}, for the program, too; emulators have more",
            remedy="use a narrower model, or a smaller input",
        )
    ]


def _report(model: ModelSource, made: Generated) -> FirmwareModel:
    told = made.report
    kinds: dict[str, int] = {}
    for layer in made.model.layers:
        kinds[layer.TYPE.name.lower()] = kinds.get(layer.TYPE.name.lower(), 0) + 1
    worst = max((layer.error for layer in told.layers), default=0.0)
    figures = (
        Figure("kpu_share", "MACs on the KPU", told.kpu_share, "share"),
        Figure("activation_error", "activations off by at most", worst, "steps"),
        Figure("kmodel_bytes", "kmodel", told.file_bytes, "bytes"),
        Figure("kpu_ram_bytes", "KPU RAM", told.ram_bytes, "bytes"),
        Figure("main_memory_bytes", "main memory", told.main_bytes, "bytes"),
    )
    return FirmwareModel(
        model.name,
        told.all_macs,
        told.weight_bytes,
        dict(sorted(kinds.items())),
        figures,
        {
            "input": _told(made.input),
            "outputs": [_told(port) for port in made.outputs],
            "layers": [
                {
                    "name": str(number) if model.obscured else layer.name,
                    "in": list(layer.shape.in_shape),
                    "out": list(layer.shape.out_shape),
                    "kernel": layer.shape.kernel,
                    "depthwise": layer.shape.depthwise,
                    "activation": layer.activation,
                    "activation_error": layer.error,
                    "scale_per_channel": layer.per_channel,
                    "layers": layer.parts,
                }
                for number, layer in enumerate(told.layers)
            ],
        },
    )


def _told(port: Port) -> dict[str, Any]:
    stored = {} if port.stored is None else {"scale": port.stored.scale, "zero_point": port.stored.zero_point}
    return {"name": port.name, "shape": list(port.shape), "bytes": port.size, **stored}
