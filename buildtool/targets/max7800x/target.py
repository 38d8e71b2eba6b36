"""Makes programs in C of graphs and of descriptions, and images of them that run in an emulator of a Cortex-M."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from buildtool import resources
from buildtool.codegen.source_tree import Image, SourceTree
from buildtool.errors import ConfigError, LatheError, Problem, UnsupportedError, Where
from buildtool.extensions.sheets import Sheet
from buildtool.extensions.targets import DescriptionFormat
from buildtool.ir.operator import Array
from buildtool.runtimes import Runtime
from buildtool.settings import CheckpointSettings
from buildtool.targets.max7800x import inspection, settings
from buildtool.targets.max7800x.checkpoints import by_settings
from buildtool.targets.max7800x.deployment_keys import CnnSection
from buildtool.targets.max7800x.description.keys import DescriptionKeys
from buildtool.targets.max7800x.devices import DEVICES, MAX78000, Device
from buildtool.targets.max7800x.firmware import emulated, maps, memory_images, program, sources
from buildtool.targets.max7800x.firmware.program import Program
from buildtool.targets.max7800x.lowering import lower, tensors
from buildtool.targets.max7800x.lowering.lower import Lowered
from buildtool.targets.max7800x.network import Network
from buildtool.targets.max7800x.report import report_of
from buildtool.targets.max7800x.simulation import compare, evaluate, intermediates, simulated
from buildtool.targets.max7800x.simulation.estimate import estimate
from buildtool.targets.max7800x.simulation.native_simulator import Simulator
from buildtool.targets.max7800x.simulation.simulate import Trace
from buildtool.targets.protocol import (
    CrossCompiler,
    DescribedModel,
    FirmwareCapabilities,
    FirmwareModel,
    FirmwareProgram,
    LayersCompared,
    LibrarySource,
    ModelSource,
    QuantizedCheckpoint,
    Score,
    SimulatorSource,
)

_SEED = 78000  # of samples that nobody gives


@dataclass(frozen=True)
class Made:
    """The program of one model."""

    name: str
    program: Program
    model: FirmwareModel
    sample: NDArray[np.int64]
    beside: Mapping[str, bytes] = dataclasses.field(default_factory=dict)  # files of its project that are not compiled
    lowered: Lowered | None = None  # where it was a graph


@dataclass(frozen=True)
class CnnProgram(FirmwareProgram):
    """With the programs, in the order of the models."""

    made: tuple[Made, ...] = ()


@dataclass(frozen=True)
class Max7800xTarget:
    """The target of `runtime: cnn`."""

    name: str = "max7800x"
    makes_firmware: Literal[True] = True
    capabilities: FirmwareCapabilities = dataclasses.field(
        default_factory=lambda: FirmwareCapabilities(
            runtimes=(Runtime.CNN,),
            abis={
                name: CrossCompiler(
                    "arm-none-eabi-",
                    ("gcc-arm-none-eabi", "libnewlib-arm-none-eabi"),
                    emulated.MACHINE,
                    f"Analog Devices {device.part}",
                )
                for name, device in DEVICES.items()
            },
            descriptions=(
                DescriptionFormat("ai8x", "cnn", MAX78000.name, key="layers", section="cnn", keys=DescriptionKeys),
            ),
            sections={"cnn": CnnSection},
        )
    )

    def lower(self, library: LibrarySource, abi: str) -> CnnProgram:
        """A program for each model; errors about all models are reported at once."""
        device = DEVICES[abi]
        jobs: list[Callable[[list[Problem]], Made]] = []
        jobs += [_job(_of_graph, model, device) for model in library.models]
        jobs += [_job(_of_description, model, device) for model in library.described]
        made: list[Made] = []
        notes: list[Problem] = []
        errors: list[LatheError] = []
        for job in jobs:
            try:
                made.append(job(notes))
            except (ConfigError, UnsupportedError) as error:
                errors.append(error)
        if errors:
            raise type(errors[0])([problem for error in errors for problem in error.problems])
        reports = tuple(one.model for one in made)
        return CnnProgram(self.name, abi, library, reports, tuple(notes), tuple(made))

    def emit(self, programs: Sequence[FirmwareProgram]) -> SourceTree:
        """A project for the manufacturer's SDK of each model, and an image of each for an emulator."""
        files = emulated.files()
        images: dict[str, tuple[Image, ...]] = {}
        for of_abi in programs:
            assert isinstance(of_abi, CnnProgram)
            device = DEVICES[of_abi.abi]
            found: list[Image] = []
            for made in of_abi.made:
                folder = f"lib/{of_abi.abi}/{made.name}"
                project = sources.emit(made.program)
                files |= {f"{folder}/{name}": data for name, data in {**project, **made.beside}.items()}
                found += emulated.images(made.name, folder, project, device)
            images[of_abi.abi] = tuple(found)
        return SourceTree(programs[0].library.name, files, images=images)

    def simulate(self, program: FirmwareProgram, model: str, inputs: Mapping[str, Array]) -> Mapping[str, Array]:
        """What the simulator makes of inputs, or of the sample of a description."""
        made = _named(program, model)
        trace = _trace(made, inputs)
        return simulated.of_description(trace) if made.lowered is None else simulated.of_graph(made.lowered, trace)

    def intermediates(self, program: FirmwareProgram, model: str, inputs: Mapping[str, Array]) -> Mapping[str, bytes]:
        """What the simulator makes in every layer, as text."""
        return intermediates.texts(_trace(_named(program, model), inputs))

    def compare(
        self, program: FirmwareProgram, model: str, inputs: Mapping[str, Array], folder: Path
    ) -> LayersCompared:
        """The simulator's layers with those of files, or its outputs with words that were read from a chip."""
        trace = _trace(_named(program, model), inputs)
        if folder.is_file():
            found = compare.with_words(trace, intermediates.read_words(folder))
        else:
            found = compare.with_outputs(trace, intermediates.read(folder))
        return LayersCompared(found.same, str(found))

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
        """By the simulator in C."""
        made = _named(program, model)
        network = made.program.network
        samples = [
            given[simulated.INPUT_NAME]
            if made.lowered is None
            else made.lowered.input.stored(given[made.lowered.input.name])
            for given in inputs
        ]
        found = evaluate.evaluate(Simulator(network, simulator), samples, labels, top=top, workers=threads)
        confusion = tuple(tuple(row) for row in found.confusion.tolist())
        return Score(found.share, found.wrong, confusion, found.seconds)

    def estimate(self, program: FirmwareProgram, model: str) -> Mapping[str, Any]:
        """Cycles, and what follows from them."""
        return estimate(_named(program, model).program.network).as_json()

    @property
    def simulator(self) -> SimulatorSource:
        folder = resources.native_dir() / "max7800x"
        return SimulatorSource("max7800x_simulator", (folder / "simulator.c", folder / "simulator.h"))

    @property
    def kinds(self) -> Mapping[str, tuple[str, ...]]:
        return {self.description_kind: ()}

    @property
    def description_kind(self) -> str:
        return "description"

    def inspect(self, kind: str, file: Path) -> dict[str, Any]:
        """What a description says, for the smaller of the chips that it is possible on."""
        return inspection.of_file(file)

    def describe(self, model: DescribedModel, abi: str) -> tuple[dict[str, Any], list[Problem]]:
        """What a description says of a chip."""
        return inspection.document(model, abi)

    def show(self, document: Mapping[str, Any], *, verbose: bool) -> Sequence[str | Sheet]:
        """It for people."""
        return inspection.parts(document)

    def quantize_checkpoint(self, file: Path, settings: CheckpointSettings) -> QuantizedCheckpoint:
        """As ai8x-training's tools do it."""
        return by_settings.quantize_checkpoint(file, settings)


def _named(program: FirmwareProgram, model: str) -> Made:
    assert isinstance(program, CnnProgram)
    return next(made for made in program.made if made.name == model)


def _trace(made: Made, inputs: Mapping[str, Array]) -> Trace:
    if made.lowered is None:
        return simulated.trace_of_description(made.program.network, made.sample, inputs)
    return simulated.trace_of_graph(made.lowered, inputs)


def _job(make: Callable[..., Made], model: Any, device: Device) -> Callable[[list[Problem]], Made]:
    return lambda notes: make(model, device, notes)


def _of_graph(model: ModelSource, device: Device, notes: list[Problem]) -> Made:
    most = model.settings.get("weight_bits", 8)
    seen = tuple(model.sample.values()) if model.sample_is_real else ()
    lowered = lower.lower(model.graph, device, lower.Settings(most_bits=most, samples=seen), model.name)
    notes += _fewer_bits(model.name, lowered, most, seen=bool(seen))
    chosen = settings.of(model.settings, Where(model=model.name))
    if "softmax" not in model.settings:
        chosen = dataclasses.replace(chosen, program=tensors.with_softmax(chosen.program, lowered))
    given = model.sample.get(lowered.input.name)
    network = lowered.network
    if "avg_pool_rounding" in model.settings:
        network = dataclasses.replace(network, average_rounds=chosen.description.average_rounds)
    network = settings.with_hints(network, chosen.hints)
    sample = _random(network) if given is None else lowered.input.stored(given)
    made = _made(model.name, network, sample, chosen)
    told = dataclasses.replace(made.model, details={**made.model.details, **tensors.details(lowered)})
    lowered = dataclasses.replace(lowered, network=network)
    return dataclasses.replace(made, model=told, beside={**made.beside, **tensors.files(lowered)}, lowered=lowered)


def _fewer_bits(name: str, lowered: Lowered, most: int, *, seen: bool) -> list[Problem]:
    """What the user should know of layers whose weights lost bits."""
    fewer = [f"{layer} has {bits}" for layer, bits in lowered.bits.items() if bits < most]
    if not fewer:
        return []
    judge = "the input of validation_inputs_data" if seen else "the weights"
    more = "" if seen else "; name an input in validation_inputs_data, and layers are judged by their results for it"
    return [
        Problem(
            f"to fit the kernel memory, these weights have fewer than {most} bits: {', '.join(fewer)}",
            Where(model=name),
            rule=f"the kernel memory of the {lowered.network.device.part} is too small for all of them; {judge} told "
            "which lose least",
            remedy=f"make the model narrower, or measure the loss of accuracy: `lathe validate --accuracy`{more}",
        )
    ]


def _of_description(model: DescribedModel, device: Device, notes: list[Problem]) -> Made:
    chosen = settings.of(model.settings, model.where)
    described = settings.described(model, chosen, device)
    notes += described.notes
    network = described.network
    sample = described.sample
    if sample is None:
        sample = _random(network)
        notes.append(
            Problem(
                "there is no sample: the program starts with random values",
                model.where,
                remedy="name a .npy file in `validation_inputs_data`, or with --sample-input",
            )
        )
    return _made(model.name, network, sample, chosen)


def _made(name: str, network: Network, sample: NDArray[np.int64], chosen: settings.Settings) -> Made:
    made = program.make(network, sample, chosen.program)
    beside = {f"maps/{file}": data for file, data in maps.emit(made).items()}
    if chosen.program.memory_images:
        beside |= {f"memories/{file}": data for file, data in memory_images.emit(made).items()}
    return Made(name, made, report_of(name, made), made.sample, beside)


def _random(network: Network) -> NDArray[np.int64]:
    shape = (network.input_channels, *network.input_size)
    return np.random.default_rng(_SEED).integers(-128, 128, shape, np.int64)
