"""Lowers graphs to kernels and a memory plan, and emits the sources of the library."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from buildtool import resources
from buildtool.codegen import container, library
from buildtool.codegen.library import AbiSources, EmbeddedModel, LibrarySources
from buildtool.codegen.names import obscure
from buildtool.codegen.native_sources import NativeSources
from buildtool.codegen.source_tree import SourceTree
from buildtool.errors import Problem, UnsupportedError, Where
from buildtool.ir.graph import Graph, Node
from buildtool.passes import pipeline
from buildtool.passes.compute_in_half import Kept
from buildtool.plan import algorithms, arena, check, halves, manifest, select
from buildtool.plan.manifest import KernelInfo, Manifests
from buildtool.plan.plan import Plan
from buildtool.plan.select import Choice
from buildtool.targets.cpu.capabilities import CPU, of_compiler
from buildtool.targets.protocol import (
    AbiCapabilities,
    Capabilities,
    LibrarySource,
    ModelSource,
    PlannedModel,
    TargetProgram,
)

_NO_ABI = AbiCapabilities(isas=("portable",), baseline=("portable",))


@dataclass(frozen=True)
class CpuTarget:
    """The target of `runtime: cpu`."""

    name: str = "cpu"
    capabilities: Capabilities = CPU

    def knowing(self, own: Mapping[str, tuple[Path, Collection[str]]]) -> CpuTarget:
        """This target with ABIs of the user's own: of each its toolchain file, and what the compiler defines."""
        abis = {abi: replace(of_compiler(defined), toolchain=file) for abi, (file, defined) in own.items()}
        return replace(self, capabilities=replace(self.capabilities, abis={**self.capabilities.abis, **abis}))

    def lower(self, library: LibrarySource, abi: str) -> TargetProgram:
        """Choose kernels and plan memory for every model; the missing kernels of all models are reported together."""
        manifests = manifest.load(library.op_paths)
        kept: dict[str, KernelInfo] = {}
        planned: list[PlannedModel] = []
        notes: list[Problem] = []
        problems: list[Problem] = []
        for model in library.models:
            try:
                lowered, choices = self._lower_model(model, manifests, abi)
            except UnsupportedError as error:
                problems.extend(error.problems)
                continue
            planned.append(lowered)
            notes += _notes(lowered, self.capabilities.abis[abi])
            kept.update((kernel.name, kernel) for choice in choices for kernel in choice.kernels)
        if problems:
            raise UnsupportedError(problems)
        isas = self.capabilities.abis[abi].isas
        order = tuple(sorted(kept.values(), key=lambda kernel: manifest.registry_order(kernel, isas)))
        return TargetProgram(self.name, abi, library, tuple(planned), order, tuple(notes))

    def _lower_model(
        self, model: ModelSource, manifests: Manifests, abi: str
    ) -> tuple[PlannedModel, tuple[Choice, ...]]:
        known = self.capabilities.abis[abi]
        graph, kept = _lowered(model, manifests, self.capabilities, known)
        every_abi = self._for_every_abi(model, manifests)
        model = replace(model, graph=graph)
        choices = select.select(
            model.graph,
            manifests,
            abi=abi,
            isas=known.isas,
            baseline=known.baseline_of(model),
            algorithms=_algorithms(model, abi, known.costs),
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
        return PlannedModel(model, plan, memory.lower_bound, kept, names, every_abi), choices

    def _for_every_abi(self, model: ModelSource, manifests: Manifests) -> ModelSource | None:
        """What portable kernels alone decide, where instruction sets have a say in the graph of an ABI."""
        if not model.half_arithmetic:
            return None
        graph, _ = _lowered(model, manifests, self.capabilities, _NO_ABI)
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
            mace_headers=source.mace_headers,
            stem=source.stem,
        )
        return library.emit(whole, native_sources(source))


def _lowered(
    model: ModelSource, manifests: Manifests, target: Capabilities, abi: AbiCapabilities
) -> tuple[Graph, tuple[Kept, ...]]:
    """The graph for an ABI, and those nodes that are not computed in half precision although that was asked for."""
    if not model.half_arithmetic:
        return pipeline.lower(model.graph, target.passes, model.passes), ()
    baseline = abi.baseline_of(model)

    def objection(single: Node, half: Node) -> str:
        return halves.objection(single, half, manifests, isas=abi.isas, baseline=baseline)

    graph = model.graph.clone()
    kept = pipeline.in_half(graph, objection)
    wanted = [
        kind.name
        for kind in pipeline.LOWERING
        if kind.name in target.passes and all(halves.has_kernel(op, manifests, abi.half) for op in kind.makes)
    ]
    return pipeline.lower(graph, wanted, model.passes), kept


def _notes(model: PlannedModel, abi: AbiCapabilities) -> Iterator[Problem]:
    """What is to be said of half precision."""
    if not model.source.half_arithmetic:
        return
    where = Where(model=model.source.name)
    if not abi.half:
        yield Problem(
            f"nothing computes in half precision on {model.plan.abi}: it is slow there",
            where,
            rule="portable kernels compute in single precision, and round to half",
            remedy="for speed use data_type fp16_fp32",
        )
    if model.kept:
        operators = Counter(node.op for node in model.kept)
        listed = ", ".join(f"{count} {op}" for op, count in sorted(operators.items()))
        what = f"nodes that stay in single precision on {model.plan.abi}: {listed}"
        yield Problem(what, where, rule="report/build.json says why, under `single_precision`")


def _algorithms(model: ModelSource, abi: str, costs: algorithms.Costs) -> Mapping[Node, str]:
    if model.everywhere is not None:
        return algorithms.everywhere(model.graph, model.everywhere)
    return algorithms.choose(model.graph, model.winograd, costs, measured=model.measured.get(abi))


def native_sources(source: LibrarySource) -> NativeSources:
    """Where the native sources of a library are: Lathe's own, and those of the user's operators."""
    return NativeSources((resources.root(), *source.op_paths))


def _embedded(program: TargetProgram) -> tuple[EmbeddedModel, ...]:
    """The models in their planned form, where the library holds them."""
    source = program.library
    if not source.graph_in_library:
        return ()
    models = []
    for model in program.models:
        files = write_container(model)
        models.append(EmbeddedModel(model.source.name, files.model, files.data if source.data_in_library else b""))
    return tuple(models)


def write_container(model: PlannedModel, planned: bool = True) -> container.Container:
    """The container of a model: with its plan, or in the portable form that every runtime can plan for itself."""
    source = model.source if planned else model.portable
    return container.write(
        source.graph,
        name=source.name,
        half=source.half,
        plan=model.plan if planned else None,
        input_formats=source.input_formats,
        output_formats=source.output_formats,
    )
