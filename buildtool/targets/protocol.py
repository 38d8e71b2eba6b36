"""What a target is: capabilities as data, and two steps from optimised graphs to sources.

There are two kinds: a `LibraryTarget` makes libraries around the native core, a `FirmwareTarget` programs for chips.
A firmware target gives `FirmwareCapabilities`; `lower` makes of a library a `FirmwareProgram`, or a subclass of it that
holds more; `emit` makes the tree: what lies under `include/` and `lib/<abi>/` reaches users as it is, everything else
is there to be compiled; its `images` (codegen.source_tree.Image) become `lib/<abi>/<name>.elf` and `.bin`. Nothing else
has to know of the target: the entry points `lathe.targets` of its package name it, and deployment files may hold the
words of its capabilities.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

from pydantic import BaseModel

from buildtool.codegen.container_writer import Stored
from buildtool.codegen.source_tree import SourceTree
from buildtool.errors import Problem, Where
from buildtool.extensions.sheets import Sheet
from buildtool.extensions.targets import DescriptionFormat
from buildtool.ir.graph import Graph
from buildtool.ir.operator import Array
from buildtool.passes.compute_in_half import Kept
from buildtool.passes.real_borders import Borders
from buildtool.plan.algorithms import Costs, Times
from buildtool.plan.manifest import KernelInfo
from buildtool.plan.plan import Plan
from buildtool.plan.units import UnitInfo
from buildtool.quant.choice import Choice
from buildtool.runtimes import INSTRUCTION_SETS, Runtime
from buildtool.settings import CheckpointSettings
from buildtool.vision import Vision

#: How a library is stored: shared objects and archives of Linux and Android, a module for JavaScript, or archives of
#: Apple's systems.
ObjectFormat: TypeAlias = Literal["elf", "wasm", "macho"]


@dataclass(frozen=True)
class DeviceSettings:
    """What a deployment says of a GPU."""

    runtime: Runtime = Runtime.CPU  # GPU: all that it can run; CPU_GPU: what pays
    memory: str = "image"  # or buffer
    arithmetic: str = "f32"  # or f16, where the device can
    opencl_queue_window_size: int = 0  # the most commands in its queue; 0: any number
    kernel_microseconds: int = 0  # longer kernels are cut; 0: none are


@dataclass(frozen=True)
class HexagonSettings:
    """What a deployment says of programs on Qualcomm's DSP."""

    versions: tuple[str, ...] = ("v66",)  # of the DSP: one program for each
    unsigned: bool = True  # they run without a signature
    power: str = "default"  # of HEXAGON_POWERS


@dataclass(frozen=True)
class ModelSource:
    """One optimised model of a library, as the stages before the targets leave it."""

    name: str  # of its files and at run time
    graph: Graph
    stored: Stored = field(default_factory=Stored)  # how f32 constants are stored
    half_arithmetic: bool = False  # fp16_fp16: what can be is computed in f16
    quantised: bool = False  # what has a range and kernels for it is stored in a few bits
    choice: Choice = field(default_factory=Choice)  # with `quantised`: what is stored as far as the user says so
    winograd: int | None = None  # the largest tile that may be used; None: what pays
    measured: Mapping[str, Times] = field(default_factory=dict)  # by ABI: what the algorithms of nodes took
    everywhere: str | None = None  # this algorithm wherever it can be used: to measure it
    passes: tuple[str, ...] | None = None  # graph_optimize_options; None: all
    obscured: bool = False  # the names of nodes and inner values are replaced
    input_formats: tuple[str, ...] = ()  # as declared, for the user's eyes
    output_formats: tuple[str, ...] = ()
    sample: Mapping[str, Array] = field(default_factory=dict)  # an input, by name, for firmware to begin with
    sample_is_real: bool = False  # whether it is data that the user named, and no random numbers
    borders: Borders = field(default_factory=Borders)  # of firmware: inputs and outputs that the model stores
    settings: Mapping[str, Any] = field(default_factory=dict)  # of the program around it, by the target's own words
    device: DeviceSettings = field(default_factory=DeviceSettings)


@dataclass(frozen=True)
class DescribedModel:
    """A model whose files the target reads itself: they say more than a graph, such as where a layer's memory is."""

    name: str  # as in ModelSource
    platform: str  # that of a DescriptionFormat
    file: Path
    weights: Path | None = None
    inputs: tuple[Path, ...] = ()  # a sample, where the deployment names one
    outputs: tuple[Path, ...] = ()  # what should come out of it
    where: Where = field(default_factory=Where)  # of the name in the deployment file
    settings: Mapping[str, Any] = field(default_factory=dict)  # as in ModelSource


@dataclass(frozen=True)
class DeviceData:
    """What GPUs have found out before a library is built: files that native/opencl reads."""

    tuned: bytes = b""
    programs: bytes = b""


@dataclass(frozen=True)
class LibrarySource:
    """Everything that decides what a library is made of, whatever the ABI."""

    name: str  # of folders and files
    identifier: str  # in C symbols: lathe_api_<identifier>
    models: tuple[ModelSource, ...]
    graph_in_library: bool = False  # model_graph_format: code
    data_in_library: bool = False  # model_data_format: code; only with `graph_in_library`
    op_paths: tuple[Path, ...] = ()  # folders with the user's own operators
    messages: bool = True  # whether the library holds the texts of its messages
    isas: tuple[str, ...] = ()  # instruction sets beside those that every machine has; empty: all of the ABI
    core_binding: bool = False  # whether it can bind threads to cores
    all_ops: bool = False  # whether it has the kernels of all operators, for models that are made later
    vision: Vision = field(default_factory=Vision)  # what it does with images
    interfaces: tuple[str, ...] = ()  # C++ interfaces of other engines that come along: mace, paddle
    file_name: str = ""  # of its libraries, lib<file_name>.so and .a; empty: as `name`
    described: tuple[DescribedModel, ...] = ()  # for firmware, beside `models`
    fallback: str = ""  # where what an accelerator cannot do goes: cpu; empty: it is an error
    device_data: Mapping[str, DeviceData] = field(default_factory=dict)  # by ABI; goes into the library
    hexagon: HexagonSettings = field(default_factory=HexagonSettings)

    @property
    def stem(self) -> str:
        """What stands between `lib` and the suffix in the names of its libraries."""
        return self.file_name or self.name


@dataclass(frozen=True)
class AbiCapabilities:
    """What one ABI of a target can run."""

    isas: tuple[str, ...]  # words of kernel names, the best first; "portable" is always the last
    baseline: tuple[str, ...]  # those that every machine of the ABI runs
    machine: str = ""  # `uname -m` of machines that run it without an emulator; empty: any (host)
    half: str = ""  # of `isas`, the one that computes in half precision; empty where none does
    costs: Costs = field(default_factory=Costs)  # what decides where Winograd's convolutions pay
    dot_products: tuple[str, ...] = ()  # of `isas`, those beside which no Winograd convolution of bytes pays
    byte_transforms: str = ""  # of `isas`, the only one with Winograd convolutions of bytes; empty: all have them
    toolchain: Path | None = None  # a CMake toolchain file of the user's own, where it is none of Lathe's
    title: str = ""  # what it is, for people
    object_format: ObjectFormat = "elf"  # of its libraries

    def only(self, isas: Collection[str]) -> AbiCapabilities:
        """Without the optional instruction sets that are not named."""
        kept = tuple(
            word for word in self.isas if word in isas or word in self.baseline or word not in INSTRUCTION_SETS
        )
        return replace(self, isas=kept, half=self.half if self.half in kept else "")

    @property
    def convolution_costs(self) -> Costs:
        """`costs`, without those of bytes where none of the instruction sets gains by transforming them."""
        pays = set(self.dot_products).isdisjoint(self.isas) and self.byte_transforms in ("", *self.isas)
        return self.costs if pays else replace(self.costs, bytes=None)

    def baseline_of(self, model: ModelSource) -> tuple[str, ...]:
        """The instruction sets that every machine has which the model is built for."""
        if not model.half_arithmetic or not self.half:
            return self.baseline
        return tuple(word for word in self.isas if word in (self.half, *self.baseline))


@dataclass(frozen=True)
class Capabilities:
    """What a target can do, as data: kernel selection and checks read it, nobody asks for the target's name."""

    runtimes: tuple[str, ...]  # what its models may ask for: words of the deployment key `runtime`
    abis: Mapping[str, AbiCapabilities]
    passes: tuple[str, ...] = ()  # those of the end of the pipeline that pay here


@dataclass(frozen=True)
class PlannedModel:
    """A model with its plan for one ABI."""

    source: ModelSource
    plan: Plan
    lower_bound: int  # bytes that are live at once: no arena can be smaller
    kept: tuple[Kept, ...] = ()  # where less was asked for: nodes that are computed in single precision
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # of obscured names: what each stands for
    every_abi: ModelSource | None = None  # what the portable form is made of, where `source` is good for this ABI alone
    placement: Mapping[str, Any] = field(default_factory=dict)  # which nodes a device runs and why: plain data

    @property
    def portable(self) -> ModelSource:
        """The model as every ABI can run it, whatever ABIs a library is built for."""
        return self.every_abi or self.source


@dataclass(frozen=True)
class DspProgram:
    """What runs on Qualcomm's DSP for a library: the runtime with these kernels, once for each version of the DSP."""

    versions: tuple[str, ...]
    kernels: tuple[KernelInfo, ...]  # in the order of the registry


@dataclass(frozen=True)
class TargetProgram:
    """A library lowered for one ABI: plans, and exactly the kernels that they use."""

    target: str
    abi: str
    library: LibrarySource
    models: tuple[PlannedModel, ...]
    kernels: tuple[KernelInfo, ...]  # in the order of the registry: by operator, best first
    notes: tuple[Problem, ...] = ()  # what the user should know although nothing is wrong
    device_units: tuple[UnitInfo, ...] = ()  # of native/opencl, in the order of the registry
    dsp: DspProgram | None = None  # where a DSP runs parts of its models
    object_format: ObjectFormat = "elf"


@dataclass(frozen=True)
class CrossCompiler:
    """The GNU tools that build for a bare chip."""

    prefix: str  # of their names, such as riscv64-unknown-elf-; empty: those of this machine
    packages: tuple[str, ...]  # of Debian, that hold them and the C library; none: users get sources only
    check: tuple[str, ...] = ()  # flags with which the C library is found
    title: str = ""  # the chip, for people

    @property
    def sources_only(self) -> bool:
        """Whether no compiler for the chip can be had here."""
        return not self.packages


@dataclass(frozen=True)
class FirmwareCapabilities:
    """What a firmware target can do, as data."""

    runtimes: tuple[str, ...]  # what its models may ask for: words of the deployment key `runtime`
    abis: Mapping[str, CrossCompiler]
    descriptions: tuple[DescriptionFormat, ...] = ()  # files that the target reads itself
    sections: Mapping[str, type[BaseModel]] = field(default_factory=dict)  # keys of a model for `settings`, by name
    keeps_stored: bool = False  # models compute with the numbers that they store: no pass changes their arithmetic

    def reads(self, platform: str) -> bool:
        """Whether the target itself reads the models of this platform."""
        return any(each.platform == platform for each in self.descriptions)


@dataclass(frozen=True)
class Figure:
    """Something that reports tell of a model."""

    key: str  # in JSON
    words: str  # for people
    value: int | float | str
    unit: Literal["bytes", "share", "count", "steps", "text"] = "count"


@dataclass(frozen=True)
class FirmwareModel:
    """What a target made of a model, for reports."""

    name: str
    macs: int
    data_bytes: int  # what is stored of it on the chip
    operators: Mapping[str, int]  # how often each kind of layer is there
    figures: tuple[Figure, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)  # plain data, for JSON only


@dataclass(frozen=True)
class FirmwareProgram:
    """A library lowered for one chip. Targets add what their `emit` needs."""

    target: str
    abi: str
    library: LibrarySource
    models: tuple[FirmwareModel, ...]  # of `library.models`, then of `library.described`
    notes: tuple[Problem, ...] = ()


class LibraryTarget(Protocol):
    """A kind of machine with libraries. An entry point of the group `lathe.targets` names the object."""

    @property
    def name(self) -> str: ...

    @property
    def capabilities(self) -> Capabilities: ...

    def knowing(self, own: Mapping[str, tuple[Path, Collection[str]]]) -> LibraryTarget:
        """This target with ABIs of the user's own: of each its toolchain file, and what the compiler defines."""
        ...

    def lower(self, library: LibrarySource, abi: str) -> TargetProgram:
        """Choose kernels and plan memory. UnsupportedError lists every node that has no kernel."""
        ...

    def emit(self, programs: Sequence[TargetProgram]) -> SourceTree:
        """The sources of the library for all ABIs that it was lowered for. Pure: reads sources, writes nothing."""
        ...


@runtime_checkable
class FirmwareTarget(Protocol):
    """A kind of chip that runs one program. An entry point of the group `lathe.targets` names the object."""

    @property
    def name(self) -> str: ...

    @property
    def capabilities(self) -> FirmwareCapabilities: ...

    @property
    def makes_firmware(self) -> Literal[True]: ...

    def lower(self, library: LibrarySource, abi: str) -> FirmwareProgram:
        """Place every layer. UnsupportedError lists all that have no place, of all models."""
        ...

    def emit(self, programs: Sequence[FirmwareProgram]) -> SourceTree:
        """What users get, what is compiled, and which images it becomes. Pure: reads sources, writes nothing."""
        ...


@runtime_checkable
class FlashedTarget(Protocol):
    """A firmware target whose chip starts from a flash memory. `lathe package` asks for what goes there."""

    def flash(
        self, program: FirmwareProgram, images: Mapping[str, bytes], own: bytes | None
    ) -> tuple[Mapping[str, bytes], Sequence[Flashed]]:
        """Files for `lib/<abi>/`, and what they put where. `images`: those that were built, by the names of models;
        `own`: a program of the user's to take instead.
        """
        ...


@runtime_checkable
class SimulatedTarget(Protocol):
    """A firmware target whose chip this machine can simulate. `lathe run` and `lathe validate` ask for it."""

    def simulate(self, program: FirmwareProgram, model: str, inputs: Mapping[str, Array]) -> Mapping[str, Array]:
        """The outputs of a model by name. Without inputs a described model takes the sample that it comes with."""
        ...

    def intermediates(self, program: FirmwareProgram, model: str, inputs: Mapping[str, Array]) -> Mapping[str, bytes]:
        """Files for people with what every layer puts out."""
        ...

    def estimate(self, program: FirmwareProgram, model: str) -> Mapping[str, Any]:
        """How long it takes on the chip, layer by layer: plain data, which reports.cycles shows."""
        ...


@dataclass(frozen=True)
class Emulation:
    """How a model runs on an emulated board: the emulator starts in a folder with these files."""

    image: str  # of SourceTree.images
    emulator: str  # empty: this machine runs the program itself, and nothing is counted
    machine: tuple[str, ...]  # its options
    device: str  # for people
    package: str  # of Debian, with the emulator
    files: Mapping[str, bytes]
    made: tuple[str, ...]  # the files that are there afterwards


@dataclass(frozen=True)
class Emulated:
    """What a run on an emulated board gave."""

    outputs: Mapping[str, Array]
    stack_bytes: int  # that the model used
    arena_bytes: int
    nanoseconds: int | None = None  # of a run, where this machine is the board


@runtime_checkable
class EmulatedTarget(Protocol):
    """A firmware target whose images run on boards that qemu emulates, where marks in their code bound the model."""

    def emulation(self, program: FirmwareProgram, name: str, inputs: Mapping[str, Array]) -> Emulation:
        """How the model of a name is run."""
        ...

    def emulated(self, program: FirmwareProgram, name: str, made: Mapping[str, bytes]) -> Emulated:
        """What the files of a run say."""
        ...


@dataclass(frozen=True)
class LayersCompared:
    """What a comparison of layers found."""

    same: bool
    text: str  # for people; where something differs, the first place: layer, channel, pixel


@runtime_checkable
class ComparedTarget(Protocol):
    """A simulated target that compares a run with outputs of layers from a folder."""

    def compare(
        self, program: FirmwareProgram, model: str, inputs: Mapping[str, Array], folder: Path
    ) -> LayersCompared:
        """`folder`: files as `intermediates` makes them, of some layers or all; or a file of words of the memory.

        RunError where nothing can be read.
        """
        ...


@dataclass(frozen=True)
class Score:
    """How often a model was right."""

    share: float
    wrong: tuple[int, ...]  # samples
    confusion: tuple[tuple[int, ...], ...]  # [label][answer]: how many
    seconds: float


@dataclass(frozen=True)
class SimulatorSource:
    """A simulator in C, compiled for this machine on first use."""

    name: str
    files: tuple[Path, ...]  # sources, and headers beside them
    flags: tuple[str, ...] = ("-O3",)


@runtime_checkable
class ScoredTarget(Protocol):
    """A simulated target with a fast simulator, for data sets."""

    @property
    def simulator(self) -> SimulatorSource: ...

    def score(
        self,
        program: FirmwareProgram,
        model: str,
        inputs: Sequence[Mapping[str, Array]],
        labels: Sequence[int],
        simulator: Path,
        *,
        top: int,
        threads: int,
    ) -> Score:
        """Right is what has its label among the `top` largest numbers of the last output. `simulator`: the compiled
        library of the property of this name.
        """
        ...


@runtime_checkable
class InspectedTarget(Protocol):
    """A target with files of its own kinds. `lathe inspect` shows them."""

    @property
    def kinds(self) -> Mapping[str, tuple[str, ...]]:
        """The kinds, and the ends of the names of such files."""
        ...

    def inspect(self, kind: str, file: Path) -> dict[str, Any]:
        """What is in a file: plain data. LatheError where it is no such file."""
        ...

    def show(self, document: Mapping[str, Any], *, verbose: bool) -> Sequence[str | Sheet]:
        """It for people."""
        ...


@runtime_checkable
class DescribingTarget(Protocol):
    """A firmware target that reads models itself. `lathe check` asks what they are."""

    @property
    def description_kind(self) -> str:
        """What `inspect` calls a file that describes a model."""
        ...

    def describe(self, model: DescribedModel, abi: str) -> tuple[dict[str, Any], list[Problem]]:
        """A model for a chip, as data that `show` shows, and notes. ConfigError with all that is wrong with it."""
        ...


@dataclass(frozen=True)
class QuantizedCheckpoint:
    """A checkpoint of trained weights as a chip stores them."""

    data: bytes
    fused: tuple[str, ...]  # layers whose batch normalisation went into their weights
    layers: tuple[Mapping[str, Any], ...]  # plain data: name, bits, factor, output_shift, clipped, count
    left_out: tuple[str, ...]  # parts of the file that only programs need


@runtime_checkable
class CheckpointTarget(Protocol):
    """A target that takes trained weights. `lathe quantize --scheme <name of the target>` asks for it."""

    def quantize_checkpoint(self, file: Path, settings: CheckpointSettings) -> QuantizedCheckpoint:
        """Fuses and quantises as the settings say. LatheError where the file is no such checkpoint."""
        ...


@dataclass(frozen=True)
class Flashed:
    """Something in a flash memory."""

    name: str
    address: int
    bytes: int


Target: TypeAlias = LibraryTarget | FirmwareTarget
