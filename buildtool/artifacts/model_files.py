"""The files of `model/`: containers, their text form, and a page for each graph."""

from __future__ import annotations

from collections.abc import Sequence

from buildtool.artifacts.fingerprints import version
from buildtool.codegen import container
from buildtool.reports.graph_page import Stages
from buildtool.targets.protocol import ModelSource, PlannedModel, TargetProgram


def model_files(stages: Sequence[Stages], programs: Sequence[TargetProgram]) -> dict[str, bytes]:
    """The files of `model/`: portable, as text and as a page to look at; planned per ABI, as far as the library does
    not hold them itself. `stages`: what the models were before.
    """
    files: dict[str, bytes] = {}
    for before, model in zip(stages, programs[0].models, strict=True):
        name = model.source.name
        portable = _container(model, planned=False)
        files[f"{name}.pb"], files[f"{name}.data"] = portable.model, portable.data
        files[f"{name}.pb_txt"] = container.describe(portable.model).encode()
        files[f"{name}_index.html"] = _graph_page(before, model.source)
    for program in programs:
        for model in program.models:
            own = planned(model)
            if not program.library.graph_in_library:
                files[f"{program.abi}/{model.source.name}.pb"] = own.model
            if not program.library.data_in_library:
                files[f"{program.abi}/{model.source.name}.data"] = own.data
            if "paddle" in program.library.interfaces and not program.library.data_in_library:
                files[f"{program.abi}/{model.source.name}.whole.pb"] = container.in_one_file(own)
    return files


def _graph_page(stages: Stages, source: ModelSource) -> bytes:
    if source.obscured:
        stages = Stages()
    stages.graph("As built", source.graph, "What the library computes.")
    return stages.page(source.name, version())


def graph_pages(stages: Sequence[Stages], sources: Sequence[ModelSource]) -> dict[str, bytes]:
    """Of firmware: what `model_files` has for people to look at."""
    pairs = zip(stages, sources, strict=True)
    return {f"model/{source.name}_index.html": _graph_page(before, source) for before, source in pairs}


def planned(model: PlannedModel) -> container.Container:
    """The graph and the weights of a model as its ABI takes them."""
    return _container(model, planned=True)


def _container(model: PlannedModel, *, planned: bool) -> container.Container:
    source = model.source if planned else model.portable
    return container.write(
        source.graph,
        name=source.name,
        stored=source.stored,
        plan=model.plan if planned else None,
        input_formats=source.input_formats,
        output_formats=source.output_formats,
    )
