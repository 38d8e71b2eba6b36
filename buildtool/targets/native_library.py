"""What targets with libraries share: lowering graphs to kernels and a memory plan, emitting sources of libraries."""

from __future__ import annotations

import io
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from buildtool import resources
from buildtool.codegen import container, library, shared_weights
from buildtool.codegen.library import AbiSources, DspSources, EmbeddedModel, LibrarySources
from buildtool.codegen.names import obscure
from buildtool.codegen.native_sources import NativeSources
from buildtool.codegen.source_tree import SourceTree
from buildtool.codegen.vision import VISION_ISAS, VisionSources
from buildtool.errors import Problem, UnsupportedError, Where
from buildtool.ir.graph import Graph, Node, Value
from buildtool.ir.types import DType
from buildtool.ops._activation import ACTIVATIONS
from buildtool.plan import algorithms, arena, check, manifest, scaled, select, units
from buildtool.plan.manifest import KernelInfo, Manifests
from buildtool.plan.packing import INPUT
from buildtool.plan.plan import Plan
from buildtool.plan.select import Choice
from buildtool.plan.units import UnitInfo
from buildtool.targets import precision
from buildtool.targets.processors import of_compiler
from buildtool.targets.protocol import (
    Capabilities,
    DeviceData,
    LibrarySource,
    ModelSource,
    PlannedModel,
    TargetProgram,
)

#: The operator whose region a device runs.
DEVICE_REGION = "device_region"
_NO_DATA = DeviceData()


@dataclass(frozen=True)
class NativeTarget:
    """Libraries around the native core."""

    name: str
    capabilities: Capabilities

    def knowing(self, own: Mapping[str, tuple[Path, Collection[str]]]) -> NativeTarget:
        """This target with ABIs of the user's own: of each its toolchain file, and what the compiler defines."""
        abis = {abi: replace(of_compiler(defined), toolchain=file) for abi, (file, defined) in own.items()}
        return replace(self, capabilities=replace(self.capabilities, abis={**self.capabilities.abis, **abis}))

    def lower(self, library: LibrarySource, abi: str) -> TargetProgram:
        """Choose kernels and plan memory for every model; the missing kernels of all models are reported together."""
        if library.isas:
            known = {**self.capabilities.abis, abi: self.capabilities.abis[abi].only(library.isas)}
            limited = replace(self, capabilities=replace(self.capabilities, abis=known))
            return replace(limited.lower(replace(library, isas=()), abi), library=library)
        manifests = manifest.load(library.op_paths)
        kept: dict[str, KernelInfo] = {}
        planned: list[PlannedModel] = []
        notes: list[Problem] = []
        problems: list[Problem] = []
        device: dict[str, UnitInfo] = {}
        for model in library.models:
            try:
                lowered, choices = self._lower_model(model, manifests, library, abi)
            except UnsupportedError as error:
                problems.extend(error.problems)
                continue
            planned.append(lowered)
            notes += precision.notes(lowered, self.capabilities.abis[abi])
            notes += _stored_notes(lowered)
            kept.update((kernel.name, kernel) for choice in choices for kernel in choice.kernels)
            device.update((unit.name, unit) for unit in self.device_units(lowered.source))
        if problems:
            raise UnsupportedError(problems)
        isas = self.capabilities.abis[abi].isas
        if library.all_ops:
            kept |= {kernel.name: kernel for kernel in manifests if kernel.isa in isas}
        order = tuple(sorted(kept.values(), key=lambda kernel: manifest.registry_order(kernel, isas)))
        return TargetProgram(
            self.name,
            abi,
            library,
            tuple(planned),
            order,
            tuple(notes),
            units.in_order(device.values()),
            object_format=self.capabilities.abis[abi].object_format,
        )

    def placed(
        self, model: ModelSource, graph: Graph, manifests: Manifests, library: LibrarySource
    ) -> tuple[Graph, Mapping[str, Any]]:
        """The graph with the parts that a device runs, and plain data that say why it is so."""
        return graph, {}

    def device_units(self, model: ModelSource) -> Collection[UnitInfo]:
        """The units of native/opencl that its parts for a device may need."""
        return ()

    def _fixed(self, graph: Graph) -> frozenset[Node]:
        """Nodes of parts for a device: constants stay as they are for them."""
        return frozenset(
            inner
            for node in graph.nodes
            if node.op.name == DEVICE_REGION
            for region in node.regions
            for inner in region.walk()
        )

    def _lower_model(
        self, model: ModelSource, manifests: Manifests, library: LibrarySource, abi: str
    ) -> tuple[PlannedModel, tuple[Choice, ...]]:
        known = self.capabilities.abis[abi]
        graph, kept = precision.lowered(model, manifests, self.capabilities, known)
        graph, placement = self.placed(model, graph, manifests, library)
        every_abi = self._for_every_abi(model, manifests, library)
        model = replace(model, graph=graph)
        fixed = self._fixed(graph)
        algorithms_of = _algorithms(model, abi, known.convolution_costs)
        choices = select.select(
            model.graph,
            manifests,
            abi=abi,
            isas=known.isas,
            baseline=known.baseline_of(model),
            algorithms={node: algorithm for node, algorithm in algorithms_of.items() if node not in fixed},
            unpacked=fixed,
            stored=_stored_types(model),
            model=model.name,
        )
        names = obscure(model.graph) if model.obscured and model.everywhere is None else {}  # errors name the source's
        memory = arena.plan(model.graph, choices)
        packings = tuple(choice.packing for choice in choices)
        plan = Plan(
            abi,
            tuple(choice.names for choice in choices),
            memory.placements,
            memory.size,
            packings if any(packings) else (),
        )
        check.check(model.graph, plan, choices)
        return PlannedModel(model, plan, memory.lower_bound, kept, names, every_abi, placement), choices

    def _for_every_abi(self, model: ModelSource, manifests: Manifests, library: LibrarySource) -> ModelSource | None:
        """What portable kernels alone decide, where instruction sets have a say in the graph of an ABI."""
        graph = precision.lowered_for_every_abi(model, manifests, self.capabilities)
        if graph is None:
            return None
        graph, _ = self.placed(model, graph, manifests, library)
        if model.obscured:
            obscure(graph)
        return replace(model, graph=graph)

    def emit(self, programs: Sequence[TargetProgram]) -> SourceTree:
        """One tree for all ABIs of a library."""
        source = programs[0].library
        parts = [
            AbiSources(
                abi=program.abi,
                kernels=tuple(kernel.name for kernel in program.kernels),
                kernel_files=tuple(kernel.source for kernel in program.kernels),
                models=_embedded(program),
                toolchain=self.capabilities.abis[program.abi].toolchain,
                object_format=program.object_format,
                vision=self._vision(source, program.abi),
                activations=_activations(program),
                copied_sizes=_copied_sizes(program),
                reads_stored=any(kernel.reads_stored for kernel in program.kernels),
                scaled=source.all_ops or any(_has_scaled(model) for model in program.models),
                device_units=program.device_units,
                device_tuned=source.device_data.get(program.abi, _NO_DATA).tuned,
                device_programs=source.device_data.get(program.abi, _NO_DATA).programs,
            )
            for program in programs
        ]
        embedded = tuple(model.name for model in source.models) if source.graph_in_library else ()
        whole = LibrarySources(
            name=source.name,
            identifier=source.identifier,
            abis=tuple(parts),
            embedded_models=embedded,
            messages=source.messages,
            core_binding=source.core_binding,
            interfaces=source.interfaces,
            stem=source.stem,
            dsp=_dsp_sources(programs),
        )
        return library.emit(whole, native_sources(source))

    def _vision(self, source: LibrarySource, abi: str) -> VisionSources | None:
        """What an ABI holds of native/vision."""
        if not source.vision.functions:
            return None
        able = self.capabilities.abis[abi]
        if able.object_format != "elf":
            what = f"image functions are not built for {abi}"
            raise UnsupportedError(what, remedy="leave out 'preprocess' and 'vision' for this ABI")
        able = able.only(source.isas) if source.isas else able
        isas = tuple(isa for isa in able.isas if isa in VISION_ISAS)
        inputs = {image.input for image in source.vision.images}
        values = [value for model in source.models for value in model.graph.inputs if value.name in inputs]
        if missing := inputs - {value.name for value in values}:
            raise UnsupportedError(f"no model has an input called {', '.join(sorted(missing))}, which has 'preprocess'")
        types = {value.type.dtype for value in values}
        return VisionSources(source.vision, isas, isas[0] in able.baseline, frozenset(types))


def _dsp_sources(programs: Sequence[TargetProgram]) -> DspSources | None:
    """The program on the DSP, which is the same whatever ABI the library has."""
    program = next((program.dsp for program in programs if program.dsp is not None), None)
    if program is None:
        return None
    names, files = (tuple(getattr(kernel, key) for kernel in program.kernels) for key in ("name", "source"))
    return DspSources(program.versions, names, files)


def _algorithms(model: ModelSource, abi: str, costs: algorithms.Costs) -> Mapping[Node, str]:
    if model.everywhere is not None:
        return algorithms.everywhere(model.graph, model.everywhere, costs)
    tiles = model.winograd
    if tiles is not None and model.stored.large_weights in scaled.COARSE:
        tiles = min(tiles, 2)  # the sums of larger tiles multiply the rounding of so few bits
    chosen = algorithms.choose(model.graph, tiles, costs, measured=model.measured.get(abi))
    if tiles is not None:
        return chosen
    # Scaled numbers are for small files. Winograd's filters, up to four times as many, have to be asked for.
    few = _scaled(model)
    return {node: algorithm for node, algorithm in chosen.items() if few.keys().isdisjoint(node.inputs)}


def _scaled(model: ModelSource) -> Mapping[Value, scaled.Weights]:
    return scaled.chosen(model.graph, model.stored.large_weights)


def _has_scaled(model: PlannedModel) -> bool:
    """Whether its file contains scaled numbers."""
    if _scaled(model.source):
        return True
    if model.source.stored.half is not DType.F16:
        return False
    nodes = zip(model.source.graph.walk(), model.plan.packings, strict=False)
    return any(packing and scaled.beyond_halves(node.inputs[INPUT], packing) for node, packing in nodes)


def _stored_types(model: ModelSource) -> Mapping[Value, DType]:
    """The types in which the file has f32 constants, where they are others."""
    half = model.stored.half
    found = {value: half for value in model.graph.values() if value.constant is not None} if half is not None else {}
    return found | {value: weights.form.storage for value, weights in _scaled(model).items()}


def _stored_notes(model: PlannedModel) -> list[Problem]:
    source = model.source
    if not source.stored.large_weights or not (names := scaled.not_finite(source.graph)):
        return []
    what = f"weights that keep their data_type, because they contain NaN or infinity: {', '.join(names)}"
    return [Problem(what, Where(model=source.name), rule="integers with a scale represent finite values only")]


def _activations(program: TargetProgram) -> tuple[str, ...] | None:
    """Those that nodes of its models have, in all forms: kernels of other operators read attributes of any name.
    All of them where the library is for models that it does not know."""
    if not program.models or program.library.all_ops:
        return None
    values = (value for node in _nodes(program) for value in node.op.attributes().values())
    found = {value for value in values if isinstance(value, str)}
    return tuple(kind for kind in ACTIVATIONS if kind == "none" or kind in found)


def _copied_sizes(program: TargetProgram) -> frozenset[int] | None:
    """Bytes of the elements that kernels of any type move. None, all, where models or kernels are not known here."""
    if not program.models or program.library.all_ops or program.library.op_paths:
        return None
    movers = {kernel.op for kernel in program.kernels if kernel.dtype == "any"}
    return frozenset(
        value.type.dtype.itemsize for node in _nodes(program) if node.op.name in movers for value in node.inputs[:1]
    )


def _nodes(program: TargetProgram) -> Iterator[Node]:
    """Those of all its models, as they are planned and as every ABI can run them."""
    models = {id(graph): graph for model in program.models for graph in (model.source.graph, model.portable.graph)}
    return (node for graph in models.values() for node in graph.walk())


def native_sources(source: LibrarySource) -> NativeSources:
    """Where the native sources of a library are: Lathe's own, and those of the user's operators."""
    return NativeSources((resources.root(), *source.op_paths))


def _embedded(program: TargetProgram) -> tuple[EmbeddedModel, ...]:
    """The models in their planned form, where the library holds them."""
    source = program.library
    if not source.graph_in_library:
        return ()
    files = [write_container(model) for model in program.models]
    if source.data_in_library:
        files = list(shared_weights.shared(files))
    pairs = zip(program.models, files, strict=True)
    return tuple(
        EmbeddedModel(model.source.name, held.model, held.data if source.data_in_library else b"")
        for model, held in pairs
    )


def write_container(model: PlannedModel, planned: bool = True) -> container.Container:
    """The container of a model: with its plan, or in the portable form that every runtime can plan for itself."""
    data = io.BytesIO()  # gives its bytes away without a copy
    return container.Container(write_container_to(data, model, planned), data.getvalue())


def write_container_to(data: IO[bytes], model: PlannedModel, planned: bool = True) -> bytes:
    """The same with the weights written to a file."""
    source = model.source if planned else model.portable
    return container.write_to(
        data,
        source.graph,
        name=source.name,
        stored=source.stored,
        plan=model.plan if planned else None,
        input_formats=source.input_formats,
        output_formats=source.output_formats,
    )
